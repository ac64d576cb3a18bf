package changes

import (
	"context"
	"slices"
	"time"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// batch is a number of changes that are checked together and then delivered.
type batch struct {
	s      *Stream
	lane   *lane   // nil for the common check of all users
	replay *replay // nil if changes are delivered for the first time
	items  []rowChange
	only   map[*subscriber]int // nil means all subscribers
	// subscribers whose claims changed during the check, with the index of their first change that
	// was not delivered
	recheck map[*subscriber]int

	matched     []*matchedChange
	tables      map[uint32]*table
	types       map[uint32]typeInfo
	comparisons map[comparison]filterResult
	jsonValues  map[conversion]string
	classes     map[pair]*userClass
	diverted    map[pair]diversion // whose changes a lane checks and delivers, or are lost
	slow        uint32             // table whose check a replay has to make again, 0 for none
	ends        time.Time          // when the common check has no time left; zero before it asks the server
}

// matchedChange is a change with the binding groups that listen to it.
type matchedChange struct {
	*rowChange
	index     int
	record    pgoutput.Tuple // the new row; values that did not change come from the old row if it is known
	identity  pgoutput.Tuple // the old row as far as it is known; nil if not at all
	known     []bool         // which columns identity has
	listeners []listener
	results   []filterResult // of the filters, one per listener
}

// comparison is a condition that the server evaluates.
type comparison struct {
	role   string // evaluates it: operators depend on what the role may use
	oid    uint32
	op     string
	negate bool
	value  string // the filter's
	text   string // the column's
}

// conversion is a value that the server converts to JSON.
type conversion struct {
	oid  uint32
	text string
}

// table is what the catalogue says now about a table. For a partition, it is what users who read
// its root get.
type table struct {
	id           uint32 // of the changes: the partition's, not its root's
	schema, name string
	secured      bool // row level security is enabled
	columns      []tableColumn
	readable     map[string][]bool     // by role, one per column
	filtered     map[string]bool       // by role: row level security applies to it
	whole        map[string]bool       // by role: it may select the whole table, so its system columns, too
	policies     map[string]*policySet // by role to which row level security applies
	rows         uint32                // OID of the arrays of its rows
}

// tableColumn is a column of a table.
type tableColumn struct {
	name, shownType string
	key             bool // part of the primary key
	oid             uint32
	plainCollation  bool     // texts are equal if and only if their bytes are
	computed        bool     // generated
	generated       string   // expression, if the column is generated and the expression may be evaluated
	reads           []string // columns of the expression
}

// typeInfo is what the server says about a type.
type typeInfo struct {
	name  string // for SQL
	enum  bool
	base  uint32 // OID of the type itself, or of the type below a domain
	array uint32 // OID of the arrays of base, or 0
}

// alone reports whether the check is for one user.
func (b *batch) alone() bool { return b.lane != nil || b.replay != nil }

// patient reports whether the check delays no other user, so that it may take long. If it fails,
// the changes are lost.
func (b *batch) patient() bool { return b.lane != nil || b.replay != nil && b.replay.slow != 0 }

// run checks the changes and delivers them.
func (b *batch) run(ctx context.Context) error {
	b.matchBindings()
	if len(b.matched) == 0 {
		return nil
	}
	if err := b.loadCatalog(ctx); err != nil {
		return err
	}
	if err := b.fillGenerated(ctx); err != nil {
		return err
	}
	b.evaluateFilters()
	if err := b.runComparisons(ctx); err != nil {
		return err
	}
	if b.slow != 0 {
		return errSlow
	}
	if err := b.convertJSON(ctx); err != nil {
		return err
	}
	if err := b.checkPolicies(ctx); err != nil {
		return err
	}
	if b.slow != 0 {
		return errSlow
	}
	b.deliver()
	return nil
}

// matchBindings finds the binding groups that listen to each change.
func (b *batch) matchBindings() {
	b.comparisons, b.jsonValues, b.types = map[comparison]filterResult{}, map[conversion]string{}, map[uint32]typeInfo{}
	if b.lane != nil {
		return
	}
	registry := b.s.registry
	b.diverted = map[pair]diversion{}
	if b.replay != nil {
		registry, b.diverted = b.replay.registry, b.replay.failed
	}
	for i := range b.items {
		listeners := registry.listeners(b.items[i].relation, b.items[i].kind, b.only, i)
		if len(listeners) == 0 {
			continue
		}
		c := newMatchedChange(&b.items[i], i, listeners)
		b.matched = append(b.matched, c)
		if b.replay != nil {
			continue
		}
		for _, p := range b.s.lanes.open(c) {
			b.diverted[p] = diversion{}
		}
	}
}

// newMatchedChange returns a change with the binding groups that listen to it.
func newMatchedChange(item *rowChange, index int, listeners []listener) *matchedChange {
	c := &matchedChange{rowChange: item, index: index, listeners: listeners}
	c.resolveRows()
	return c
}

// resolveRows sets the record and the identity.
func (c *matchedChange) resolveRows() {
	columns := c.relation.Columns
	switch {
	case c.old != nil:
		c.identity, c.known = c.old, make([]bool, len(columns))
		for i := range columns {
			c.known[i] = c.old[i].Kind != pgoutput.Unchanged && (columns[i].Key || !c.oldKeyOnly)
		}
	case c.kind == kindUpdate: // the key did not change
		c.identity, c.known = c.new, make([]bool, len(columns))
		for i := range columns {
			c.known[i] = columns[i].Key && c.new[i].Kind != pgoutput.Unchanged
		}
	}
	if c.kind == kindDelete {
		return
	}
	c.record = c.new
	for i, v := range c.new {
		if v.Kind == pgoutput.Unchanged && c.old != nil && c.known[i] {
			if &c.record[0] == &c.new[0] {
				c.record = slices.Clone(c.new)
			}
			c.record[i] = c.old[i]
		}
	}
}

// value returns what filters compare: the new value, or the old value of a deleted row. ok is false
// if it is not known.
func (c *matchedChange) value(column string) (v pgoutput.Value, oid uint32, ok bool) {
	for i, col := range c.relation.Columns {
		if col.Name != column {
			continue
		}
		if c.kind == kindDelete {
			return c.identity[i], col.Type, c.known[i]
		}
		return c.record[i], col.Type, c.record[i].Kind != pgoutput.Unchanged
	}
	return v, 0, false
}

// pair returns the table of a change and a user.
func (c *matchedChange) pair(l *listener) pair { return pair{table: c.relation.ID, user: l.user} }

// filterPair returns the table of a change, and a user with its bindings that have a filter.
func (c *matchedChange) filterPair(l *listener) pair { return pair{c.relation.ID, l.user, l.filterKey} }

// pairs returns the pairs to which a listener belongs. That with the filter comes first: its lane
// has changes that the user's own would overtake.
func (c *matchedChange) pairs(l *listener) []pair {
	if len(l.filters) == 0 {
		return []pair{c.pair(l)}
	}
	return []pair{c.filterPair(l), c.pair(l)}
}

// applyFilters evaluates the conditions of a binding group. Conditions that only the server can
// evaluate are looked up in comparisons, or added to it.
func (b *batch) applyFilters(c *matchedChange, l *listener) filterResult {
	result := accepts
	for i := range l.filters {
		condition := &l.filters[i]
		v, oid, ok := c.value(condition.column)
		if !ok {
			return rejects
		}
		base := b.types[oid].base
		holds := condition.holds(base, v)
		if holds == undecided {
			// The server compares null only with isdistinct.
			q := comparison{l.role, base, condition.op, condition.negate, condition.value, v.Text}
			if v.Kind == pgoutput.Null {
				return resultOf(!condition.negate)
			}
			known, found := b.comparisons[q]
			if !found {
				b.comparisons[q] = undecided
				known = undecided
			}
			holds = known
		}
		switch holds {
		case rejects:
			return rejects
		case undecided:
			result = undecided
		}
	}
	return result
}

// evaluateFilters evaluates the filters, and collects the comparisons and conversions for the
// server.
func (b *batch) evaluateFilters() {
	for _, c := range b.matched {
		t := b.tables[c.relation.ID]
		if t == nil { // dropped
			continue
		}
		c.results = make([]filterResult, len(c.listeners))
		byFilter := map[[2]string]filterResult{}
		accepted := false
		for i := range c.listeners {
			l := &c.listeners[i]
			if _, diverted := b.diversion(c, l); diverted {
				continue
			}
			result := accepts
			if len(l.filters) > 0 {
				key := [2]string{l.role, l.filterKey}
				known, ok := byFilter[key]
				if !ok {
					known = b.applyFilters(c, l)
					byFilter[key] = known
				}
				result = known
			}
			if result != rejects && !t.mayFilter(l) {
				result = rejects
			}
			c.results[i] = result
			accepted = accepted || result != rejects
		}
		if accepted {
			b.collectConversions(c)
		}
	}
}

// mayFilter reports whether the role of l may still read the columns that l filters.
func (t *table) mayFilter(l *listener) bool {
	readable := t.readable[l.role]
	for i := range l.filters {
		at := slices.IndexFunc(t.columns, func(c tableColumn) bool { return c.name == l.filters[i].column })
		if at < 0 || !readable[at] {
			return false
		}
	}
	return true
}

// collectConversions adds the values of a change that only the server can convert.
func (b *batch) collectConversions(c *matchedChange) {
	for _, tuple := range []pgoutput.Tuple{c.record, c.identity} {
		for i, v := range tuple {
			if v.Kind != pgoutput.Text {
				continue
			}
			oid := c.relation.Columns[i].Type
			if b.types[oid].enum {
				continue
			}
			if _, ok := appendValue(nil, b.types[oid].base, v.Text); !ok {
				b.jsonValues[conversion{oid, v.Text}] = ""
			}
		}
	}
}

// hides reports whether the role gets no event of a table, because it may not select the primary
// key or, without one, any column.
func (b *batch) hides(t *table, role string) bool {
	if b.s.o.Unauthorized {
		return false
	}
	for i, column := range t.columns {
		if column.key && !t.readable[role][i] {
			return true
		}
	}
	return !slices.Contains(t.readable[role], true)
}

// changeError returns the error that upstream sends in place of a change, or "".
func (b *batch) changeError(c *matchedChange, t *table, role string) string {
	if c.kind == kindDelete {
		return ""
	}
	keys := 0
	for i, column := range t.columns {
		if !column.key {
			continue
		}
		keys++
		if !t.readable[role][i] {
			return "Error 401: Unauthorized"
		}
	}
	if keys == 0 {
		return "Error 400: Bad Request, no primary key"
	}
	return ""
}

// timestampLayout is how upstream writes the time of a commit.
const timestampLayout = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string {
	return t.UTC().Truncate(time.Millisecond).Format(timestampLayout)
}
