package sql

import (
	"strings"

	"daawo/supabase/internal/rest/ast"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
)

// operator gives the SQL of an operator of the grammar.
func operator(op ast.Op) string {
	switch op {
	case "eq":
		return "="
	case "gte":
		return ">="
	case "gt":
		return ">"
	case "lte":
		return "<="
	case "lt":
		return "<"
	case "neq":
		return "<>"
	case "like":
		return "like"
	case "ilike":
		return "ilike"
	case "match":
		return "~"
	case "imatch":
		return "~*"
	case "cs":
		return "@>"
	case "cd":
		return "<@"
	case "ov":
		return "&&"
	case "sl":
		return "<<"
	case "sr":
		return ">>"
	case "nxr":
		return "&<"
	case "nxl":
		return "&>"
	case "adj":
		return "-|-"
	case "fts":
		return "to_tsquery"
	case "plfts":
		return "plainto_tsquery"
	case "phfts":
		return "phraseto_tsquery"
	case "wfts":
		return "websearch_to_tsquery"
	default:
		panic("sql: operator " + string(op) + " is not in the grammar")
	}
}

// where writes conditions joined with and. absent writes the test of an embedded relation.
func (b *builder) where(of schema.Name, conds []plan.Cond, absent func(plan.Cond)) {
	b.list(len(conds), " and ", func(i int) { b.cond(of, conds[i], absent) })
}

func (b *builder) cond(of schema.Name, c plan.Cond, absent func(plan.Cond)) {
	switch {
	case c.Absent != nil:
		absent(c)
	case c.Filter != nil:
		b.filter(of, c.Filter)
	default:
		if c.Not {
			b.put("not ")
		}
		sep := " and "
		if c.Or {
			sep = " or "
		}
		b.put("(")
		b.list(len(c.Children), sep, func(i int) { b.cond(of, c.Children[i], absent) })
		b.put(")")
	}
}

func (b *builder) filter(of schema.Name, f *plan.Filter) {
	if f.Not {
		b.put("not ")
	}
	b.field(of, f.Field)
	switch f.Op {
	case "is":
		b.put(" is ", strings.ReplaceAll(f.Value, "_", " "))
	case "isdistinct":
		b.put(" is distinct from ")
		b.text(f.Value)
	case "in":
		b.in(f)
	case "fts", "plfts", "phfts", "wfts":
		b.put(" @@ ", operator(f.Op), "(")
		b.config(f.Config)
		b.text(f.Value)
		b.put(")")
	case "like", "ilike":
		b.put(" ", operator(f.Op), " ")
		b.quantified(f.Quantifier, func() { b.text(strings.ReplaceAll(f.Value, "*", "%")) })
	default:
		b.put(" ", operator(f.Op), " ")
		b.quantified(f.Quantifier, func() {
			if f.Field.Transform != "" {
				b.put(f.Field.Transform, "(")
				b.text(f.Value)
				b.put(")")
				return
			}
			b.text(f.Value)
		})
	}
}

func (b *builder) quantified(q ast.Quantifier, value func()) {
	switch q {
	case ast.Any:
		b.put("any (")
	case ast.All:
		b.put("all (")
	default:
		value()
		return
	}
	value()
	b.put(")")
}

// in compares with one array, so that the statement does not depend on the number of values.
func (b *builder) in(f *plan.Filter) {
	array := []byte("{}")
	if len(f.Values) != 1 || f.Values[0] != "" {
		array = arrayLiteral(f.Values)
	}
	if f.Field.Transform != "" {
		b.put(" = any (select ", f.Field.Transform, "(unnest(")
		b.param(array)
		b.put("::text[])))")
		return
	}
	b.put(" = any (")
	b.param(array)
	b.put(")")
}

// arrayLiteral writes {"a","b"} as Postgres reads arrays.
func arrayLiteral(values []string) []byte {
	out := []byte{'{'}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		for j := range len(v) {
			switch c := v[j]; c {
			case 0:
			case '"', '\\':
				out = append(out, '\\', c)
			default:
				out = append(out, c)
			}
		}
		out = append(out, '"')
	}
	return append(out, '}')
}

func (b *builder) config(name string) {
	if name != "" {
		b.text(name)
		b.put(", ")
	}
}

// field writes a column with its JSON path, as a tsvector where full-text search needs one.
func (b *builder) field(of schema.Name, f plan.Field) {
	if f.FullText {
		b.put("to_tsvector(")
		b.config(f.Config)
		defer b.put(")")
	}
	switch {
	case f.WholeRow:
		b.ident(of.Name)
	case len(f.Path) == 0:
		b.column(of, f.Name)
	default:
		if f.ToJSON {
			b.put("to_jsonb(")
			b.column(of, f.Name)
			b.put(")")
		} else {
			b.column(of, f.Name)
		}
		for _, step := range f.Path {
			if step.AsText {
				b.put("->>")
			} else {
				b.put("->")
			}
			b.text(step.Key)
			if step.Index {
				b.put("::int")
			}
		}
	}
}

func (b *builder) order(of schema.Name, terms []plan.Order) {
	b.list(len(terms), ", ", func(i int) {
		t := terms[i]
		at := of
		if t.Embed != "" {
			at = schema.Name{Name: t.Embed}
		}
		b.field(at, t.Field)
		switch t.Direction {
		case ast.Asc:
			b.put(" asc")
		case ast.Desc:
			b.put(" desc")
		}
		switch t.Nulls {
		case ast.NullsFirst:
			b.put(" nulls first")
		case ast.NullsLast:
			b.put(" nulls last")
		}
	})
}
