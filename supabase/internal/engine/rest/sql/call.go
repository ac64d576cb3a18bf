package sql

import (
	"encoding/hex"
	"encoding/json"

	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

const callAlias = "pgrst_call"

// scalarColumn is the column that holds the value of a function that returns no rows.
const scalarColumn = "pgrst_scalar"

// invocation writes the call of a function as a query that returns its rows.
func (w sourceWriter) invocation(c *plan.Invocation) {
	scalar := !c.Routine.Composite
	alias := schema.Name{Name: callAlias}
	w.put("select ")
	switch {
	case scalar:
		w.column(alias, scalarColumn)
	case len(c.Returning) == 0:
		w.put("*")
	default:
		w.list(len(c.Returning), ", ", func(i int) { w.column(alias, c.Returning[i]) })
	}
	w.put(" from ")
	fromBody := c.Whole == nil && len(c.Params) > 0 && c.Args == nil
	if fromBody {
		fields := make([]plan.Field, len(c.Params))
		for i, p := range c.Params {
			fields[i] = plan.Field{Name: p.Name, Type: p.CastType}
		}
		w.put("(select * from ")
		w.body(c.Body, fields, false)
		w.put(" limit 1) as ", bodyAlias, ", lateral ")
	}
	if scalar {
		w.put("(select ")
	}
	w.name(c.Routine.Name)
	w.put("(")
	switch {
	case c.Whole != nil:
		w.whole(c)
	default:
		w.list(len(c.Params), ", ", func(i int) { w.argument(c, c.Params[i], fromBody) })
	}
	w.put(")")
	if scalar {
		w.put(" as ", scalarColumn, ")")
	}
	w.put(" as ", callAlias)
}

// argument writes a named argument, whose value is a column of the body or a parameter.
func (w sourceWriter) argument(c *plan.Invocation, p schema.Param, fromBody bool) {
	if p.Variadic {
		w.put("variadic ")
	}
	w.ident(p.Name)
	w.put(" := ")
	if fromBody {
		w.column(schema.Name{Name: bodyAlias}, p.Name)
		return
	}
	a := c.Args[p.Name]
	if p.Variadic {
		w.array(a.Values)
	} else {
		w.value(a.Value)
	}
	w.put("::", p.CastType)
}

// whole passes the unchanged body to the single unnamed parameter.
func (w sourceWriter) whole(c *plan.Invocation) {
	var from []ast.Value
	for _, a := range c.Args {
		from = append(from, a.Value)
	}
	w.computed(func(values []string) []byte {
		value := c.Body
		if c.Args != nil {
			flat := make(map[string]string, len(c.Args))
			for k, a := range c.Args {
				flat[k] = a.Value.In(values)
			}
			value, _ = json.Marshal(flat) // cannot fail for a map of strings
		}
		if c.Whole.Type == "bytea" && value != nil {
			value = append([]byte(`\x`), hex.AppendEncode(nil, value)...)
		}
		return value
	}, from...)
	w.put("::", c.Whole.Type)
}
