package typegen

import (
	"fmt"
	"slices"
	"strings"
)

// Swift returns the types as Swift structs, in the form of postgres-meta. access is internal,
// public, private or package.
func (m *Metadata) Swift(access string) string {
	w := swiftWriter{Metadata: m, access: access, columns: m.columnsOf()}
	w.line(0, "import Foundation")
	w.line(0, "import Supabase")
	w.line(0, "")
	for _, s := range m.Schemas {
		w.schema(s.Name)
	}
	return strings.Join(w.lines, "\n")
}

type swiftWriter struct {
	*Metadata
	access  string
	columns map[int64][]Column
	lines   []string
}

func (w *swiftWriter) line(level int, format string, args ...any) {
	w.lines = append(w.lines, strings.Repeat("  ", level)+fmt.Sprintf(format, args...))
}

func (w *swiftWriter) schema(schema string) {
	relations := func(lists ...[]Relation) []Relation {
		own := slices.DeleteFunc(slices.Concat(lists...), func(r Relation) bool { return r.Schema != schema })
		return sortedByName(own, func(r Relation) string { return r.Name })
	}
	types := slices.DeleteFunc(slices.Clone(w.Types), func(t Type) bool { return t.Schema != schema })
	w.line(0, "%s enum %sSchema {", w.access, swiftTypeName(schema))
	for _, t := range types {
		if len(t.Enums) > 0 {
			cases := make([]swiftField, len(t.Enums))
			for i, label := range t.Enums {
				cases[i] = swiftField{name: swiftName(label), raw: label}
			}
			w.enum(1, swiftTypeName(t.Name), "String, Codable, Hashable, Sendable", cases)
		}
	}
	for _, r := range relations(w.Tables, w.ForeignTables) {
		for _, o := range operations {
			w.relation(r, o)
		}
	}
	for _, r := range relations(w.Views, w.MaterializedViews) {
		w.relation(r, selecting)
	}
	for _, t := range types {
		if len(t.Attributes) == 0 {
			continue
		}
		fields := make([]swiftField, len(t.Attributes))
		for i, a := range t.Attributes {
			fields[i] = swiftField{name: swiftTypeName(a.Name), typ: w.typeName(w.typeByID(a.TypeID).Format),
				raw: a.Name}
		}
		w.structure(swiftTypeName(t.Name), fields)
	}
	w.line(0, "}")
}

// swiftField is a field of a struct, or a case of an enum.
type swiftField struct {
	name, typ, raw string
	identity       bool
}

func (w *swiftWriter) relation(r Relation, o operation) {
	var fields []swiftField
	for _, c := range w.columns[r.ID] {
		f := swiftField{name: swiftName(c.Name), typ: w.typeName(c.Format), raw: c.Name, identity: c.IsIdentity}
		if o.nullable(c) {
			f.typ += "?"
		}
		fields = append(fields, f)
	}
	w.structure(swiftTypeName(r.Name)+string(o), fields)
}

func (w *swiftWriter) structure(name string, fields []swiftField) {
	identity := slices.IndexFunc(fields, func(f swiftField) bool { return f.identity })
	protocols := "Codable, Hashable, Sendable"
	if identity >= 0 {
		protocols += ", Identifiable"
	}
	w.line(1, "%s struct %s: %s {", w.access, name, protocols)
	if identity >= 0 && fields[identity].name != "id" {
		w.line(2, "%s var id: %s { %s }", w.access, fields[identity].typ, fields[identity].name)
	}
	for _, f := range fields {
		w.line(2, "%s let %s: %s", w.access, f.name, f.typ)
	}
	if len(fields) > 0 {
		w.enum(2, "CodingKeys", "String, CodingKey", fields)
	}
	w.line(1, "}")
}

func (w *swiftWriter) enum(level int, name, protocols string, cases []swiftField) {
	w.line(level, "%s enum %s: %s {", w.access, name, protocols)
	for _, c := range cases {
		w.line(level+1, "case %s = %s", c.name, textLiteral(c.raw))
	}
	w.line(level, "}")
}

// swiftTypes are the Swift types of Postgres's.
var swiftTypes = map[string]string{
	"bool": "Bool", "int2": "Int16", "int4": "Int32", "int8": "Int64", "float4": "Float", "float8": "Double",
	"numeric": "Decimal", "decimal": "Decimal", "uuid": "UUID", "bytea": "String", "bpchar": "String",
	"varchar": "String", "date": "String", "text": "String", "citext": "String", "time": "String", "timetz": "String",
	"timestamp": "String", "timestamptz": "String", "interval": "String", "vector": "String", "json": "AnyJSON",
	"jsonb": "AnyJSON", "void": "Void", "record": "JSONObject",
}

func (w *swiftWriter) typeName(typ string) string {
	if t, ok := swiftTypes[typ]; ok {
		return t
	}
	if element, ok := strings.CutPrefix(typ, "_"); ok {
		return "[" + w.typeName(element) + "]"
	}
	named := func(t Type) bool { return t.Name == typ }
	relation := func(r Relation) bool { return r.Name == typ }
	switch {
	case slices.ContainsFunc(w.Types, func(t Type) bool { return named(t) && len(t.Enums) > 0 }):
		return swiftTypeName(typ)
	case slices.ContainsFunc(w.Types, named), slices.ContainsFunc(w.Views, relation),
		slices.ContainsFunc(w.Tables, relation):
		return swiftTypeName(typ) + "Select"
	}
	return "AnyJSON"
}

// swiftTypeName returns a name in Pascal case. It keeps an underscore at the start.
func swiftTypeName(name string) string {
	rest, underscore := strings.CutPrefix(name, "_")
	if underscore {
		return "_" + pascalCase(rest)
	}
	return pascalCase(name)
}

// swiftName returns a name in camel case, in backquotes if it is a keyword.
func swiftName(name string) string {
	words := notAlphanumeric.Split(strings.ToLower(name), -1)
	for i := range words[1:] {
		words[i+1] = capital(words[i+1])
	}
	camel := strings.Join(words, "")
	if strings.Contains(swiftKeywords, " "+camel+" ") {
		return "`" + camel + "`"
	}
	return camel
}

// swiftKeywords are the words that are no names in a declaration (The Swift Programming Language,
// "Lexical Structure"). Upstream knows in, default and case alone.
const swiftKeywords = " associatedtype class deinit enum extension fileprivate func import init inout internal let " +
	"open operator private precedencegroup protocol public rethrows static struct subscript typealias var break case " +
	"catch continue default defer do else fallthrough for guard if in repeat return switch throw where while any as " +
	"await false is nil self super throws true try "
