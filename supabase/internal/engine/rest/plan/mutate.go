package plan

import (
	"slices"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

// Make plans a request.
func Make(c *schema.Cache, req *Request, opts Options) (*Plan, *apierror.Error) {
	if req.Action == Call {
		return call(c, req, opts)
	}
	table, ok := c.Tables[req.Target]
	if !ok {
		return nil, errTableNotFound(c, req.Target)
	}
	root, err := read(c, req, req.Target, opts)
	if err != nil {
		return nil, err
	}
	p := &Plan{Read: root, Legacy: legacy(root, nil)}
	if req.Action != Read {
		if p.Mutation, err = mutate(c, req, table, root); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// legacy appends the name and the alias of each node that a filter names by its relation although
// it has an alias.
func legacy(n *Node, found [][2]string) [][2]string {
	if n.legacy {
		found = append(found, [2]string{n.Name, n.Alias})
	}
	for _, c := range n.Children {
		found = legacy(c, found)
	}
	return found
}

// mutate plans the part of a request that writes.
func mutate(c *schema.Cache, req *Request, table *schema.Table, root *Node) (*Mutation, *apierror.Error) {
	res := resolver{cache: c, table: table}
	m := &Mutation{Action: req.Action, Table: table.Name, Body: req.Body, Key: table.Key}
	if req.Prefs.Return == "representation" || req.Prefs.Return == "headers-only" {
		m.Returning = needed(root, table.Key)
		m.Key = slices.Sorted(slices.Values(table.Key))
		// Location then has the key's columns in the order of the table
		if len(m.Returning) > 0 && m.Returning[0] == "*" {
			slices.SortFunc(m.Key, func(a, b string) int { return table.Position(a) - table.Position(b) })
		}
	}
	if req.Action == Upsert {
		if err := checkPut(req, table); err != nil {
			return nil, err
		}
	}
	if req.Action != Insert {
		for _, f := range req.Query.Filters {
			if len(f.Path) == 0 {
				q := res.queried(f.Value)
				m.Where = append(m.Where, Cond{Filter: &q})
			}
		}
		for _, l := range req.Query.Logic {
			if len(l.Path) == 0 {
				m.Where = append(m.Where, res.cond(l.Value))
			}
		}
	}
	if req.Action == Delete {
		return m, nil
	}
	for _, k := range req.Keys {
		f, ok := res.written(k)
		if !ok {
			return nil, errColumnNotFound(table.Name.Name, k)
		}
		m.Columns = append(m.Columns, f)
	}
	m.Defaults = req.Prefs.Missing == "default" && req.Action != Upsert
	switch {
	case req.Action == Upsert:
		m.Resolution, m.Conflict = "merge-duplicates", table.Key
	case req.Action == Insert && req.Prefs.Resolution != "":
		m.Resolution, m.Conflict = req.Prefs.Resolution, table.Key
		if req.Query.OnConflict != nil {
			m.Conflict = req.Query.OnConflict
		}
	}
	return m, nil
}

// checkPut returns an error unless the filters are exactly col=eq.value for all columns of the
// primary key.
func checkPut(req *Request, table *schema.Table) *apierror.Error {
	refuse := apierror.Errorf(405, "PGRST105",
		"Filters must include all and only primary key columns with 'eq' operators")
	key := slices.Sorted(slices.Values(table.Key))
	if len(req.Query.Logic) > 0 || len(key) == 0 || !slices.Equal(req.Query.FilterKeys, key) {
		return refuse
	}
	for _, f := range req.Query.Filters {
		v := f.Value
		if len(f.Path) == 0 && (v.Not || v.Op != "eq" || v.Quantifier != ast.NoQuantifier) {
			return refuse
		}
	}
	return nil
}

// needed returns the columns that the reading part needs: the selected ones, the primary key for
// Location, and those that the embedded relations join on.
func needed(root *Node, key []string) []string {
	var names []string
	add := func(n string) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, s := range root.Select {
		if s.Name == "*" {
			return []string{"*"}
		}
		add(s.Name)
	}
	for _, c := range root.Children {
		switch {
		case c.Rel.Computed():
			return []string{"*"}
		case c.Rel.Junction != nil:
			for _, p := range c.Rel.Junction.FromColumns {
				add(p.From)
			}
		default:
			for _, p := range c.Rel.Columns {
				add(p.From)
			}
		}
	}
	for _, k := range key {
		add(k)
	}
	slices.Sort(names)
	return names
}
