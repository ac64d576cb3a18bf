package changes

import (
	"context"

	"daawo/supabase/internal/database/pool"
)

// runComparisons lets the server evaluate the comparisons, one statement per role, operator and
// type, and evaluates the filters again. A listener whose comparison fails or takes too long goes
// to its lane; in the lane, it loses the change.
func (b *batch) runComparisons(ctx context.Context) error {
	if len(b.comparisons) == 0 {
		return nil
	}
	byForm := map[comparison][]comparison{}
	for c := range b.comparisons {
		form := b.form(c)
		byForm[form] = append(byForm[form], c)
	}
	var units []pool.Unit
	var asked [][]comparison
	for form, comparisons := range byForm {
		if b.types[form.oid].name == "" { // the type was dropped
			for _, c := range comparisons {
				b.comparisons[c] = rejects
			}
			continue
		}
		units, asked = append(units, b.comparisonUnit(form, comparisons)), append(asked, comparisons)
	}
	limited, cancel := b.limitTime(ctx)
	defer cancel()
	results, err := b.runUnits(limited, units)
	if err != nil {
		return err
	}
	var failed error
	for i, result := range results {
		if result.Err != nil {
			failed = result.Err
			continue
		}
		for j, row := range result.Rows {
			b.comparisons[asked[i][j]] = resultOf(row[0] != nil && *row[0] == "t")
		}
	}
	b.evaluateFilters()
	b.divertUndecided(failed)
	return nil
}

// divertUndecided moves the listeners whose filters are not evaluated to their lanes.
func (b *batch) divertUndecided(err error) {
	for _, c := range b.matched {
		for i, result := range c.results {
			if result == undecided {
				b.fail(c.filterPair(&c.listeners[i]), err, reasonFilter)
			}
		}
	}
}

// form returns what comparisons of one statement have in common.
func (b *batch) form(c comparison) comparison {
	if b.types[c.oid].array == 0 {
		return c
	}
	c.text = ""
	if c.op != "in" {
		c.value = ""
	}
	return c
}

// comparisonUnit returns the statement for comparisons of one form. The subscribers' role runs it,
// so the operators are those that it finds in a SELECT. Types are given by their OIDs, so the role
// needs no right to use their schemas.
func (b *batch) comparisonUnit(form comparison, comparisons []comparison) pool.Unit {
	unit := pool.Unit{Caller: pool.Caller{Role: form.role, Settings: b.limits()}}
	condition := condition{filter: filter{op: form.op, negate: form.negate}}
	array := b.types[form.oid].array
	texts, values := make([]string, len(comparisons)), make([]string, len(comparisons))
	for i, c := range comparisons {
		texts[i], values[i] = c.text, c.value
	}
	switch {
	case array == 0:
		unit.SQL = `select ` + condition.sql("$1", "$2")
		unit.Args, unit.Types = [][]byte{[]byte(form.text), []byte(form.value)}, []uint32{form.oid, form.oid}
	case form.op == "in":
		unit.SQL = `select ` + condition.sql("a", "$2") + ` from unnest($1) with ordinality u (a, n) order by n`
		unit.Args, unit.Types = [][]byte{[]byte(arrayLiteral(texts)), []byte(form.value)}, []uint32{array, array}
	default:
		unit.SQL = `select ` + condition.sql("a", "b") + ` from unnest($1, $2) with ordinality u (a, b, n) order by n`
		unit.Args = [][]byte{[]byte(arrayLiteral(texts)), []byte(arrayLiteral(values))}
		unit.Types = []uint32{array, array}
	}
	return unit
}
