package sql

import (
	"strconv"

	"daawo/supabase/internal/rest/ast"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
)

// ref is how the columns of a node are referred to.
func ref(n *plan.Node) schema.Name {
	if n.As != "" {
		return schema.Name{Name: n.As}
	}
	return n.From
}

// parentRef is how the columns of a node's parent are referred to.
func parentRef(n *plan.Node) schema.Name {
	if n.Parent != "" {
		return schema.Name{Name: n.Parent}
	}
	return n.Rel.Table
}

// selectFrom writes the query of a node: its columns, what is embedded, the conditions, groups, order and range.
func (b *builder) selectFrom(n *plan.Node) {
	of := ref(n)
	b.put("select ")
	b.columns(n, of)
	b.from(n)
	for _, c := range n.Children {
		b.join(c)
	}
	b.conditions(n, of, func(c plan.Cond) { b.absent(c) })
	b.group(n, of)
	if len(n.Order) > 0 && n.Spread != plan.SpreadMany {
		b.put(" order by ")
		b.order(of, n.Order)
	}
	b.limit(n.Range)
}

func (b *builder) limit(r ast.Range) {
	if r.IsAll() {
		return
	}
	// A limit is written out: with a parameter in its place Postgres cannot tell a short page from a long one, and plans
	// anew for each request. Offsets differ from request to request and stay a parameter.
	if l, ok := r.Limit(); ok {
		b.put(" limit ", strconv.FormatInt(max(l, 0), 10))
	}
	if r.Lo != 0 {
		b.put(" offset ")
		b.text(strconv.FormatInt(r.Lo, 10))
	}
}

func (b *builder) columns(n *plan.Node, of schema.Name) {
	first := true
	next := func() {
		if !first {
			b.put(", ")
		}
		first = false
	}
	if len(n.Select) == 0 && len(n.Children) == 0 {
		next()
		b.column(of, "*") // nothing is selected: the rows count, what is in them is hidden by the parent
	}
	for _, s := range n.Select {
		next()
		b.selected(of, s)
	}
	for _, x := range n.SpreadExtra {
		next()
		at := of
		if x.Embed != "" {
			at = schema.Name{Name: x.Embed}
		}
		b.selected(at, x.SelectField)
	}
	for _, c := range n.Children {
		switch {
		case c.Spread != plan.NoSpread:
			for _, l := range c.Lifted {
				next()
				b.lifted(c, l)
			}
		case c.Hidden():
		default:
			next()
			b.embedded(c)
		}
	}
	if first {
		b.put("1")
	}
}

func (b *builder) selected(of schema.Name, s plan.SelectField) {
	end := b.aggregate(s.Aggregate, s.AggregateCast)
	if s.Cast != "" {
		b.put("cast(")
	}
	if s.Transform != "" {
		b.put(s.Transform, "(")
	}
	if s.Name == "*" && s.Aggregate == ast.Count && !s.WholeRow {
		b.put("*")
	} else {
		b.field(of, s.Field)
	}
	if s.Transform != "" {
		b.put(")")
	}
	if s.Cast != "" {
		b.put(" as ", s.Cast, ")")
	}
	end()
	if s.Alias != "" {
		b.put(" as ")
		b.ident(s.Alias)
	}
}

// aggregate opens an aggregate and gives what closes it.
func (b *builder) aggregate(a ast.Aggregate, cast string) (end func()) {
	if a == "" {
		return func() {}
	}
	if cast != "" {
		b.put("cast(")
	}
	b.put(string(a), "(")
	return func() {
		b.put(")")
		if cast != "" {
			b.put(" as ", cast, ")")
		}
	}
}

func (b *builder) lifted(c *plan.Node, l plan.Lifted) {
	end := b.aggregate(l.Aggregate, l.AggregateCast)
	b.column(schema.Name{Name: c.Embed}, l.Name)
	end()
	if l.Alias != "" {
		b.put(" as ")
		b.ident(l.Alias)
	}
}

// embedded writes the JSON of an embedded relation: one object or null, or an array. It is jsonb, as json can neither be
// compared nor grouped by.
func (b *builder) embedded(c *plan.Node) {
	if c.Rel.ToOne() {
		b.put("row_to_json(")
		b.ident(c.Embed)
		b.put(".*)::jsonb as ")
	} else {
		b.put("coalesce(")
		b.column(schema.Name{Name: c.Embed}, c.Embed)
		b.put(", '[]') as ")
	}
	b.ident(c.Key())
}

func (b *builder) from(n *plan.Node) {
	b.put(" from ")
	if n.Rel != nil && n.Rel.Computed() {
		b.name(n.Rel.Function)
		b.put("(")
		b.name(parentAlias(n))
		// The rows of a mutation or a call have no type of their own: the cast picks the overload.
		b.put("::")
		b.name(n.Rel.Table)
		b.put(")")
	} else {
		b.name(n.From)
	}
	if n.As != "" {
		b.put(" as ")
		b.ident(n.As)
	}
	if n.Rel != nil && n.Rel.Junction != nil {
		b.put(", ")
		b.name(n.Rel.Junction.Table)
	}
}

