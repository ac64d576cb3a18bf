package sql

import (
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

// condWriter writes columns, conditions and order terms.
type condWriter struct{ *writer }

// operator returns the SQL of an operator of the grammar.
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
	default:
		panic("sql: unknown operator " + string(op))
	}
}

// queryFunction returns the function that parses the value of a full-text operator.
func queryFunction(op ast.Op) string {
	switch op {
	case "fts":
		return "to_tsquery"
	case "plfts":
		return "plainto_tsquery"
	case "phfts":
		return "phraseto_tsquery"
	default:
		return "websearch_to_tsquery"
	}
}

// where writes conditions joined with and. absent writes the conditions on embedded relations.
func (w condWriter) where(of schema.Name, conds []plan.Cond, absent func(plan.Cond)) {
	w.list(len(conds), " and ", func(i int) { w.cond(of, conds[i], absent) })
}

func (w condWriter) cond(of schema.Name, c plan.Cond, absent func(plan.Cond)) {
	switch {
	case c.Absent != nil:
		absent(c)
	case c.Filter != nil:
		w.filter(of, c.Filter)
	default:
		if c.Not {
			w.put("not ")
		}
		sep := " and "
		if c.Or {
			sep = " or "
		}
		w.put("(")
		w.list(len(c.Children), sep, func(i int) { w.cond(of, c.Children[i], absent) })
		w.put(")")
	}
}

func (w condWriter) filter(of schema.Name, f *plan.Filter) {
	if f.Not {
		w.put("not ")
	}
	w.field(of, f.Field)
	switch f.Op {
	case "is":
		w.put(" is ", strings.ReplaceAll(f.Value.Text, "_", " "))
	case "isdistinct":
		w.put(" is distinct from ")
		w.value(f.Value)
	case "in":
		w.in(f)
	case "fts", "plfts", "phfts", "wfts":
		w.put(" @@ ", queryFunction(f.Op), "(")
		w.config(f.Config)
		w.value(f.Value)
		w.put(")")
	case "like", "ilike":
		w.put(" ", operator(f.Op), " ")
		w.quantified(f.Quantifier, func() { w.pattern(f.Value) })
	default:
		w.put(" ", operator(f.Op), " ")
		w.quantified(f.Quantifier, func() {
			if f.Field.Transform != "" {
				w.put(f.Field.Transform, "(")
				w.value(f.Value)
				w.put(")")
				return
			}
			w.value(f.Value)
		})
	}
}

// quantified writes a value with its quantifier.
func (w condWriter) quantified(q ast.Quantifier, value func()) {
	switch q {
	case ast.Any:
		w.put("any (")
	case ast.All:
		w.put("all (")
	default:
		value()
		return
	}
	value()
	w.put(")")
}

// in compares with one array, so that the statement is the same for any number of values.
func (w condWriter) in(f *plan.Filter) {
	array := []byte("{}")
	if len(f.Values) != 1 || f.Values[0] != "" {
		array = arrayLiteral(f.Values)
	}
	if f.Field.Transform != "" {
		w.put(" = any (select ", f.Field.Transform, "(unnest(")
		w.param(array)
		w.put("::text[])))")
		return
	}
	w.put(" = any (")
	w.param(array)
	w.put(")")
}

// arrayLiteral returns the text form of an array, {"a","b"}.
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

// config writes the text search configuration as the first argument of a function; "" writes
// nothing.
func (w condWriter) config(name string) {
	if name != "" {
		w.text(name)
		w.put(", ")
	}
}

// field writes a column with its JSON path, converted to a tsvector if full-text search needs one.
func (w condWriter) field(of schema.Name, f plan.Field) {
	if f.FullText {
		w.put("to_tsvector(")
		w.config(f.Config)
		defer w.put(")")
	}
	switch {
	case f.WholeRow:
		w.ident(of.Name)
	case len(f.Path) == 0:
		w.column(of, f.Name)
	default:
		if f.ToJSON {
			w.put("to_jsonb(")
			w.column(of, f.Name)
			w.put(")")
		} else {
			w.column(of, f.Name)
		}
		for _, step := range f.Path {
			if step.AsText {
				w.put("->>")
			} else {
				w.put("->")
			}
			w.text(step.Key)
			if step.Index {
				w.put("::int")
			}
		}
	}
}

func (w condWriter) order(of schema.Name, terms []plan.Order) {
	w.list(len(terms), ", ", func(i int) {
		t := terms[i]
		at := of
		if t.Embed != "" {
			at = schema.Name{Name: t.Embed}
		}
		w.field(at, t.Field)
		switch t.Direction {
		case ast.Asc:
			w.put(" asc")
		case ast.Desc:
			w.put(" desc")
		}
		switch t.Nulls {
		case ast.NullsFirst:
			w.put(" nulls first")
		case ast.NullsLast:
			w.put(" nulls last")
		}
	})
}
