package changes

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// runComparisons lets the server evaluate the comparisons, one statement per operator and type, and
// evaluates the filters again. If the server refuses a statement, each comparison is sent alone,
// and a refused one rejects the change.
func (b *batch) runComparisons(ctx context.Context) error {
	if len(b.comparisons) == 0 {
		return nil
	}
	type form struct {
		oid    uint32
		op     string
		negate bool
	}
	byForm := map[form][]comparison{}
	for c, result := range b.comparisons {
		if result == undecided {
			f := form{c.oid, c.op, c.negate}
			byForm[f] = append(byForm[f], c)
		}
	}
	for _, comparisons := range byForm {
		err := b.runComparison(ctx, comparisons)
		if err == nil {
			continue
		}
		if !isQueryError(err) {
			return err
		}
		for _, c := range comparisons {
			if err := b.runComparison(ctx, []comparison{c}); err != nil {
				if !isQueryError(err) {
					return err
				}
				b.comparisons[c] = rejects
				b.s.o.Log.Warn("a filter cannot be evaluated; its subscribers do not get the change", "operator", c.op,
					"error", err)
			}
		}
	}
	b.evaluateFilters()
	return nil
}

// runComparison evaluates comparisons with one operator and one type.
func (b *batch) runComparison(ctx context.Context, comparisons []comparison) error {
	form := condition{filter: filter{op: comparisons[0].op, negate: comparisons[0].negate}}
	texts, values := make([]string, len(comparisons)), make([]string, len(comparisons))
	for i, c := range comparisons {
		texts[i], values[i] = c.text, c.value
		b.comparisons[c] = rejects
	}
	name := b.types[comparisons[0].oid].name
	if name == "" {
		return nil // the type was dropped
	}
	sql := `select n from unnest($1::text[], $2::text[]) with ordinality u (a, b, n) where ` + form.sql(name)
	return b.s.o.Pool.Query(ctx, limited, sql, []any{texts, values}, func(rows pgx.Rows) error {
		holding, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, n := range holding {
			b.comparisons[comparisons[n-1]] = accepts
		}
		return err
	})
}
