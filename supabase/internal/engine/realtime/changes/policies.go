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
	return t.filtered[role] && (c.kind != kindDelete || !b.s.o.Lenient)
}

// policyCheck finds out which rows of a batch each user may see.
type policyCheck struct{ *batch }

// checkPolicies asks the policies of tables with row level security. Users of one class are asked
// through one of them, by a pool.Unit, so that a policy which raises an error, takes too long or
// sets something affects no other class.
func (b *batch) checkPolicies(ctx context.Context) error { return policyCheck{b}.run(ctx) }

func (b policyCheck) run(ctx context.Context) error {
	if err := b.groupUsers(ctx, b.pairsToCheck()); err != nil {
		return err
	}
	members, err := b.findMembers(ctx)
	if err != nil {
		return err
	}
	wanted := map[*userClass][]*matchedChange{}
	byTable := map[uint32][]*userClass{}
	var tables []uint32
	for _, c := range b.matched {
		t := b.tables[c.relation.ID]
		if t == nil || !t.secured {
			continue
		}
		for i := range c.listeners {
			class := b.classes[c.pair(&c.listeners[i])]
			if class == nil || !b.needsVerdict(c, t, i) {
				continue
			}
			if _, known := class.verdicts[c]; known {
				continue
			}
			class.verdicts[c] = 0
			if !b.s.o.Lenient && class.excludes(c, t, members) {
				class.verdicts[c] = excluded
				continue
			}
			if wanted[class] == nil {
				if byTable[t.id] == nil {
					tables = append(tables, t.id)
				}
				byTable[t.id] = append(byTable[t.id], class)
			}
			wanted[class] = append(wanted[class], c)
		}
	}
	for _, id := range tables {
		if err := b.checkTable(ctx, b.tables[id], byTable[id], wanted); err != nil {
			return err
		}
	}
	return nil
}

// checkTable asks the policies of a table as each class of its users.
func (b policyCheck) checkTable(ctx context.Context, t *table, classes []*userClass,
	wanted map[*userClass][]*matchedChange) error {
	slices.SortStableFunc(classes, func(x, y *userClass) int { // Postgres plans the statements again for another role
		return strings.Compare(x.role, y.role)
	})
	limited, cancel := b.limitTime(ctx)
	defer cancel()
	pure := b.pureTable(ctx, t)
	for part := range slices.Chunk(classes, 500) {
		if err := b.lookUpRows(limited, t, part, wanted); err != nil {
			return err
		}
		if b.s.o.Lenient {
			continue
		}
		if err := b.checkImages(limited, t, pure, part, wanted); err != nil {
			return err
		}
	}
	return b.verifyPolicies(ctx, t, classes)
}

// lookUpRows reads the changed rows of a table as each class. A row that a later statement has
// written again is left to checkImages.
func (b policyCheck) lookUpRows(ctx context.Context, t *table, classes []*userClass,
	wanted map[*userClass][]*matchedChange) error {
	var units []pool.Unit
	var asked []*userClass
	var found [][]*matchedChange
	for _, class := range classes {
		rows := slices.DeleteFunc(slices.Clone(wanted[class]),
			func(c *matchedChange) bool { return c.kind == kindDelete })
		if len(rows) == 0 {
			continue
		}
		unit, known := b.policyUnit(class.first, t, rows)
		units, asked, found = append(units, unit), append(asked, class), append(found, known)
	}
	results, err := b.runUnits(ctx, units)
	if err != nil {
		return err
	}
	for i, class := range asked {
		if err := results[i].Err; err != nil {
			b.failClass(class, err, reasonPolicy)
			continue
		}
		for _, row := range results[i].Rows {
			n, err := strconv.Atoi(*row[0])
			if err != nil || n < 1 || n > len(found[i]) {
				continue
			}
			class.verdicts[found[i][n-1]] |= seesNow
			if *row[1] == "t" {
				class.verdicts[found[i][n-1]] |= seesRow
			}
		}
	}
	return nil
}

