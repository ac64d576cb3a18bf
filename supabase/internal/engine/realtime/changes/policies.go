package changes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// mustCheck reports whether policies decide if users of a role get a change.
func (b *batch) mustCheck(c *matchedChange, t *table, role string) bool {
	return t.filtered[role] && c.kind != kindDelete
}

// checkPolicies finds out which rows each user may see, for tables with row level security. Each
// user of a table is checked by a pool.Unit, so that a policy which raises an error, takes too long
// or sets something affects no other user.
func (b *batch) checkPolicies(ctx context.Context) error {
	b.visible = map[rowForUser]bool{}
	wanted := map[pair][]*matchedChange{}
	byTable := map[uint32][]pair{}
	var tables []uint32
	for _, c := range b.matched {
		t := b.tables[c.relation.ID]
		if t == nil || !t.secured {
			continue
		}
		for i := range c.listeners {
			l := &c.listeners[i]
			p := c.pair(l)
			if _, known := b.visible[rowForUser{p, c}]; known || c.results[i] != accepts ||
				!b.mustCheck(c, t, l.role) || b.changeError(c, t, l.role) != "" {
				continue
			}
			b.visible[rowForUser{p, c}] = false
			if wanted[p] == nil {
				if byTable[p.table] == nil {
					tables = append(tables, p.table)
				}
				byTable[p.table] = append(byTable[p.table], p)
			}
			wanted[p] = append(wanted[p], c)
		}
	}
	for _, id := range tables {
		if err := b.checkTable(ctx, b.tables[id], byTable[id], wanted); err != nil {
			return err
		}
	}
	return nil
}

// checkTable reads the changed rows of a table as each of its users.
func (b *batch) checkTable(ctx context.Context, t *table, users []pair, wanted map[pair][]*matchedChange) error {
	slices.SortStableFunc(users, func(x, y pair) int { // Postgres plans the statements again for another role
		return strings.Compare(x.user.Value().role, y.user.Value().role)
	})
	if b.lane == nil {
		limited, cancel := context.WithTimeout(ctx, tableBudget)
		defer cancel()
		ctx = limited
	}
	for part := range slices.Chunk(users, 500) {
		units, found := make([]pool.Unit, len(part)), make([][]*matchedChange, len(part))
		for i, p := range part {
			units[i], found[i] = b.policyUnit(p, t, wanted[p])
		}
		results, err := b.runUnits(ctx, units)
		if err != nil {
			return err
		}
		for i, p := range part {
			if err := results[i].Err; err != nil {
				b.fail(p, err, reasonPolicy)
				continue
			}
			for _, row := range results[i].Rows {
				if n, err := strconv.Atoi(*row[0]); err == nil && n >= 1 && n <= len(found[i]) {
					b.visible[rowForUser{p, found[i][n-1]}] = true
				}
			}
		}
	}
	return nil
}

// limits returns the limits of a statement of the check.
func (b *batch) limits() []pool.Setting {
	if b.lane == nil {
		return commonLimits
	}
	return laneLimits
}

// runUnits runs the units of a check. Those that the common check has no time for have an error. It
// returns an error if the database is not available, or, in a lane, if it has to be tried again.
func (b *batch) runUnits(ctx context.Context, units []pool.Unit) ([]pool.UnitResult, error) {
	if len(units) == 0 {
		return nil, nil
	}
	results, err := b.s.o.Pool.Units(ctx, units)
	deadline, limited := ctx.Deadline()
	switch {
	case err != nil && limited && b.lane == nil && !time.Now().Before(deadline):
		for len(results) < len(units) {
			results = append(results, pool.UnitResult{Err: errBudget})
		}
	case err != nil:
		return nil, err
	}
	for _, result := range results {
		if result.Err != nil && (pool.IsUnavailable(result.Err) || b.lane != nil && isLocked(result.Err)) {
			return nil, result.Err
		}
	}
	return results, nil
}

// policyUnit returns the statement that reads the rows of changes by their primary keys as a user,
// and the changes by their numbers in its result.
func (b *batch) policyUnit(p pair, t *table, changes []*matchedChange) (unit pool.Unit, known []*matchedChange) {
	user := p.user.Value()
	unit.Caller = pool.Caller{Role: user.role, Claims: user.claims, Settings: b.limits()}
	lookup, known := b.keyLookup(&unit, t, changes)
	// The limit makes the server look up each key, whatever it knows about the size of the table.
	unit.SQL = `select k.n from ` + lookup.keys + `, lateral (select ` + lookup.from + ` limit 1) found`
	return unit, known
}

// lookup is the text of a statement that reads rows of a table by their keys.
type lookup struct {
	keys string // the keys, as table k with the number n
	from string // the rows of one key, as table t
}

// keyLookup adds the primary keys of changes as parameters to a unit. It returns the statement's
// parts and the changes in the order of their numbers. A change whose key was renamed since is left
// out.
func (b *batch) keyLookup(unit *pool.Unit, t *table, changes []*matchedChange) (l lookup, known []*matchedChange) {
	var arrays, names, conditions []string
	keys := make([][]string, len(changes)) // by change
	for _, column := range t.columns {
		if !column.key {
			continue
		}
		n := len(names) + 1
		key, typ, cast := "k.k"+strconv.Itoa(n), b.types[column.oid].array, ""
		if typ == 0 {
			typ, cast = oidTextArray, "::"+b.types[column.oid].name
		}
		unit.Types = append(unit.Types, typ)
		names = append(names, "k"+strconv.Itoa(n))
		arrays = append(arrays, "$"+strconv.Itoa(n))
		conditions = append(conditions, fmt.Sprintf("t.%s = %s%s", identifier(column.name), key, cast))
		for i, c := range changes {
			if value, _, ok := c.value(column.name); ok && value.Kind == pgoutput.Text {
				keys[i] = append(keys[i], value.Text)
			}
		}
	}
	columns := make([][]string, len(names))
	for i, c := range changes {
		if len(keys[i]) < len(names) {
			continue
		}
		known = append(known, c)
		for n, text := range keys[i] {
			columns[n] = append(columns[n], text)
		}
	}
	for _, column := range columns {
		unit.Args = append(unit.Args, []byte(arrayLiteral(column)))
	}
	l.keys = fmt.Sprintf(`unnest(%s) with ordinality k (%s, n)`, strings.Join(arrays, ", "), strings.Join(names, ", "))
	l.from = fmt.Sprintf(`from %s.%s t where %s`, identifier(t.schema), identifier(t.name),
		strings.Join(conditions, " and "))
	return l, known
}
