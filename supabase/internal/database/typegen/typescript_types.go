package typegen

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tsType is a TypeScript type: a union of alternatives.
type tsType []alternative

type alternative struct {
	doc    doc
	object bool // an object in braces
	null   bool
}

var null = alternative{doc: text("null"), null: true}

func name(s string) alternative { return alternative{doc: text(s)} }

func union(alternatives ...alternative) tsType { return alternatives }

func unknown() tsType { return union(name("unknown")) }

// orNull returns the type or null. The type unknown has null in it.
func (t tsType) orNull() tsType {
	if len(t) == 1 && t[0].doc.text == "unknown" {
		return t
	}
	return append(slices.Clone(t), null)
}

func (t tsType) nullable(is bool) tsType {
	if is {
		return t.orNull()
	}
	return t
}

// array returns the type of lists.
func (t tsType) array() tsType {
	if len(t) == 1 {
		return union(alternative{doc: concat(t[0].doc, text("[]"))})
	}
	return union(alternative{doc: concat(group(text("("), indent(softLine, t.doc()), softLine, text(")")), text("[]"))})
}

// hugs reports whether the union of an object and null keeps the object's braces on the line.
func (t tsType) hugs() bool {
	objects, nulls := 0, 0
	for _, a := range t {
		if a.object {
			objects++
		}
		if a.null {
			nulls++
		}
	}
	return objects == 1 && nulls == len(t)-1
}

// doc returns the union on one line, or with an alternative on each.
func (t tsType) doc() doc {
	docs := make([]doc, len(t))
	for i, a := range t {
		docs[i] = a.doc
	}
	if len(t) == 1 || t.hugs() {
		return join(text(" | "), docs)
	}
	for i := range docs {
		docs[i] = indent(docs[i])
	}
	return concat(choice("", "| "), join(concat(line, text("| ")), docs))
}

// indented returns the type as it follows a colon or an equals sign, with the space before it.
func (t tsType) indented() doc {
	if len(t) == 1 || t.hugs() {
		return concat(text(" "), t.doc())
	}
	return group(indent(line, t.doc()))
}

// member returns a member of an object.
func member(key string, t tsType) doc { return concat(text(key+":"), t.indented()) }

// object returns an object type. Its members are on a line each if wide is set or they do not fit.
func object(wide bool, members ...doc) doc {
	if len(members) == 0 {
		return text("{}")
	}
	g := group(text("{"), indent(line, join(concat(choice(";", ""), line), members)), line, text("}"))
	g.wide = g.wide || wide
	return g
}

// values returns an object of values.
func values(members ...doc) doc {
	if len(members) == 0 {
		return text("{}")
	}
	return broken(text("{"), indent(line, join(concat(text(","), line), members)), choice("", ","), line, text("}"))
}

// list returns a list in brackets.
func list(items []doc) doc {
	if len(items) == 0 {
		return text("[]")
	}
	return group(text("["), indent(softLine, join(concat(text(","), line), items)), choice("", ","), softLine, text("]"))
}

func quoted(names []string) []doc {
	docs := make([]doc, len(names))
	for i, n := range names {
		docs[i] = text(quote(n))
	}
	return docs
}

func quoteAll(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = quote(n)
	}
	return "[" + strings.Join(all, ",") + "]"
}

func boolean(b bool) string { return strconv.FormatBool(b) }

// quote returns a string in double quotes, or in single quotes if that saves escapes.
func quote(s string) string {
	single := literal(s)
	if strings.Count(s, `"`) > strings.Count(s, "'") {
		return single
	}
	inner := strings.ReplaceAll(single[1:len(single)-1], `\'`, "'")
	return `"` + strings.ReplaceAll(inner, `"`, `\"`) + `"`
}

// identifier is a name that is a key without quotes.
var identifier = regexp.MustCompile(`^[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$]*$`)

// keyOf returns a property name, quoted if necessary.
func keyOf(s string) string {
	if identifier.MatchString(s) {
		return s
	}
	return quote(s)
}

func labels(e Type) tsType {
	var t tsType
	for _, label := range e.Enums {
		t = append(t, name(quote(label)))
	}
	return t
}

// column returns the TypeScript type of a column's values. Json has null in it.
func (t *typeScript) column(c Column, null bool) tsType {
	typ := t.byName(c.TypeSchema, c.Format)
	if !null && scalars[c.Format] == "Json" {
		return union(name("NonNullable<Json>"))
	}
	return typ.nullable(null)
}

// byID returns the TypeScript type of a type.
func (t *typeScript) byID(id int64) tsType {
	if typ := t.types[id]; typ != nil {
		return t.byName(typ.Schema, typ.Name)
	}
	return unknown()
}

// scalars are the TypeScript types of types of pg_catalog and of two extensions.
var scalars = map[string]string{
	"bool": "boolean", "int2": "number", "int4": "number", "int8": "number", "float4": "number", "float8": "number",
	"numeric": "number", "bytea": "string", "bpchar": "string", "varchar": "string", "date": "string", "text": "string",
	"citext": "string", "time": "string", "timetz": "string", "timestamp": "string", "timestamptz": "string",
	"uuid": "string", "vector": "string", "interval": "string", "json": "Json", "jsonb": "Json", "void": "undefined",
	"record": "Record<string, unknown>",
}

// byName returns the TypeScript type of a type's name. Of several types of this name, the one of
// the schema counts.
func (t *typeScript) byName(schema, typ string) tsType {
	if scalar, ok := scalars[typ]; ok {
		return union(name(scalar))
	}
	if element, ok := strings.CutPrefix(typ, "_"); ok {
		return t.byName(schema, element).array()
	}
	if e, ok := choose(t.Types, schema,
		func(x Type) (string, bool) { return x.Schema, x.Name == typ && len(x.Enums) > 0 }); ok {
		if t.has(e.Schema) {
			return reference(e.Schema, "Enums", e.Name)
		}
		return labels(e)
	}
	if c, ok := choose(t.Types, schema,
		func(x Type) (string, bool) { return x.Schema, x.Name == typ && len(x.Attributes) > 0 }); ok {
		if t.has(c.Schema) {
			return reference(c.Schema, "CompositeTypes", c.Name)
		}
		return unknown()
	}
	tables := len(t.Tables) + len(t.ForeignTables)
	all := slices.Concat(t.Tables, t.ForeignTables, t.Views, t.MaterializedViews)
	i := chooseIndex(all, schema, func(x Relation) (string, bool) { return x.Schema, x.Name == typ })
	if i < 0 || !t.has(all[i].Schema) {
		return unknown()
	}
	section := "Tables"
	if i >= tables {
		section = "Views"
	}
	return reference(all[i].Schema, section, all[i].Name, "Row")
}

// choose returns the object that matches; one of the schema goes first.
func choose[T any](all []T, schema string, match func(T) (schema string, ok bool)) (found T, ok bool) {
	if i := chooseIndex(all, schema, match); i >= 0 {
		return all[i], true
	}
	return found, false
}

// chooseIndex returns the index of the object that choose returns, or -1.
func chooseIndex[T any](all []T, schema string, match func(T) (schema string, ok bool)) int {
	first := -1
	for i, x := range all {
		own, matches := match(x)
		if matches && own == schema {
			return i
		}
		if matches && first < 0 {
			first = i
		}
	}
	return first
}

// reference returns the place of a type in Database.
func reference(path ...string) tsType {
	s := "Database"
	for _, p := range path {
		s += "[" + quote(p) + "]"
	}
	return union(name(s))
}
