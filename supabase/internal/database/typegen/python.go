package typegen

import (
	"regexp"
	"strings"
)

// pythonHead are the imports of the Python types.
const pythonHead = `from __future__ import annotations

import datetime
import uuid
from typing import (
    Annotated,
    Any,
    List,
    Literal,
    Optional,
    TypedDict,
)
from typing_extensions import NotRequired, TypeAlias

from pydantic import BaseModel, Field, JsonValue`

// Python returns the types as Python classes of pydantic, in the form of postgres-meta.
func (m *Metadata) Python() string {
	p := python{Metadata: m, columns: m.columnsOf()}
	var enums, tables, views, matviews, composites []string
	for _, t := range m.Types {
		if len(t.Enums) > 0 {
			enums = append(enums, pythonName(t)+`: TypeAlias = Literal[`+textLiterals(t.Enums)+`]`)
		}
	}
	for _, r := range m.Tables {
		tables = append(tables, p.model(r), p.dict(r, inserting), p.dict(r, updating))
	}
	for _, r := range m.Views {
		views = append(views, p.model(r))
	}
	for _, r := range m.MaterializedViews {
		matviews = append(matviews, p.model(r))
	}
	for _, t := range m.Types {
		if len(t.Attributes) == 0 || !m.has(t.Schema) {
			continue
		}
		var fields []string
		for _, a := range t.Attributes {
			typ := m.typeByID(a.TypeID)
			fields = append(fields, pythonField(a.Name, "Optional["+p.typeName(typ.Schema, typ.Name)+"]"))
		}
		composites = append(composites, pythonClass(pythonName(t), "BaseModel", fields))
	}
	sections := []string{pythonHead}
	for _, s := range [][]string{enums, tables, views, matviews, composites} {
		sections = append(sections, strings.Join(s, "\n\n"))
	}
	return strings.TrimSpace(strings.Join(sections, "\n\n"))
}

type python struct {
	*Metadata
	columns map[int64][]Column
}

// pythonName returns the name of a type's class.
func pythonName(t Type) string { return pascalCase(t.Schema) + pascalCase(t.Name) }

// model returns the class of a row that is read.
func (p python) model(r Relation) string {
	var fields []string
	for _, c := range p.columns[r.ID] {
		fields = append(fields, pythonField(c.Name, p.columnType(c)))
	}
	return pythonClass(pascalCase(r.Schema)+pascalCase(r.Name), "BaseModel", fields)
}

// dict returns the class of a row that is written.
func (p python) dict(r Relation, o operation) string {
	var fields []string
	for _, c := range p.columns[r.ID] {
		typ := "Annotated[" + p.columnType(c) + `, Field(alias=` + textLiteral(c.Name) + `)]`
		if o == updating || c.IsNullable || c.IsIdentity || c.DefaultValue != nil {
			typ = "NotRequired[" + typ + "]"
		}
		fields = append(fields, "    "+snakeCase(c.Name)+": "+typ)
	}
	return pythonClass(pascalCase(r.Schema)+pascalCase(r.Name)+string(o), "TypedDict", fields)
}

func pythonField(name, typ string) string {
	return "    " + snakeCase(name) + ": " + typ + ` = Field(alias=` + textLiteral(name) + `)`
}

func pythonClass(name, base string, fields []string) string {
	if len(fields) == 0 {
		fields = []string{"    pass"}
	}
	return "class " + name + "(" + base + "):\n" + strings.Join(fields, "\n")
}

func (p python) columnType(c Column) string {
	typ := p.typeName(c.TypeSchema, c.Format)
	if c.IsNullable {
		return "Optional[" + typ + "]"
	}
	return typ
}

// pythonTypes are the Python types of Postgres's.
var pythonTypes = map[string]string{
	"bool": "bool", "int2": "int", "int4": "int", "int8": "int", "float4": "float", "float8": "float",
	"numeric": "float", "bytea": "bytes", "bpchar": "str", "varchar": "str", "string": "str", "text": "str",
	"citext": "str", "interval": "str", "date": "datetime.date", "time": "datetime.time", "timetz": "datetime.time",
	"timestamp": "datetime.datetime", "timestamptz": "datetime.datetime", "uuid": "uuid.UUID", "vector": "list[Any]",
	"json": "JsonValue", "jsonb": "JsonValue", "void": "None", "record": "dict[str, Any]",
}

// typeName returns the Python type of a type's name. Of several types of this name, the one of the
// schema counts.
func (p python) typeName(schema, typ string) string {
	if element, ok := strings.CutPrefix(typ, "_"); ok {
		return "List[" + p.typeName(schema, element) + "]"
	}
	if enum, ok := choose(p.Types, schema,
		func(t Type) (string, bool) { return t.Schema, t.Name == typ && len(t.Enums) > 0 }); ok {
		return pythonName(enum)
	}
	if t, ok := pythonTypes[typ]; ok {
		return t
	}
	if strings.Contains(" "+rangeTypes, " "+typ+" ") {
		return "str"
	}
	if t, ok := choose(p.Types, schema, func(t Type) (string, bool) { return t.Schema, t.Name == typ }); ok {
		return pythonName(t)
	}
	return "Any"
}

var notWord = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// snakeCase returns a name in lower case with underscores between its words.
func snakeCase(name string) string { return strings.ToLower(notWord.ReplaceAllString(name, "_")) }
