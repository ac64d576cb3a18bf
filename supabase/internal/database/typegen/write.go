package typegen

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Write writes the types of the schemas in the given order.
func Write(ctx context.Context, w io.Writer, db Database, schemas ...string) error {
	c, err := read(ctx, db, schemas)
	if err != nil {
		return fmt.Errorf("types: %w", err)
	}
	out := writer{catalog: c, schemas: schemas}
	out.database()
	_, err = io.WriteString(w, out.String())
	return err
}

type writer struct {
	strings.Builder
	*catalog
	schemas []string
	depth   int
}

// line writes one line. An opening bracket at its end increases the indentation, a closing bracket
// at its start decreases it.
func (w *writer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") || strings.HasPrefix(text, "]") {
		w.depth--
	}
	w.WriteString(strings.Repeat("  ", w.depth) + text + "\n")
	if strings.HasSuffix(text, "{") || strings.HasSuffix(text, "[") {
		w.depth++
	}
}

func (w *writer) database() {
	w.line("// Written by `daawo gen types`; the database is the source.")
	w.line("")
	w.line("export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];")
	w.line("")
	w.line("export type Database = {")
	for _, schema := range w.schemas {
		w.line("%s: {", key(schema))
		w.relations(schema, "Tables", false)
		w.relations(schema, "Views", true)
		w.functions(schema)
		w.group("Enums", len(w.enumsOf(schema)), func() {
			for _, e := range w.enumsOf(schema) {
				w.line("%s: %s;", key(e.Name), union(e.Labels))
			}
		})
		composites := slices.DeleteFunc(slices.Clone(w.Composites),
			func(c composite) bool { return c.Schema != schema })
		w.group("CompositeTypes", len(composites), func() {
			for _, c := range composites {
				w.object(key(c.Name), c.Columns, row)
			}
		})
		w.line("};")
	}
	w.line("};")
}

// group writes a section of a schema. supabase-js expects an empty section to allow no keys.
func (w *writer) group(name string, n int, write func()) {
	if n == 0 {
		w.line("%s: { [_ in never]: never };", name)
		return
	}
	w.line("%s: {", name)
	write()
	w.line("};")
}

func (w *writer) enumsOf(schema string) []enum {
	return slices.DeleteFunc(slices.Clone(w.Enums), func(e enum) bool { return e.Schema != schema })
}

func (w *writer) relations(schema, title string, views bool) {
	list := slices.DeleteFunc(slices.Clone(w.Relations),
		func(r relation) bool { return r.Schema != schema || r.View != views })
	w.group(title, len(list), func() {
		for _, r := range list {
			w.line("%s: {", key(r.Name))
			w.object("Row", r.Columns, row)
			if r.Insertable {
				w.object("Insert", r.Columns, insert)
			}
			if r.Updatable {
				w.object("Update", r.Columns, update)
			}
			w.relationships(r.ForeignKey)
			w.line("};")
		}
	})
}

func (w *writer) relationships(keys []foreignKey) {
	if len(keys) == 0 {
		w.line("Relationships: [];")
		return
	}
	w.line("Relationships: [")
	for _, k := range keys {
		w.line("{")
		w.line("foreignKeyName: %s;", literal(k.Name))
		w.line("columns: %s;", tuple(k.Columns))
		w.line("isOneToOne: %t;", k.OneToOne)
		w.line("referencedRelation: %s;", literal(k.Table))
		w.line("referencedColumns: %s;", tuple(k.Foreign))
		w.line("},")
	}
	w.line("];")
}

// mode selects the form of an object: a column may be optional in an insert but required in a row.
type mode uint8

const (
	row mode = iota
	insert
	update
	argument
)

func (w *writer) object(name string, columns []column, m mode) {
	w.line("%s: {", name)
	for _, c := range columns {
		w.line("%s;", w.field(c, m))
	}
	w.line("};")
}

