package sql

import (
	"bytes"

	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

// updatedSetting is a setting that counts the rows that an upsert updates. Postgres has no other
// way to tell them from inserted rows that also works on views and partitioned tables.
const updatedSetting = "pgrst.updated"

const bodyAlias = "pgrst_body"

// sourceWriter writes the query whose rows become plan.Source: a mutation or a call.
type sourceWriter struct{ condWriter }

// mutation writes the statement that changes the rows and returns the columns that the reading part
// needs.
func (w sourceWriter) mutation(m *plan.Mutation) {
	switch m.Action {
	case plan.Delete:
		w.put("delete from ")
		w.name(m.Table)
		w.mutationWhere(m)
	case plan.Update:
		w.update(m)
		if len(m.Columns) == 0 {
			return
		}
	default:
		w.insert(m)
	}
	w.returning(m)
}

func (w sourceWriter) returning(m *plan.Mutation) {
	w.put(" returning ")
	if len(m.Returning) == 0 {
		w.put("1")
		return
	}
	w.list(len(m.Returning), ", ", func(i int) { w.column(m.Table, m.Returning[i]) })
}

func (w sourceWriter) mutationWhere(m *plan.Mutation) {
	if len(m.Where) > 0 {
		w.put(" where ")
		w.where(m.Table, m.Where, nil)
	}
}

func (w sourceWriter) insert(m *plan.Mutation) {
	w.put("insert into ")
	w.name(m.Table)
	if len(m.Columns) > 0 {
		w.put(" (")
		w.list(len(m.Columns), ", ", func(i int) { w.ident(m.Columns[i].Name) })
		w.put(")")
	}
	w.put(" select ")
	w.list(len(m.Columns), ", ", func(i int) { w.column(schema.Name{Name: bodyAlias}, m.Columns[i].Name) })
	w.put(" from ")
	w.body(m.Body, m.Columns, m.Defaults)
	if len(m.Where) > 0 { // PUT: the key in the body must be the key in the URL
		w.put(" where ")
		w.where(schema.Name{Name: bodyAlias}, m.Where, nil)
	}
	if m.Resolution == "" || len(m.Conflict) == 0 {
		return
	}
	w.put(" on conflict (")
	w.list(len(m.Conflict), ", ", func(i int) { w.ident(m.Conflict[i]) })
	w.put(") do ")
	if m.Resolution == "ignore-duplicates" || len(m.Columns) == 0 {
		w.put("nothing")
		return
	}
	w.put("update set ")
	w.list(len(m.Columns), ", ", func(i int) {
		w.ident(m.Columns[i].Name)
		w.put(" = excluded.")
		w.ident(m.Columns[i].Name)
	})
	w.put(" where set_config('" + updatedSetting + "', (coalesce(nullif(current_setting('" + updatedSetting +
		"', true), ''), '0')::int + 1)::text, true) is not null")
}

func (w sourceWriter) update(m *plan.Mutation) {
	if len(m.Columns) == 0 {
		// Without columns to set, no row changes. The reading part still needs its columns.
		w.put("select ")
		if len(m.Returning) == 0 {
			w.put("null")
		}
		w.list(len(m.Returning), ", ", func(i int) { w.column(schema.Name{Name: m.Table.Name}, m.Returning[i]) })
		w.put(" from ")
		w.name(m.Table)
		w.put(" where false")
		return
	}
	w.put("update ")
	w.name(m.Table)
	w.put(" set ")
	w.list(len(m.Columns), ", ", func(i int) {
		w.ident(m.Columns[i].Name)
		w.put(" = ")
		w.column(schema.Name{Name: bodyAlias}, m.Columns[i].Name)
	})
	w.put(" from ")
	w.body(m.Body, m.Columns, m.Defaults)
	w.mutationWhere(m)
}

// body writes the JSON body as rows named pgrst_body. The fields give the columns and their types.
func (w sourceWriter) body(json []byte, fields []plan.Field, defaults bool) {
	object := isObject(json)
	represented := false
	for _, f := range fields {
		represented = represented || f.Transform != ""
	}
	if represented {
		w.put("(select ")
		w.list(len(fields), ", ", func(i int) {
			f := fields[i]
			if f.Transform != "" {
				w.put(f.Transform, "(")
				w.ident(f.Name)
				w.put(") as ")
			}
			w.ident(f.Name)
		})
		w.put(" from ")
	}
	prefix := "json"
	if defaults {
		prefix = "jsonb"
	}
	switch {
	case len(fields) == 0 && object:
		w.put("(values (1))")
	case len(fields) == 0:
		w.put(prefix, "_array_elements(")
		w.param(json)
		w.put(")")
	case defaults && object:
		w.put("jsonb_to_record(")
		w.defaults(fields)
		w.put(" || ")
		w.param(json)
		w.put("::jsonb)")
	case defaults:
		w.put("jsonb_array_elements(")
		w.param(json)
		w.put("::jsonb) as pgrst_element, lateral jsonb_to_record(")
		w.defaults(fields)
		w.put(" || pgrst_element)")
	case object:
		w.put("json_to_record(")
		w.param(json)
		w.put(")")
	default:
		w.put("json_to_recordset(")
		w.param(json)
		w.put(")")
	}
	w.put(" as ", bodyAlias)
	if len(fields) > 0 {
		w.put(" (")
		w.list(len(fields), ", ", func(i int) {
			w.ident(fields[i].Name)
			w.put(" ", fields[i].Type)
		})
		w.put(")")
	}
	if represented {
		w.put(") as ", bodyAlias)
	}
}

// defaults writes an object of the columns' defaults, which Postgres computes for each row.
func (w sourceWriter) defaults(fields []plan.Field) {
	w.put("jsonb_build_object(")
	sep := ""
	for _, f := range fields {
		if f.Default != nil {
			w.put(sep)
			w.literal(f.Name)
			w.put(", ", *f.Default)
			sep = ", "
		}
	}
	w.put(")")
}

// isObject reports whether JSON text is an object rather than an array. Postgres checks its syntax.
func isObject(json []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(json, " \t\r\n"), []byte("{"))
}
