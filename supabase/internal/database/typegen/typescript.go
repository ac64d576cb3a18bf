package typegen

import (
	"slices"
	"strings"
)

// TypeScriptOptions selects details of the TypeScript types.
type TypeScriptOptions struct {
	OneToOne         bool   // say which relationships are one-to-one
	PostgRESTVersion string // for createClient; "" leaves it out
}

// TypeScript returns the types in the form of postgres-meta and of `supabase gen types`.
func (m *Metadata) TypeScript(o TypeScriptOptions) string {
	t := newTypeScript(m, o)
	head := union(name("string"), name("number"), name("boolean"), null,
		alternative{doc: group(text("{ [key: string]: Json | undefined }")), object: true}, name("Json[]"))
	var members, constants []doc
	if o.PostgRESTVersion != "" {
		members = append(members, hardLines(
			"// Allows to automatically instantiate createClient with right options",
			"// instead of createClient<Database, { PostgrestVersion: 'XX' }>(URL, KEY)",
			"__InternalSupabase: {", "  PostgrestVersion: "+quote(o.PostgRESTVersion), "}"))
	}
	for _, s := range t.schemas {
		members = append(members, concat(text(keyOf(s.name)+": "), t.schema(s)))
		var enums []doc
		for _, e := range s.enums {
			var labels []doc
			for _, label := range e.Enums {
				labels = append(labels, text(quote(label)))
			}
			enums = append(enums, concat(text(keyOf(e.Name)+": "), list(labels)))
		}
		constants = append(constants, concat(text(keyOf(s.name)+": "),
			values(concat(text("Enums: "), values(enums...)))))
	}
	parts := []string{
		layout(concat(text("export type Json ="), head.indented())),
		layout(concat(text("export type Database = "), object(true, members...))),
		helperTypes(),
		layout(concat(text("export const Constants = "), values(constants...), text(" as const"))),
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// hardLines returns lines that are never joined.
func hardLines(lines ...string) doc {
	parts := make([]doc, len(lines))
	for i, s := range lines {
		parts[i] = text(s)
	}
	return broken(join(line, parts))
}

// typeScript is what the TypeScript types are written from.
type typeScript struct {
	*Metadata
	TypeScriptOptions
	schemas   []*tsSchema
	columns   map[int64][]Column
	relations map[int64]string // the names of relations
	types     map[int64]*Type
}

// tsSchema holds the objects of a schema, sorted.
type tsSchema struct {
	name          string
	tables, views []Relation
	functions     []tsFunction
	enums         []Type
	composites    []Type
}

// tsFunction is a function with its sorted parameters.
type tsFunction struct {
	Function
	in []Argument
}

func newTypeScript(m *Metadata, o TypeScriptOptions) *typeScript {
	t := &typeScript{Metadata: m, TypeScriptOptions: o, columns: m.columnsOf(), relations: map[int64]string{},
		types: map[int64]*Type{}}
	for i := range m.Types {
		t.types[m.Types[i].ID] = &m.Types[i]
	}
	for _, list := range [][]Relation{m.Tables, m.ForeignTables, m.Views, m.MaterializedViews} {
		for _, r := range list {
			t.relations[r.ID] = r.Name
		}
	}
	for _, s := range m.Schemas {
		t.schemas = append(t.schemas, t.contents(s.Name))
	}
	return t
}

// contents returns the objects of a schema.
func (t *typeScript) contents(schema string) *tsSchema {
	own := func(lists ...[]Relation) []Relation {
		all := slices.DeleteFunc(slices.Concat(lists...), func(r Relation) bool { return r.Schema != schema })
		return sortedByName(all, func(r Relation) string { return r.Name })
	}
	s := &tsSchema{name: schema, tables: own(t.Tables, t.ForeignTables), views: own(t.Views, t.MaterializedViews)}
	for _, typ := range t.Types {
		if typ.Schema != schema {
			continue
		}
		if len(typ.Enums) > 0 {
			s.enums = append(s.enums, typ)
		}
		if len(typ.Attributes) > 0 {
			s.composites = append(s.composites, typ)
		}
	}
	for _, f := range t.Functions {
		if f.Schema != schema {
			continue
		}
		tf := tsFunction{Function: f}
		tf.Args = sortedByName(f.Args, func(a Argument) string { return a.Name })
		for _, a := range tf.Args {
			if a.Mode == "in" || a.Mode == "inout" || a.Mode == "variadic" {
				tf.in = append(tf.in, a)
			}
		}
		if t.callable(tf) {
			s.functions = append(s.functions, tf)
		}
	}
	s.functions = sortedByName(s.functions, func(f tsFunction) string { return f.Name })
	return s
}

// Types of an unnamed parameter that takes a whole request body: json, jsonb and text.
var bodyTypes = []int64{114, 3802, 25}

// callable reports whether PostgREST can call a function: its parameters have names, or defaults,
// or there is one that takes the body or a row.
func (t *typeScript) callable(f tsFunction) bool {
	unnamed := func(a Argument) bool { return a.Name == "" }
	if !slices.ContainsFunc(f.in, unnamed) {
		return true
	}
	if !slices.ContainsFunc(f.in, func(a Argument) bool {
		return a.Name == "" && !(a.HasDefault && slices.Contains(bodyTypes, a.TypeID))
	}) {
		return true
	}
	return len(f.in) == 1 && (slices.Contains(bodyTypes, f.in[0].TypeID) || t.isRow(f.in[0].TypeID))
}

// isRow reports whether a type is the row type of a relation, or a composite type.
func (t *typeScript) isRow(id int64) bool { return t.types[id] != nil && t.types[id].RelationID != 0 }

// schema returns the type of a schema.
func (t *typeScript) schema(s *tsSchema) doc {
	section := func(name string, members []doc) doc {
		if len(members) == 0 {
			members = []doc{text("[_ in never]: never")}
		}
		return concat(text(name+": "), object(true, members...))
	}
	var tables, views, enums, composites []doc
	for _, r := range s.tables {
		tables = append(tables, t.table(s, r))
	}
	for _, r := range s.views {
		views = append(views, t.view(s, r))
	}
	for _, e := range s.enums {
		enums = append(enums, member(keyOf(e.Name), labels(e)))
	}
	for _, c := range s.composites {
		var fields []doc
		for _, a := range c.Attributes {
			fields = append(fields, member(keyOf(a.Name), t.byID(a.TypeID).orNull()))
		}
		composites = append(composites, concat(text(keyOf(c.Name)+": "), object(true, fields...)))
	}
	return object(true, section("Tables", tables), section("Views", views), section("Functions", t.functions(s)),
		section("Enums", enums), section("CompositeTypes", composites))
}

// row returns the fields of a row, and the functions of the row that PostgREST offers as columns.
func (t *typeScript) row(s *tsSchema, r Relation) doc {
	fields := t.fields(r.ID)
	for _, f := range s.functions {
		if len(f.in) == 1 && t.types[f.in[0].TypeID] != nil && t.types[f.in[0].TypeID].RelationID == r.ID {
			fields = append(fields, member(keyOf(f.Name), t.returned(s, f).orNull()))
		}
	}
	return concat(text("Row: "), object(true, fields...))
}

// fields returns the columns of a relation as they are read.
func (t *typeScript) fields(id int64) (fields []doc) {
	for _, c := range t.columns[id] {
		fields = append(fields, member(keyOf(c.Name), t.column(c, c.IsNullable)))
	}
	return fields
}

func (t *typeScript) table(s *tsSchema, r Relation) doc {
	var insert, update []doc
	for _, c := range t.columns[r.ID] {
		if c.IsGenerated || c.IdentityGeneration != nil && *c.IdentityGeneration == "ALWAYS" {
			never := member(keyOf(c.Name)+"?", union(name("never")))
			insert, update = append(insert, never), append(update, never)
			continue
		}
		mark := ""
		if c.IsNullable || c.IsIdentity || c.DefaultValue != nil {
			mark = "?"
		}
		typ := t.column(c, c.IsNullable)
		insert = append(insert, member(keyOf(c.Name)+mark, typ))
		update = append(update, member(keyOf(c.Name)+"?", typ))
	}
	return concat(text(keyOf(r.Name)+": "), object(true, t.row(s, r), concat(text("Insert: "), object(true, insert...)),
		concat(text("Update: "), object(true, update...)), t.relationshipsOf(r)))
}

func (t *typeScript) view(s *tsSchema, r Relation) doc {
	var fields []doc
	for _, c := range t.columns[r.ID] {
		typ := union(name("never"))
		if c.IsUpdatable || r.TakesWholeRows {
			typ = t.column(c, true)
		}
		fields = append(fields, member(keyOf(c.Name)+"?", typ))
	}
	members := []doc{t.row(s, r)}
	if r.TakesInsert {
		members = append(members, concat(text("Insert: "), object(true, fields...)))
	}
	if r.TakesUpdate {
		members = append(members, concat(text("Update: "), object(true, fields...)))
	}
	return concat(text(keyOf(r.Name)+": "), object(true, append(members, t.relationshipsOf(r))...))
}

// relationshipsOf returns the relationships of a relation to others of its schema.
func (t *typeScript) relationshipsOf(r Relation) doc {
	var own []Relationship
	for _, rel := range t.Relationships {
		if rel.Schema == r.Schema && rel.Relation == r.Name && rel.ReferencedSchema == r.Schema {
			own = append(own, rel)
		}
	}
	slices.SortStableFunc(own, func(a, b Relationship) int {
		for _, pair := range [][2]string{{a.ForeignKeyName, b.ForeignKeyName}, {a.ReferencedRelation, b.ReferencedRelation},
			{quoteAll(a.ReferencedColumns), quoteAll(b.ReferencedColumns)}} {
			if c := compareNames(pair[0], pair[1]); c != 0 {
				return c
			}
		}
		return 0
	})
	var docs []doc
	for _, rel := range own {
		members := []doc{text("foreignKeyName: " + quote(rel.ForeignKeyName)),
			concat(text("columns: "), list(quoted(rel.Columns)))}
		if t.OneToOne {
			members = append(members, text("isOneToOne: "+boolean(rel.IsOneToOne)))
		}
		docs = append(docs, object(true, append(members, text("referencedRelation: "+quote(rel.ReferencedRelation)),
			concat(text("referencedColumns: "), list(quoted(rel.ReferencedColumns))))...))
	}
	return concat(text("Relationships: "), list(docs))
}