func (w *writer) field(c column, m mode) string {
	text := w.name(c.Type)
	if c.Nullable && text != "unknown" {
		text += " | null"
	}
	optional := ""
	if m == update || m != row && (c.Optional || c.Generated) {
		optional = "?"
	}
	if c.Generated && (m == insert || m == update) {
		text = "never"
	}
	return key(c.Name) + optional + ": " + text
}

func (w *writer) functions(schema string) {
	list := slices.DeleteFunc(slices.Clone(w.Functions), func(f function) bool { return f.Schema != schema })
	w.group("Functions", len(list), func() {
		for i := 0; i < len(list); {
			n := 1
			for i+n < len(list) && list[i+n].Name == list[i].Name {
				n++
			}
			var forms []string
			for _, f := range list[i : i+n] {
				forms = append(forms, "{ Args: "+w.args(f)+"; Returns: "+w.returns(f)+" }")
			}
			w.line("%s: %s;", key(list[i].Name), strings.Join(forms, " | "))
			i += n
		}
	})
}

func (w *writer) args(f function) string {
	if len(f.Args) == 0 {
		return "never"
	}
	return w.inline(f.Args, argument)
}

func (w *writer) returns(f function) string {
	text := w.name(f.Returns)
	if len(f.Out) > 0 { // PostgREST returns an object even for a single column
		text = w.inline(f.Out, row)
	}
	if f.SetOf {
		text += "[]"
	}
	return text
}

func (w *writer) inline(columns []column, m mode) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = w.field(c, m)
	}
	return "{ " + strings.Join(fields, "; ") + " }"
}

// name returns the TypeScript type of the JSON that the REST API sends for a Postgres type.
func (w *writer) name(t pgType) string {
	text := w.element(t)
	if t.Array {
		text += "[]"
	}
	return text
}

func (w *writer) element(t pgType) string {
	known := slices.Contains(w.schemas, t.Schema)
	switch {
	case t.Kind == "e" && known:
		return fmt.Sprintf("Database[%s]['Enums'][%s]", literal(t.Schema), literal(t.Name))
	case t.Kind == "e":
		return "string"
	case t.Table && known:
		return fmt.Sprintf("Database[%s][%s][%s]['Row']", literal(t.Schema), literal(w.place(t)), literal(t.Name))
	case t.Kind == "c" && known:
		return fmt.Sprintf("Database[%s]['CompositeTypes'][%s]", literal(t.Schema), literal(t.Name))
	}
	switch t.Name {
	case "bool":
		return "boolean"
	case "int2", "int4", "int8", "float4", "float8", "numeric":
		return "number"
	case "json", "jsonb":
		return "Json"
	case "text", "varchar", "bpchar", "char", "name", "citext", "uuid", "bytea", "date", "time", "timetz", "timestamp",
		"timestamptz", "interval":
		return "string"
	case "void":
		return "undefined"
	case "record":
		return "Record<string, unknown>"
	}
	return "unknown"
}

// place returns the section of the schema that holds a row type.
func (w *writer) place(t pgType) string {
	for _, r := range w.Relations {
		if r.Schema == t.Schema && r.Name == t.Name && r.View {
			return "Views"
		}
	}
	return "Tables"
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// key returns a property name, quoted if necessary.
func key(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return literal(name)
}

// literal returns a string in single quotes. JSON's escapes are valid in TypeScript.
func literal(s string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string to a Builder cannot fail
	double := strings.TrimSuffix(out.String(), "\n")
	return "'" + strings.ReplaceAll(strings.ReplaceAll(double[1:len(double)-1], `\"`, `"`), "'", `\'`) + "'"
}

func union(values []string) string {
	if len(values) == 0 {
		return "never"
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = literal(v)
	}
	return strings.Join(quoted, " | ")
}

func tuple(values []string) string {
	return "[" + strings.ReplaceAll(union(values), " | ", ", ") + "]"
}
