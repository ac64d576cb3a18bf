package logs

import (
	"fmt"
	"strings"
)

// collector keeps what a statement needs of the rows that it reads: the first ones by ORDER BY, or
// the values of aggregate functions. A day has hundreds of thousands of rows.
type collector struct {
	*statement
	aliases  map[string]*node
	keys     []*node // of GROUP BY
	calls    []*node // of aggregate functions
	found    []rows
	position map[string]int // in found, by the values of the keys
}

// group holds the values of aggregate functions in a group of rows.
type group struct {
	rows   int
	values map[*node][]any
}

func newCollector(st *statement) (*collector, error) {
	c := &collector{statement: st, aliases: st.aliasesOf(), position: map[string]int{}}
	for _, n := range st.group {
		key, err := st.numbered(n)
		if err != nil {
			return nil, err
		}
		c.keys = append(c.keys, key)
	}
	for _, i := range st.items {
		c.calls = i.value.aggregateCalls(c.calls)
	}
	for _, key := range st.order {
		c.calls = key.value.aggregateCalls(c.calls)
	}
	return c, nil
}

// aggregateCalls appends the calls of aggregate functions in an expression.
func (n *node) aggregateCalls(to []*node) []*node {
	if n == nil {
		return to
	}
	if n.op == "call" && aggregates[n.text] {
		return append(to, n)
	}
	for _, arg := range n.args {
		to = arg.aggregateCalls(to)
	}
	return to
}

// grouped reports whether the result has a row for each group instead of each row.
func (c *collector) grouped() bool { return c.statement.group != nil || len(c.calls) > 0 }

// add collects a row.
func (c *collector) add(s scope) (err error) {
	if !c.grouped() {
		if c.found = append(c.found, rows{scope: s}); len(c.found) >= 4*maxRows {
			c.found, err = c.first(c.found)
		}
		return err
	}
	var key strings.Builder
	for _, n := range c.keys {
		value, err := (rows{scope: s, aliases: c.aliases}).evaluate(n)
		if err != nil {
			return err
		}
		fmt.Fprintf(&key, "%T %v\x00", value, value)
	}
	at, ok := c.position[key.String()]
	if !ok {
		if at = len(c.found); at == maxGroups {
			return fmt.Errorf("the statement has more than %d groups", maxGroups)
		}
		c.position[key.String()] = at
		c.found = append(c.found, rows{scope: s, group: &group{values: map[*node][]any{}}})
	}
	return c.found[at].group.add(c.calls, s)
}

// add adds the values of a row.
func (g *group) add(calls []*node, s scope) error {
	g.rows++
	for _, n := range calls {
		if len(n.args) == 0 {
			continue
		}
		value, err := (rows{scope: s}).evaluate(n.args[0])
		if err != nil {
			return err
		}
		if value == nil || n.text == "countif" && value != true {
			continue
		}
		if n.text == "count" && !n.distinct {
			value = true // only the number of values matters
		}
		g.values[n] = append(g.values[n], value)
	}
	return nil
}

// all returns the collected rows or groups. Aggregate functions without GROUP BY have one group.
func (c *collector) all() []rows {
	if len(c.found) == 0 && c.statement.group == nil && c.grouped() {
		return []rows{{group: &group{}}}
	}
	return c.found
}