// failClass handles the error of the check of a class.
func (b policyCheck) failClass(class *userClass, err error, reason string) {
	for _, p := range class.members {
		b.fail(p, err, reason)
	}
}

// limits returns the limits of a statement of the check.
func (b *batch) limits() []pool.Setting {
	if b.patient() {
		return laneLimits
	}
	return commonLimits
}

// runUnits runs the units of a check. Those that the common check has no time for have an error. It
// returns an error if the database is not available, or, outside of the common check, if it has to
// be tried again.
func (b *batch) runUnits(ctx context.Context, units []pool.Unit) ([]pool.UnitResult, error) {
	if len(units) == 0 {
		return nil, nil
	}
	results, err := b.s.o.Pool.Units(ctx, units)
	deadline, limited := ctx.Deadline()
	switch {
	case err != nil && limited && !b.patient() && !time.Now().Before(deadline):
		for len(results) < len(units) {
			results = append(results, pool.UnitResult{Err: errBudget})
		}
	case err != nil:
		return nil, err
	}
	for _, result := range results {
		if result.Err != nil && (pool.IsUnavailable(result.Err) || b.patient() && isLocked(result.Err)) {
			return nil, result.Err
		}
	}
	return results, nil
}

// policyUnit returns the statement that reads the rows of changes by their primary keys as a user,
// and the changes by their numbers in its result. The second column says whether the row is still
// the one of the change, or is true if that does not matter.
func (b policyCheck) policyUnit(p pair, t *table, changes []*matchedChange) (unit pool.Unit, known []*matchedChange) {
	user := p.user.Value()
	unit.Caller = pool.Caller{Role: user.role, Claims: user.claims, Settings: b.limits()}
	current := "true"
	switch {
	case b.s.o.Lenient:
	case t.whole[user.role]:
		current = "k.x = found.xmin"
	default: // the role may not read xmin
		current = "false"
	}
	lookup, known := b.keyLookup(&unit, t, changes, current == "k.x = found.xmin")
	columns := ""
	if current == "k.x = found.xmin" {
		columns = "t.xmin "
	}
	// The limit makes the server look up each key, whatever it knows about the size of the table.
	unit.SQL = `select k.n, ` + current + ` from ` + lookup.keys + `, lateral (select ` + columns + lookup.from +
		` limit 1) found`
	return unit, known
}

// lookup is the text of a statement that reads rows of a table by their keys.
type lookup struct {
	keys string // the keys, as table k with the number n
	from string // the rows of one key, as table t
}

// keyLookup adds the primary keys of changes as parameters to a unit. It returns the statement's
// parts and the changes in the order of their numbers. A change whose key was renamed since is left
// out. With versions, the column x of the keys has the transaction that wrote the row.
func (b *batch) keyLookup(unit *pool.Unit, t *table, changes []*matchedChange, versions bool) (l lookup,
	known []*matchedChange) {
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
	if versions {
		names, arrays = append(names, "x"), append(arrays, "$"+strconv.Itoa(len(names)+1))
		unit.Types = append(unit.Types, oidXIDArray)
		unit.Args = append(unit.Args, []byte(arrayLiteral(writers(known))))
	}
	l.keys = fmt.Sprintf(`unnest(%s) with ordinality k (%s, n)`, strings.Join(arrays, ", "), strings.Join(names, ", "))
	l.from = fmt.Sprintf(`from %s.%s t where %s`, identifier(t.schema), identifier(t.name),
		strings.Join(conditions, " and "))
	return l, known
}

// writers returns the transactions that wrote the rows of changes. A row that the same transaction
// wrote again has none.
func writers(changes []*matchedChange) []string {
	xids := make([]string, len(changes))
	for i, c := range changes {
		xids[i] = strconv.FormatUint(uint64(c.xid), 10)
		if c.rewritten {
			xids[i] = "0"
		}
	}
	return xids
}
