package changes

import (
	"context"
	"slices"
	"time"
	"unique"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// batch is a number of changes that are checked together and then delivered.
type batch struct {
	s     *Stream
	items []rowChange
	only  map[*subscriber]int // nil means all subscribers
	// subscribers whose claims changed during the check, and their first change that is not
	// delivered
	again map[*subscriber]int

	checks  []*check
	tables  map[uint32]*table
	types   map[uint32]typeInfo
	asked   map[question]verdict
	json    map[conversion]string
	visible map[sight]bool
	slow    int // users whose check took too long
}

// check is a change with the classes that may get it.
type check struct {
	*rowChange
	index     int
	record    pgoutput.Tuple // the new row; values that did not change are those of the old row if it is known
	identity  pgoutput.Tuple // the old row as far as it is known; nil if not at all
	known     []bool         // which columns identity has
	listeners []listener
	verdicts  []verdict // of the filters, one per listener
}

// question is a condition that the server evaluates.
type question struct {
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

// sight is a row that a user may see.
type sight struct {
	viewer unique.Handle[viewer]
	check  *check
}

// table is what the catalogue says now about a table.
type table struct {
	schema, name string
	secured      bool // row level security is enabled
	columns      []tableColumn
	readable     map[string][]bool // by role, one per column
}

// tableColumn is a column of a table.
type tableColumn struct {
	name, shownType, sqlType string
	key                      bool // part of the primary key
	oid                      uint32
	computed                 bool   // generated
	generated                string // expression, if the column is generated and the expression may be evaluated
}

// typeInfo is what the server says about a type.
type typeInfo struct {
	name string // for SQL
	enum bool
}

// run checks the changes and delivers them.
func (b *batch) run(ctx context.Context) error {
	b.match()
	if len(b.checks) == 0 {
		return nil
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	if err := b.generate(ctx); err != nil {
		return err
	}
	b.settle()
	if err := b.convert(ctx); err != nil {
		return err
	}
	if err := b.look(ctx); err != nil {
		return err
	}
	b.deliver()
	return nil
}

// match finds the classes that listen to each change.
func (b *batch) match() {
	b.asked, b.json, b.types = map[question]verdict{}, map[conversion]string{}, map[uint32]typeInfo{}
	for i := range b.items {
		item := &b.items[i]
		listeners := b.s.registry.listeners(item.relation.Schema, item.relation.Table, item.kind, b.only, i)
		if len(listeners) == 0 {
			continue
		}
		c := &check{rowChange: item, index: i, listeners: listeners}
		c.resolve()
		b.checks = append(b.checks, c)
	}
}

// resolve sets the record and the identity.
func (c *check) resolve() {
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

// value returns what filters compare: the new value, or that of a deleted row. ok is false if it is
// not known.
func (c *check) value(column string) (v pgoutput.Value, oid uint32, ok bool) {
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

// filter evaluates the conditions of a class. Those that only the server can evaluate are looked up
// in asked, or added to it.
func (b *batch) filter(c *check, l *listener) verdict {
	result := yes
	for i := range l.filters {
		condition := &l.filters[i]
		v, oid, ok := c.value(condition.column)
		if !ok {
			return no
		}
		verdict := condition.holds(oid, v)
		if verdict == ask {
			// The server compares null only with isdistinct.
			q := question{oid, condition.op, condition.negate, condition.value, v.Text}
			if v.Kind == pgoutput.Null {
				return verdictOf(!condition.negate)
			}
			known, found := b.asked[q]
			if !found {
				b.asked[q] = ask
				known = ask
			}
			verdict = known
		}
		switch verdict {
		case no:
			return no
		case ask:
			result = ask
		}
	}
	return result
}

// settle evaluates the filters, and collects what the server has to evaluate or convert.
func (b *batch) settle() {
	for _, c := range b.checks {
		t := b.tables[c.relation.ID]
		if t == nil { // dropped
			continue
		}
		c.verdicts = make([]verdict, len(c.listeners))
		memo := map[string]verdict{}
		interesting := false
		for i := range c.listeners {
			l := &c.listeners[i]
			result := yes
			if len(l.filters) > 0 {
				key := l.filterKey
				known, ok := memo[key]
				if !ok {
					known = b.filter(c, l)
					memo[key] = known
				}
				result = known
			}
			if result != no && !t.mayFilter(l) {
				result = no
			}
			c.verdicts[i] = result
			interesting = interesting || result != no
		}
		if interesting {
			b.collect(c)
		}
	}
}

// mayFilter reports whether a class may still read the columns that it filters.
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

// collect adds the values of a change that only the server can convert.
func (b *batch) collect(c *check) {
	for _, tuple := range []pgoutput.Tuple{c.record, c.identity} {
		for i, v := range tuple {
			if v.Kind != pgoutput.Text {
				continue
			}
			oid := c.relation.Columns[i].Type
			if b.types[oid].enum {
				continue
			}
			if _, ok := appendValue(nil, oid, v.Text); !ok {
				b.json[conversion{oid, v.Text}] = ""
			}
		}
	}
}

// refusal returns the error that upstream sends in place of a change, or "".
func (b *batch) refusal(c *check, t *table, role string) string {
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
