package sql

import (
	"bytes"

	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
)

// updatedSetting counts the rows that an upsert found existing. Postgres does not otherwise tell them from inserted ones
// in a way that works on views and partitioned tables too.
const updatedSetting = "pgrst.updated"

const bodyAlias = "pgrst_body"

// mutation writes the statement that changes the rows and returns what the reading part needs.
func (b *builder) mutation(m *plan.Mutation) {
	switch m.Action {
	case plan.Delete:
		b.put("delete from ")
		b.name(m.Table)
		b.mutationWhere(m)
	case plan.Update:
		b.update(m)
		if len(m.Columns) == 0 {
			return
		}
	default:
		b.insert(m)
	}
	b.returning(m)
}

func (b *builder) returning(m *plan.Mutation) {
	b.put(" returning ")
	if len(m.Returning) == 0 {
		b.put("1")
		return
	}
	b.list(len(m.Returning), ", ", func(i int) { b.column(m.Table, m.Returning[i]) })
}

func (b *builder) mutationWhere(m *plan.Mutation) {
	if len(m.Where) > 0 {
		b.put(" where ")
		b.where(m.Table, m.Where, nil)
	}
}

func (b *builder) insert(m *plan.Mutation) {
	b.put("insert into ")
	b.name(m.Table)
	if len(m.Columns) > 0 {
		b.put(" (")
		b.list(len(m.Columns), ", ", func(i int) { b.ident(m.Columns[i].Name) })
		b.put(")")
	}
	b.put(" select ")
	b.list(len(m.Columns), ", ", func(i int) { b.column(schema.Name{Name: bodyAlias}, m.Columns[i].Name) })
	b.put(" from ")
	b.body(m.Body, m.Columns, m.Defaults)
	if len(m.Where) > 0 { // PUT: the key in the body has to be the key in the URL
		b.put(" where ")
		b.where(schema.Name{Name: bodyAlias}, m.Where, nil)
	}
	if m.Resolution == "" || len(m.Conflict) == 0 {
		return
	}
	b.put(" on conflict (")
	b.list(len(m.Conflict), ", ", func(i int) { b.ident(m.Conflict[i]) })
	b.put(") do ")
	if m.Resolution == "ignore-duplicates" || len(m.Columns) == 0 {
		b.put("nothing")
		return
	}
	b.put("update set ")
	b.list(len(m.Columns), ", ", func(i int) {
		b.ident(m.Columns[i].Name)
		b.put(" = excluded.")
		b.ident(m.Columns[i].Name)
	})
	b.put(" where set_config('" + updatedSetting + "', (coalesce(nullif(current_setting('" + updatedSetting +
		"', true), ''), '0')::int + 1)::text, true) is not null")
}

func (b *builder) update(m *plan.Mutation) {
	if len(m.Columns) == 0 {
		// Nothing to set: no row is changed, and the reading part still finds its columns.
		b.put("select ")
		if len(m.Returning) == 0 {
			b.put("null")
		}
		b.list(len(m.Returning), ", ", func(i int) { b.column(schema.Name{Name: m.Table.Name}, m.Returning[i]) })
		b.put(" from ")
		b.name(m.Table)
		b.put(" where false")
		return
	}
	b.put("update ")
	b.name(m.Table)
	b.put(" set ")
	b.list(len(m.Columns), ", ", func(i int) {
		b.ident(m.Columns[i].Name)
		b.put(" = ")
		b.column(schema.Name{Name: bodyAlias}, m.Columns[i].Name)
	})
	b.put(" from ")
	b.body(m.Body, m.Columns, m.Defaults)
	b.mutationWhere(m)
}

// body writes the JSON body as rows named pgrst_body with the given columns, each of its column's type.
func (b *builder) body(json []byte, fields []plan.Field, defaults bool) {
	object := isObject(json)
	represented := false
	for _, f := range fields {
		represented = represented || f.Transform != ""
	}
	if represented {
		b.put("(select ")
		b.list(len(fields), ", ", func(i int) {
			f := fields[i]
			if f.Transform != "" {
				b.put(f.Transform, "(")
				b.ident(f.Name)
				b.put(") as ")
			}
			b.ident(f.Name)
		})
		b.put(" from ")
	}
	prefix := "json"
	if defaults {
		prefix = "jsonb"
	}
	switch {
	case len(fields) == 0 && object:
		b.put("(values (1))")
	case len(fields) == 0:
		b.put(prefix, "_array_elements(")
		b.param(json)
		b.put(")")
	case defaults && object:
		b.put("jsonb_to_record(")
		b.defaults(fields)
		b.put(" || ")
		b.param(json)
		b.put("::jsonb)")
	case defaults:
		b.put("jsonb_array_elements(")
		b.param(json)
		b.put("::jsonb) as pgrst_element, lateral jsonb_to_record(")
		b.defaults(fields)
		b.put(" || pgrst_element)")
	case object:
		b.put("json_to_record(")
		b.param(json)
		b.put(")")
	default:
		b.put("json_to_recordset(")
		b.param(json)
		b.put(")")
	}
	b.put(" as ", bodyAlias)
	if len(fields) > 0 {
		b.put(" (")
		b.list(len(fields), ", ", func(i int) {
			b.ident(fields[i].Name)
			b.put(" ", fields[i].Type)
		})
		b.put(")")
	}
	if represented {
		b.put(") as ", bodyAlias)
	}
}

// defaults writes an object of the columns' defaults, computed for each row.
func (b *builder) defaults(fields []plan.Field) {
	b.put("jsonb_build_object(")
	sep := ""
	for _, f := range fields {
		if f.Default != nil {
			b.put(sep)
			b.literal(f.Name)
			b.put(", ", *f.Default)
			sep = ", "
		}
	}
	b.put(")")
}

// isObject says whether JSON text is an object rather than an array. Postgres checks the text itself.
func isObject(json []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(json, " \t\r\n"), []byte("{"))
}