// parentAlias is the whole row of the parent, which is named without its schema.
func parentAlias(n *plan.Node) schema.Name {
	return schema.Name{Name: parentRef(n).Name}
}

// join attaches an embedded relation. A to-one relation gives its row; a to-many relation its rows as one array, or for a
// spread each of its columns as an array.
func (b *builder) join(c *plan.Node) {
	if c.Join == ast.InnerJoin {
		b.put(" inner join lateral (")
	} else {
		b.put(" left join lateral (")
	}
	rows := func() {
		b.put("select json_agg(")
		b.ident(c.Embed)
		b.put(".*)::jsonb as ")
		b.ident(c.Embed)
	}
	switch {
	case c.Spread == plan.SpreadMany:
		inner := schema.Name{Name: c.Embed}
		rows()
		for _, l := range c.Lifted {
			b.put(", coalesce(json_agg(")
			b.column(inner, l.Name)
			if len(c.Order) > 0 {
				b.put(" order by ")
				b.order(inner, c.Order)
			}
			b.put("), '[]')::jsonb as ")
			if l.Alias != "" {
				b.ident(l.Alias)
			} else {
				b.ident(l.Name)
			}
		}
		b.put(" from (")
		b.selectFrom(c)
		b.put(") as ")
		b.ident(c.Embed)
	case c.Spread == plan.SpreadOne || c.Rel.ToOne():
		b.selectFrom(c)
	default:
		rows()
		b.put(" from (")
		b.selectFrom(c)
		b.put(") as ")
		b.ident(c.Embed)
	}
	b.put(") as ")
	b.ident(c.Embed)
	b.put(" on ")
	if c.Join == ast.InnerJoin && !c.Rel.ToOne() {
		b.column(schema.Name{Name: c.Embed}, c.Embed)
		b.put(" is not null")
		return
	}
	b.put("true")
}

// conditions writes the where clause: the filters and how the node hangs on its parent.
func (b *builder) conditions(n *plan.Node, of schema.Name, absent func(plan.Cond)) {
	keyword := " where "
	and := func() {
		b.put(keyword)
		keyword = " and "
	}
	for _, c := range n.Where {
		and()
		b.cond(of, c, absent)
	}
	if n.Rel == nil || n.Rel.Computed() {
		return
	}
	parent := parentRef(n)
	equal := func(a schema.Name, ac string, o schema.Name, oc string) {
		and()
		b.column(a, ac)
		b.put(" = ")
		b.column(o, oc)
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

// absent tests a joined relation for emptiness.
func (b *builder) absent(c plan.Cond) {
	embed := c.Absent.Embed
	// A row of nulls "is null", but is there: that is why a row is compared.
	is, isNot := " is null", " is not null"
	if c.Absent.Rel.ToOne() {
		b.ident(embed)
		is, isNot = " is not distinct from null", " is distinct from null"
	} else {
		b.column(schema.Name{Name: embed}, embed)
	}
	if c.Not {
		b.put(isNot)
	} else {
		b.put(is)
	}
}

// groups says whether a node aggregates its rows.
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

// group groups by everything selected that is no aggregate, when there is one.
func (b *builder) group(n *plan.Node, of schema.Name) {
	if !groups(n) {
		return
	}
	sep := " group by "
	term := func() {
		b.put(sep)
		sep = ", "
	}
	for _, s := range n.Select {
		switch {
		case s.Aggregate != "":
		case s.Alias != "":
			term()
			b.ident(s.Alias)
		default:
			term()
			b.field(of, s.Field)
		}
	}
	for _, c := range n.Children {
		if c.Spread == plan.NoSpread {
			if !c.Hidden() {
				term()
				b.ident(c.Key())
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
				b.column(schema.Name{Name: c.Embed}, name)
			}
		}
	}
}

// countFrom writes the query whose rows are the root's rows without its range. Inner joins count as exists.
func (b *builder) countFrom(n *plan.Node) {
	of := ref(n)
	b.put("select 1")
	b.from(n)
	b.conditions(n, of, func(c plan.Cond) {
		if !c.Not {
			b.put("not ")
		}
		b.put("exists (")
		b.countFrom(c.Absent)
		b.put(")")
	})
	keyword := " where "
	if len(n.Where) > 0 || n.Rel != nil && !n.Rel.Computed() {
		keyword = " and "
	}
	for _, c := range n.Children {
		if c.Join == ast.InnerJoin {
			b.put(keyword, "exists (")
			keyword = " and "
			b.countFrom(c)
			b.put(")")
		}
	}
}
