package typegen

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// operation is a form of a relation's row.
type operation string

const (
	selecting operation = "Select"
	inserting operation = "Insert"
	updating  operation = "Update"
)

var operations = []operation{selecting, inserting, updating}

// nullable reports whether a column may be absent or null in an operation.
func (o operation) nullable(c Column) bool {
	switch o {
	case inserting:
		return c.IsNullable || c.IsIdentity || c.IsGenerated || c.DefaultValue != nil
	case updating:
		return true
	}
	return c.IsNullable
}

// Go returns the types as Go structs, in the form of postgres-meta.
func (m *Metadata) Go() string {
	columns := m.columnsOf()
	section := func(relations []Relation, operations ...operation) string {
		var structs []string
		for _, r := range relations {
			if !m.has(r.Schema) {
				continue
			}
			for _, o := range operations {
				var fields [][3]string
				for _, c := range columns[r.ID] {
					fields = append(fields, [3]string{pascalCase(c.Name), m.goType(c.Format, o.nullable(c)), c.Name})
				}
				structs = append(structs, goStruct(pascalCase(r.Schema)+pascalCase(r.Name)+string(o), fields))
			}
		}
		return strings.Join(structs, "\n\n")
	}
	var composites []string
	for _, t := range m.Types {
		if len(t.Attributes) == 0 || !m.has(t.Schema) {
			continue
		}
		var fields [][3]string
		for _, a := range t.Attributes {
			fields = append(fields, [3]string{pascalCase(a.Name), goBuiltin(m.typeByID(a.TypeID).Format), a.Name})
		}
		composites = append(composites, goStruct(pascalCase(t.Schema)+pascalCase(t.Name), fields))
	}
	return strings.TrimSpace(strings.Join([]string{"package database", section(m.Tables, operations...),
		section(m.Views, selecting), section(m.MaterializedViews, selecting), strings.Join(composites,
			"\n\n")}, "\n\n"))
}

// typeByID returns a type; an unknown one is the zero Type.
func (m *Metadata) typeByID(id int64) Type {
	i := slices.IndexFunc(m.Types, func(t Type) bool { return t.ID == id })
	if i < 0 {
		return Type{}
	}
	return m.Types[i]
}

// goStruct returns a struct, whose fields are name, type and member of the JSON.
func goStruct(name string, fields [][3]string) string {
	var width [2]int
	for _, f := range fields {
		width[0], width[1] = max(width[0], len(f[0])), max(width[1], len(f[1]))
	}
	lines := make([]string, len(fields))
	for i, f := range fields {
		lines[i] = fmt.Sprintf("  %-*s %-*s %s", width[0], f[0], width[1], f[1], goTag(f[2]))
	}
	return "type " + name + " struct {\n" + strings.Join(lines, "\n") + "\n}"
}

// goTag returns the tag of a field with a name in JSON.
func goTag(name string) string {
	tag := "json:" + strconv.Quote(name)
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}

// goTypes are the Go types of Postgres's.
var goTypes = map[string]string{
	"bool": "bool", "int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64",
	"numeric": "float64", "bytea": "[]byte", "json": "interface{}", "jsonb": "interface{}", "void": "interface{}",
	"record": "map[string]interface{}",
}

// stringTypes are the types that programs see as text.
const stringTypes = " bpchar varchar date text citext time timetz timestamp timestamptz interval uuid vector " + rangeTypes

const rangeTypes = "int4range int4multirange int8range int8multirange numrange nummultirange tsrange tsmultirange " +
	"tstzrange tstzmultirange daterange datemultirange "

// goBuiltin returns the Go type of a type that is neither an enum nor composite.
func goBuiltin(typ string) string {
	if t, ok := goTypes[typ]; ok {
		return t
	}
	if strings.Contains(stringTypes, " "+typ+" ") {
		return "string"
	}
	if element, ok := strings.CutPrefix(typ, "_"); ok {
		return "[]" + goBuiltin(element) + " "
	}
	return "interface{}"
}

func (m *Metadata) goType(typ string, nullable bool) string {
	t := goBuiltin(typ)
	is := func(match func(Type) bool) bool {
		return slices.ContainsFunc(m.Types, func(t Type) bool { return t.Name == typ && match(t) })
	}
	switch {
	case is(func(t Type) bool { return len(t.Enums) > 0 }):
		t = "string"
	case t == "interface{}" && goTypes[typ] == "" && is(func(t Type) bool { return len(t.Attributes) > 0 }):
		return "map[string]interface{}"
	case strings.HasPrefix(typ, "_"):
		return "[]" + m.goType(typ[1:], nullable) + " "
	}
	if nullable && !strings.ContainsAny(t, "[{") {
		t = "*" + t
	}
	return t
}

var notAlphanumeric = regexp.MustCompile(`[^a-zA-Z0-9]`)

// pascalCase returns a name with a capital at the start of each word and nothing between the words.
func pascalCase(name string) string {
	var b strings.Builder
	for _, word := range notAlphanumeric.Split(name, -1) {
		b.WriteString(capital(word))
	}
	return b.String()
}

func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
