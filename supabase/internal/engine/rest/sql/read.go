package sql

import (
	"strconv"

	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

// selectWriter writes the query of a tree of nodes.
type selectWriter struct {
	condWriter
	json bool // embedded relations have the type json, see Columns
}

// ref returns the name that qualifies the columns of a node.
func ref(n *plan.Node) schema.Name {
	if n.As != "" {
		return schema.Name{Name: n.As}
	}
	return n.From
}

// parentRef returns the name that qualifies the columns of a node's parent.
func parentRef(n *plan.Node) schema.Name {
	if n.Parent != "" {
		return schema.Name{Name: n.Parent}
	}
	return n.Rel.Table
}

// selectFrom writes the query of a node: columns, embedded relations, conditions, groups, order and
// range.
func (w selectWriter) selectFrom(n *plan.Node) {
	of := ref(n)
	w.put("select ")
	w.columns(n, of)
	w.from(n)
	for _, c := range n.Children {
		w.join(c)
	}
	w.conditions(n, of, func(c plan.Cond) { w.absent(c) })
	w.group(n, of)
	if len(n.Order) > 0 && n.Spread != plan.SpreadMany {
		w.put(" order by ")
		w.order(of, n.Order)
	}
	w.limit(n.Range)
}

func (w selectWriter) limit(r ast.Range) {
	if r.IsAll() {
		return
	}
	// The limit is a constant: with a parameter Postgres cannot tell a short page from a long one,
	// and makes a new plan for each request. The offset differs from request to request and is a
	// parameter.
	if l, ok := r.Limit(); ok {
		w.put(" limit ", strconv.FormatInt(l, 10))
	}
	if r.Lo != 0 {
		w.put(" offset ")
		w.text(strconv.FormatInt(r.Lo, 10))
	}
}

// columns writes the select list of a node.
func (w selectWriter) columns(n *plan.Node, of schema.Name) {
	first := true
	next := func() {
		if !first {
			w.put(", ")
		}
		first = false
	}
	if len(n.Select) == 0 && len(n.Children) == 0 {
		next()
		w.column(of, "*") // nothing is selected: only the rows count, the parent hides their columns
	}
	for _, s := range n.Select {
		next()
		w.selected(of, s)
	}
	for _, x := range n.SpreadExtra {
		next()
		at := of
		if x.Embed != "" {
			at = schema.Name{Name: x.Embed}
		}
		w.selected(at, x.SelectField)
	}
	for _, c := range n.Children {
		switch {
		case c.Spread != plan.NoSpread:
			for _, l := range c.Lifted {
				next()
				w.lifted(c, l)
			}
		case c.Hidden():
		default:
			next()
			w.embedded(c)
		}
	}
	if first && n.Rel != nil {
		w.put("1") // the parent hides the column; the rows of the root have none
	}
}

// selected writes one selected column with its cast, aggregate and alias.
func (w selectWriter) selected(of schema.Name, s plan.SelectField) {
	end := w.aggregate(s.Aggregate, s.AggregateCast)
	if s.Cast != "" {
		w.put("cast(")
	}
	if s.Transform != "" {
		w.put(s.Transform, "(")
	}
	if s.Name == "*" && s.Aggregate == ast.Count && !s.WholeRow {
		w.put("*")
	} else {
		w.field(of, s.Field)
	}
	if s.Transform != "" {
		w.put(")")
	}
	if s.Cast != "" {
		w.put(" as ", s.Cast, ")")
	}
	end()
	if s.Alias != "" {
		w.put(" as ")
		w.ident(s.Alias)
	}
}

// aggregate writes the beginning of an aggregate and returns the function that writes its end.
func (w selectWriter) aggregate(a ast.Aggregate, cast string) (end func()) {
	if a == "" {
		return func() {}
	}
	if cast != "" {
		w.put("cast(")
	}
	w.put(string(a), "(")
	return func() {
		w.put(")")
		if cast != "" {
			w.put(" as ", cast, ")")
		}
	}
}

// lifted writes a column that is taken from a spread relation.
func (w selectWriter) lifted(c *plan.Node, l plan.Lifted) {
	end := w.aggregate(l.Aggregate, l.AggregateCast)
	w.column(schema.Name{Name: c.Embed}, l.Name)
	end()
	if l.Alias != "" {
		w.put(" as ")
		w.ident(l.Alias)
	}
}

// embedded writes the JSON of an embedded relation: one object or null, or an array.
func (w selectWriter) embedded(c *plan.Node) {
	if c.Rel.ToOne() {
		w.put("row_to_json(")
		w.ident(c.Embed)
		w.put(".*)", w.embedCast(), " as ")
	} else {
		w.put("coalesce(")
		w.column(schema.Name{Name: c.Embed}, c.Embed)
		w.put(", '[]') as ")
	}
	w.ident(c.Key())
}

// embedCast returns the cast of an embedded relation. The type is jsonb, because json can neither
// be compared nor grouped by, and because clients know jsonb's order of keys.
func (w selectWriter) embedCast() string {
	if w.json {
		return ""
	}
	return "::jsonb"
}

// mayEmbedJSON reports whether the embedded relations of a tree may have the type json. Then they
// are the last columns of the root, one for each child.
func mayEmbedJSON(n *plan.Node) bool {
	if groups(n) {
		return false
	}
	for _, c := range n.Children {
		if c.Spread != plan.NoSpread || !mayEmbedJSON(c) {
			return false
		}
	}
	return true
}

func (w selectWriter) from(n *plan.Node) {
	w.put(" from ")
	if n.Rel != nil && n.Rel.Computed() {
		w.name(n.Rel.Function)
		w.put("(")
		// The star makes it a row even where a column has the same name. The rows of a mutation or
		// a call have no named type: the cast chooses the overload.
		w.column(parentAlias(n), "*")
		w.put("::")
		w.name(n.Rel.Table)
		w.put(")")
	} else {
		w.name(n.From)
	}
	if n.As != "" {
		w.put(" as ")
		w.ident(n.As)
	}
	if n.Rel != nil && n.Rel.Junction != nil {
		w.put(", ")
		w.name(n.Rel.Junction.Table)
	}
}

// parentAlias returns the name of the parent's whole row, which has no schema.
func parentAlias(n *plan.Node) schema.Name {
	return schema.Name{Name: parentRef(n).Name}
}

// join writes the join of an embedded relation. A to-one relation yields its row, a to-many
// relation one array of its rows, and a to-many spread one array for each column.
func (w selectWriter) join(c *plan.Node) {
	if c.Join == ast.InnerJoin {
		w.put(" inner join lateral (")
	} else {
		w.put(" left join lateral (")
	}
	rows := func() {
		w.put("select json_agg(")
		w.ident(c.Embed)
		w.put(".*)", w.embedCast(), " as ")
		w.ident(c.Embed)
	}
	switch {
	case c.Spread == plan.SpreadMany:
		inner := schema.Name{Name: c.Embed}
		rows()
		for _, l := range c.Lifted {
			w.put(", coalesce(json_agg(")
			w.column(inner, l.Name)
			if len(c.Order) > 0 {
				w.put(" order by ")
				w.order(inner, c.Order)
			}
			w.put("), '[]')::jsonb as ")
			if l.Alias != "" {
				w.ident(l.Alias)
			} else {
				w.ident(l.Name)
			}
		}
		w.put(" from (")
		w.selectFrom(c)
		w.put(") as ")
		w.ident(c.Embed)
	case c.Spread == plan.SpreadOne || c.Rel.ToOne():
		w.selectFrom(c)
	default:
		rows()
		w.put(" from (")
		w.selectFrom(c)
		w.put(") as ")
		w.ident(c.Embed)
	}
	w.put(") as ")
	w.ident(c.Embed)
	w.put(" on ")
	if c.Join == ast.InnerJoin && !c.Rel.ToOne() {
		w.column(schema.Name{Name: c.Embed}, c.Embed)
		w.put(" is not null")
		return
	}
	w.put("true")
}

// conditions writes the where clause: the filters and the join condition with the parent.
func (w selectWriter) conditions(n *plan.Node, of schema.Name, absent func(plan.Cond)) {
	keyword := " where "
	and := func() {
		w.put(keyword)
		keyword = " and "
	}
	for _, c := range n.Where {
		and()
		w.cond(of, c, absent)
	}
	if n.Rel == nil || n.Rel.Computed() {
		return
	}
	parent := parentRef(n)
	equal := func(a schema.Name, ac string, o schema.Name, oc string) {
		and()
		w.column(a, ac)
		w.put(" = ")
		w.column(o, oc)
	}
	if j := n.Rel.Junction; j != nil {
		for _, p := range j.ToColumns {
			equal(n.From, p.From, j.Table, p.To)
		}
		for _, p := range j.FromColumns {
			equal(parent, p.From, j.Table, p.To)
		}
		return
	}
	for _, p := range n.Rel.Columns {
		equal(of, p.To, parent, p.From)
	}
}

// absent writes the test whether a joined relation is empty.
func (w selectWriter) absent(c plan.Cond) {
	embed := c.Absent.Embed
	// "is null" is also true for an existing row of nulls, so a row needs "is not distinct from".
	is, isNot := " is null", " is not null"
	if c.Absent.Rel.ToOne() {
		w.ident(embed)
		is, isNot = " is not distinct from null", " is distinct from null"
	} else {
		w.column(schema.Name{Name: embed}, embed)
	}
	if c.Not {
		w.put(isNot)
	} else {
		w.put(is)
	}
}

// groups reports whether a node aggregates its rows.
func groups(n *plan.Node) bool {
	for _, s := range n.Select {
		if s.Aggregate != "" {
			return true
		}
	}
	for _, c := range n.Children {
		for _, l := range c.Lifted {
			if c.Spread != plan.NoSpread && l.Aggregate != "" {
				return true
			}
		}
	}
	return false
}

// group writes the group by clause: all selected columns except aggregates. Without an aggregate it
// writes nothing.
func (w selectWriter) group(n *plan.Node, of schema.Name) {
	if !groups(n) {
		return
	}
	sep := " group by "
	term := func() {
		w.put(sep)
		sep = ", "
	}
	for _, s := range n.Select {
		switch {
		case s.Aggregate != "":
		case s.Alias != "":
			term()
			w.ident(s.Alias)
		default:
			term()
			w.field(of, s.Field)
		}
	}
	for _, c := range n.Children {
		if c.Spread == plan.NoSpread {
			if !c.Hidden() {
				term()
				w.ident(c.Key())
			}
			continue
		}
		for _, l := range c.Lifted {
			if l.Aggregate == "" {
				term()
				name := l.Name
				if l.Alias != "" {
					name = l.Alias
				}
				w.column(schema.Name{Name: c.Embed}, name)
			}
		}
	}
}

// countFrom writes a query that returns one row for each row of the root, without its range. Inner
// joins become exists.
func (w selectWriter) countFrom(n *plan.Node) {
	of := ref(n)
	w.put("select 1")
	w.from(n)
	w.conditions(n, of, func(c plan.Cond) {
		if !c.Not {
			w.put("not ")
		}
		w.put("exists (")
		w.countFrom(c.Absent)
		w.put(")")
	})
	keyword := " where "
	if len(n.Where) > 0 || n.Rel != nil && !n.Rel.Computed() {
		keyword = " and "
	}
	for _, c := range n.Children {
		if c.Join == ast.InnerJoin {
			w.put(keyword, "exists (")
			keyword = " and "
			w.countFrom(c)
			w.put(")")
		}
	}
}
