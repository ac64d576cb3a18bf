package logs

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxRows is the most rows of a result.
const maxRows = 1000

// Query returns the rows of a statement over the entries from start to end.
func (s *Store) Query(sql string, start, end time.Time) ([]map[string]any, error) {
	st, err := parse(sql)
	if err != nil {
		return nil, err
	}
	matching, err := s.scan(st, start, end)
	if err != nil {
		return nil, err
	}
	groups := st.groupsOf(matching)
	if st.group != nil {
		if groups, err = st.grouped(matching); err != nil {
			return nil, err
		}
	}
	return st.result(groups)
}

// scan returns the rows that the statement reads, after UNNEST and WHERE.
func (s *Store) scan(st *statement, start, end time.Time) (found []scope, err error) {
	services := tables[st.table]
	stored := s.Between(start, end, func(e Entry) {
		if err != nil || !slices.Contains(services, e.Service) {
			return
		}
		var expanded []scope
		if expanded, err = st.expand(scope{alias: st.alias, row: row(st.table, e)}); err != nil {
			return
		}
		for _, one := range expanded {
			keep := any(true)
			if st.where != nil {
				if keep, err = (rows{scope: one}).evaluate(st.where); err != nil {
					return
				}
			}
			if keep == true {
				found = append(found, one)
			}
		}
	})
	if stored != nil {
		return nil, stored
	}
	return found, err
}

// expand joins the elements of the arrays to a row.
func (st *statement) expand(one scope) ([]scope, error) {
	all := []scope{one}
	for _, u := range st.unnests {
		var next []scope
		for _, s := range all {
			value, err := (rows{scope: s}).evaluate(u.array)
			if err != nil {
				return nil, err
			}
			list, _ := value.([]any)
			if len(list) == 0 && u.left {
				list = []any{nil}
			}
			for _, element := range list {
				next = append(next, scope{s.alias, s.row, append(slices.Clip(s.joined), joined{u.alias, element})})
			}
		}
		all = next
	}
	return all, nil
}

// groupsOf returns each row alone, or all rows as one group if a column is an aggregate.
func (st *statement) groupsOf(matching []scope) []rows {
	if slices.ContainsFunc(st.items, func(i item) bool { return i.value.aggregates() }) {
		one := rows{group: matching}
		if one.group == nil {
			one.group = []scope{}
		}
		if len(matching) > 0 {
			one.scope = matching[0]
		}
		return []rows{one}
	}
	groups := make([]rows, len(matching))
	for i, s := range matching {
		groups[i] = rows{scope: s}
	}
	return groups
}

// aggregates reports whether an expression calls an aggregate function.
func (n *node) aggregates() bool {
	if n == nil {
		return false
	}
	return n.op == "call" && aggregates[n.text] || slices.ContainsFunc(n.args, (*node).aggregates)
}

// aliasesOf returns the expressions of the result columns by their names.
func (st *statement) aliasesOf() map[string]*node {
	aliases := map[string]*node{}
	for _, i := range st.items {
		if i.value != nil {
			aliases[i.name] = i.value
		}
	}
	return aliases
}

// numbered returns the expression of a result column for its number, such as in GROUP BY 1.
func (st *statement) numbered(n *node) (*node, error) {
	position, ok := n.value.(float64)
	if n.op != "value" || !ok {
		return n, nil
	}
	if at := int(position); at >= 1 && at <= len(st.items) && st.items[at-1].value != nil {
		return st.items[at-1].value, nil
	}
	return nil, fmt.Errorf("there is no column %v", position)
}

// grouped returns the groups of GROUP BY, in the order of their first rows.
func (st *statement) grouped(matching []scope) (groups []rows, err error) {
	keys := make([]*node, len(st.group))
	for i, n := range st.group {
		if keys[i], err = st.numbered(n); err != nil {
			return nil, err
		}
	}
	aliases, position := st.aliasesOf(), map[string]int{}
	for _, s := range matching {
		var key strings.Builder
		for _, n := range keys {
			value, err := (rows{scope: s, aliases: aliases}).evaluate(n)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&key, "%T %v\x00", value, value)
		}
		at, ok := position[key.String()]
		if !ok {
			at = len(groups)
			position[key.String()] = at
			groups = append(groups, rows{scope: s})
		}
		groups[at].group = append(groups[at].group, s)
	}
	return groups, nil
}

// result orders the groups and returns the columns of the first ones.
func (st *statement) result(groups []rows) ([]map[string]any, error) {
	groups, err := st.ordered(groups)
	if err != nil {
		return nil, err
	}
	limit := maxRows
	if st.limit >= 0 {
		limit = min(limit, st.limit)
	}
	out := make([]map[string]any, 0, min(limit, len(groups)))
	for _, g := range groups[:min(limit, len(groups))] {
		columns := map[string]any{}
		for _, i := range st.items {
			if i.value == nil {
				for name, value := range g.row {
					columns[name] = plain(value)
				}
				continue
			}
			value, err := g.evaluate(i.value)
			if err != nil {
				return nil, err
			}
			columns[i.name] = plain(value)
		}
		out = append(out, columns)
	}
	return out, nil
}

// ordered sorts groups by ORDER BY. Null is the lowest value.
func (st *statement) ordered(groups []rows) ([]rows, error) {
	type sortable struct {
		rows
		keys []any
	}
	all, aliases := make([]sortable, len(groups)), st.aliasesOf()
	for i, g := range groups {
		all[i].rows = g
		g.aliases = aliases
		for _, key := range st.order {
			n, err := st.numbered(key.value)
			if err != nil {
				return nil, err
			}
			value, err := g.evaluate(n)
			if err != nil {
				return nil, err
			}
			all[i].keys = append(all[i].keys, value)
		}
	}
	slices.SortStableFunc(all, func(a, b sortable) int {
		for i, key := range st.order {
			order, ok := compare(a.keys[i], b.keys[i])
			if !ok && (a.keys[i] == nil) != (b.keys[i] == nil) {
				order = 1
				if a.keys[i] == nil {
					order = -1
				}
			}
			if key.descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	for i := range all {
		groups[i] = all[i].rows
	}
	return groups, nil
}

// plain returns a value as Logflare sends it: times in microseconds.
func plain(value any) any {
	switch v := value.(type) {
	case time.Time:
		return v.UnixMicro()
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	}
	return value
}
