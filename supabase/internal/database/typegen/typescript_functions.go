package typegen

import (
	"cmp"
	"slices"
	"strings"
)

// functions returns the functions of a schema. Functions of one name are a union.
func (t *typeScript) functions(s *tsSchema) (members []doc) {
	for rest := s.functions; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Name == rest[0].Name {
			n++
		}
		same := slices.Clone(rest[:n])
		slices.SortStableFunc(same, func(a, b tsFunction) int {
			return cmp.Or(compareNames(a.ArgumentTypes, b.ArgumentTypes), compareNames(a.ReturnType, b.ReturnType))
		})
		var forms tsType
		for i := range same {
			forms = append(forms, alternative{doc: t.signature(s, same, i), object: true})
		}
		members = append(members, member(keyOf(rest[0].Name), forms))
		rest = rest[n:]
	}
	return members
}

// signature returns one form of a function.
func (t *typeScript) signature(s *tsSchema, same []tsFunction, i int) doc {
	f := same[i]
	args := union(name("Record<PropertyKey, never>"))
	if len(f.in) > 0 {
		var fields []doc
		for _, a := range f.in {
			key := keyOf(a.Name)
			if a.HasDefault {
				key += "?"
			}
			fields = append(fields, member(key, t.byID(a.TypeID)))
		}
		args = union(alternative{doc: object(false, fields...), object: true})
	}
	message := t.conflict(s, same, i)
	if message == "" && len(f.in) == 1 && f.in[0].Name == "" && t.isRow(f.in[0].TypeID) && t.returnedRow(f) == "" {
		message = "the function " + s.name + "." + f.Name + " with parameter or with a single unnamed json/jsonb " +
			"parameter, but no matches were found in the schema cache"
	}
	returned := t.returned(s, f)
	if message != "" {
		returned = union(alternative{doc: group(object(false, text("error: true")), text(" & "), text(quote(message)))})
	}
	if f.ReturnsSet && (f.Rows > 1 || t.returnedRow(f) == "") {
		returned = returned.array()
	}
	return object(false, append([]doc{member("Args", args), member("Returns", returned)}, t.setof(f)...)...)
}

// returnedRow returns the name of the relation or composite type whose rows a function returns, or
// "".
func (t *typeScript) returnedRow(f tsFunction) string {
	if f.ReturnRelationID == 0 {
		return ""
	}
	if relation := t.relations[f.ReturnRelationID]; relation != "" {
		return relation
	}
	if typ := t.types[f.ReturnTypeID]; typ != nil {
		return typ.Name
	}
	return ""
}

// setof returns how a function relates relations, for supabase-js.
func (t *typeScript) setof(f tsFunction) []doc {
	to := t.returnedRow(f)
	if to == "" {
		return nil
	}
	from, many := "*", f.Rows > 1
	if len(f.Args) == 1 && t.isRow(f.Args[0].TypeID) {
		from = t.types[f.Args[0].TypeID].Format
		many = many && f.ReturnsSet
	}
	return []doc{concat(text("SetofOptions: "), object(true, text("from: "+quote(from)), text("to: "+quote(to)),
		text("isOneToOne: "+boolean(!many)), text("isSetofReturn: "+boolean(f.ReturnsSet))))}
}

// returned returns the type of one row or value that a function returns.
func (t *typeScript) returned(s *tsSchema, f tsFunction) tsType {
	var fields []doc
	for _, a := range f.Args {
		if a.Mode == "table" {
			fields = append(fields, member(keyOf(a.Name), t.byID(a.TypeID)))
		}
	}
	if len(fields) == 0 && f.ReturnRelationID != 0 {
		own := func(r Relation) bool { return r.ID == f.ReturnRelationID }
		if slices.ContainsFunc(s.tables, own) || slices.ContainsFunc(s.views, own) {
			return union(alternative{doc: object(true, t.fields(f.ReturnRelationID)...), object: true})
		}
	}
	if len(fields) > 0 {
		return union(alternative{doc: object(true, fields...), object: true})
	}
	return t.byID(f.ReturnTypeID)
}

