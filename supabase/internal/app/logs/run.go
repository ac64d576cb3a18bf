package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxRows is the most rows of a result.
const maxRows = 1000

// maxGroups is the most groups of GROUP BY.
const maxGroups = 10_000

// queryTimeout bounds a query: it reads up to 50 MB.
const queryTimeout = 30 * time.Second

// Query returns the rows of a statement over the entries from start to end. Queries run one after
// the other.
func (s *Store) Query(ctx context.Context, sql string, start, end time.Time) ([]map[string]any, error) {
	st, err := parse(sql)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	select {
	case s.querying <- struct{}{}:
		defer func() { <-s.querying }()
	case <-ctx.Done():
		return nil, errors.New("the logs are busy; try again")
	}
	c, err := newCollector(st)
	if err != nil {
		return nil, err
	}
	if err := s.scan(ctx, c, start, end); err != nil {
		return nil, err
	}
	return st.result(c.all())
}

// scan collects the rows that the statement reads, after UNNEST and WHERE.
func (s *Store) scan(ctx context.Context, c *collector, start, end time.Time) error {
	if source := s.sources[c.table]; source != nil {
		entries, err := source(ctx, start, end)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := c.read(e); err != nil {
				return err
			}
		}
		return nil
	}
	services := tables[c.table]
	return s.Between(start, end, func(e Entry) error {
		if ctx.Err() != nil {
			return fmt.Errorf("the statement took more than %v", queryTimeout)
		}
		if !slices.Contains(services, e.Service) {
			return nil
		}
		return c.read(e)
	})
}

// read collects the rows of an entry.
func (c *collector) read(e Entry) error {
	expanded, err := c.expand(scope{alias: c.alias, row: row(c.table, e)})
	if err != nil {
		return err
	}
	for _, one := range expanded {
		keep := any(true)
		if c.where != nil {
			if keep, err = (rows{scope: one}).evaluate(c.where); err != nil {
				return err
			}
		}
		if keep == true {
			if err := c.add(one); err != nil {
				return err
			}
		}
	}
	return nil
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

// most returns the most rows of the result.
func (st *statement) most() int {
	if st.limit < 0 {
		return maxRows
	}
	return min(maxRows, st.limit)
}

// result returns the columns of the first groups.
func (st *statement) result(groups []rows) ([]map[string]any, error) {
	groups, err := st.first(groups)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, 0, len(groups))
	for _, g := range groups {
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

// first returns the first groups by ORDER BY. Null is the lowest value.
func (st *statement) first(groups []rows) ([]rows, error) {
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
	groups = groups[:min(st.most(), len(groups))]
	for i := range groups {
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
