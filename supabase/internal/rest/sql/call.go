package sql

import (
	"encoding/hex"
	"encoding/json"

	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
)

const callAlias = "pgrst_call"

// scalarColumn is the column that the value of a function that returns no rows is put into.
const scalarColumn = "pgrst_scalar"

// invocation writes the call of a function as a query of its rows.
func (b *builder) invocation(c *plan.Invocation) {
	scalar := !c.Routine.Composite
	alias := schema.Name{Name: callAlias}
	b.put("select ")
	switch {
	case scalar:
		b.column(alias, scalarColumn)
	case len(c.Returning) == 0:
		b.put("*")
	default:
		b.list(len(c.Returning), ", ", func(i int) { b.column(alias, c.Returning[i]) })
	}
	b.put(" from ")
	fromBody := c.Whole == nil && len(c.Params) > 0 && c.Args == nil
	if fromBody {
		fields := make([]plan.Field, len(c.Params))
		for i, p := range c.Params {
			fields[i] = plan.Field{Name: p.Name, Type: p.CastType}
		}
		b.put("(select * from ")
		b.body(c.Body, fields, false)
		b.put(" limit 1) as ", bodyAlias, ", lateral ")
	}
	if scalar {
		b.put("(select ")
	}
	b.name(c.Routine.Name)
	b.put("(")
	switch {
	case c.Whole != nil:
		b.whole(c)
	default:
		b.list(len(c.Params), ", ", func(i int) { b.argument(c, c.Params[i], fromBody) })
	}
	b.put(")")
	if scalar {
		b.put(" as ", scalarColumn, ")")
	}
	b.put(" as ", callAlias)
}

func (b *builder) argument(c *plan.Invocation, p schema.Param, fromBody bool) {
	if p.Variadic {
		b.put("variadic ")
	}
	b.ident(p.Name)
	b.put(" := ")
	if fromBody {
		b.column(schema.Name{Name: bodyAlias}, p.Name)
		return
	}
	a := c.Args[p.Name]
	if p.Variadic {
		b.param(arrayLiteral(a.Values))
	} else {
		b.text(a.Value)
	}
	b.put("::", p.CastType)
}

// whole passes the body as it is to the single unnamed parameter.
func (b *builder) whole(c *plan.Invocation) {
	value := c.Body
	if c.Args != nil {
		flat := make(map[string]string, len(c.Args))
		for k, v := range c.Args {
			flat[k] = v.Value
		}
		value, _ = json.Marshal(flat) // a map of strings cannot fail
	}
	if c.Whole.Type == "bytea" && value != nil {
		value = append([]byte(`\x`), hex.AppendEncode(nil, value)...)
	}
	b.param(value)
	b.put("::", c.Whole.Type)
}