// conflict returns why PostgREST cannot choose between forms of a function, or "".
func (t *typeScript) conflict(s *tsSchema, same []tsFunction, i int) string {
	f := same[i]
	typeName := func(id int64) string {
		if typ := t.types[id]; typ != nil {
			return typ.Name
		}
		return "unknown"
	}
	var forms []string
	switch {
	case len(f.in) == 0:
		for j, other := range same {
			if j != i && len(other.in) == 1 && other.in[0].Name == "" && other.in[0].HasDefault {
				forms = []string{"()", "( => " + typeName(other.ReturnTypeID) + ")"}
				break
			}
		}
	case len(f.in) == 1 && f.in[0].Name != "":
		all := []tsFunction{f}
		for j, other := range same {
			if j != i && len(other.in) == 1 && other.in[0].Name == f.in[0].Name &&
				other.in[0].TypeID != f.in[0].TypeID {
				all = append(all, other)
			}
		}
		if len(all) == 1 {
			return ""
		}
		slices.SortStableFunc(all, func(a, b tsFunction) int { return cmp.Compare(a.in[0].TypeID, b.in[0].TypeID) })
		for _, x := range all {
			forms = append(forms, "("+x.in[0].Name+" => "+typeName(x.in[0].TypeID)+")")
		}
	}
	if len(forms) == 0 {
		return ""
	}
	for j := range forms {
		forms[j] = s.name + "." + f.Name + forms[j]
	}
	return "Could not choose the best candidate function between: " + strings.Join(forms, ", ") + ". Try renaming " +
		"the parameters or the function itself in the database so function overloading can be resolved"
}

// helperTypes returns the types Tables, TablesInsert, … with which programs name parts of Database.
func helperTypes() string {
	const whole = "DatabaseWithoutInternals"
	out := []string{`type ` + whole + ` = Omit<Database, "__InternalSupabase">`,
		`type DefaultSchema = ` + whole + `[Extract<keyof Database, "public">]`}
	for _, h := range []struct{ name, option, key, field, infer string }{
		{"Tables", "DefaultSchemaTableNameOrOptions", "TableName", "Row", "R"},
		{"TablesInsert", "DefaultSchemaTableNameOrOptions", "TableName", "Insert", "I"},
		{"TablesUpdate", "DefaultSchemaTableNameOrOptions", "TableName", "Update", "U"},
		{"Enums", "DefaultSchemaEnumNameOrOptions", "EnumName", "", ""},
		{"CompositeTypes", "PublicCompositeTypeNameOrOptions", "CompositeTypeName", "", ""},
	} {
		own := `DefaultSchema["` + h.name + `"]`
		other := whole + `[` + h.option + `["schema"]]["` + h.name + `"]`
		keysOfOwn, keysOfOther, test := own, other, own
		pick, pickOther := own, other
		switch h.name {
		case "Tables":
			views := strings.ReplaceAll(other, `"Tables"`, `"Views"`)
			keysOfOwn = `(` + own + ` & DefaultSchema["Views"])`
			keysOfOther = "(" + other + " &\n        " + views + ")"
			test = `(DefaultSchema["Tables"] &` + "\n        " + `DefaultSchema["Views"])`
			pick = `(DefaultSchema["Tables"] &` + "\n        " + `DefaultSchema["Views"])`
			pickOther = "(" + other + " &\n      " + views + ")"
		case "TablesInsert", "TablesUpdate":
			tables := func(s string) string { return strings.ReplaceAll(s, `"`+h.name+`"`, `"Tables"`) }
			keysOfOwn, keysOfOther, test = tables(own), tables(other), tables(own)
			pick, pickOther = keysOfOwn, keysOfOther
		}
		lines := []string{
			"export type " + h.name + "<",
			"  " + h.option + " extends",
			"    | keyof " + keysOfOwn,
			"    | { schema: keyof " + whole + " },",
			"  " + h.key + " extends (" + h.option + " extends {",
			"    schema: keyof " + whole,
			"  }",
			"    ? keyof " + keysOfOther,
			"    : never) = never,",
			"> = " + h.option + " extends {",
			"  schema: keyof " + whole,
			"}",
		}
		lines = append(lines, inferred("  ? "+pickOther+"["+h.key+"]", "  ", h.field, h.infer)...)
		lines = append(lines, "  : "+h.option+" extends keyof "+test)
		lines = append(lines, inferred("    ? "+pick+"["+h.option+"]", "    ", h.field, h.infer)...)
		out = append(out, strings.Join(append(lines, "    : never"), "\n"))
	}
	return strings.Join(out, "\n\n")
}

// inferred returns the lines that take a field of a type, or the type itself without a field.
func inferred(text, margin, field, infer string) []string {
	if field == "" {
		return []string{text}
	}
	return []string{text + " extends {", margin + "    " + field + ": infer " + infer, margin + "  }",
		margin + "  ? " + infer, margin + "  : never"}
}
