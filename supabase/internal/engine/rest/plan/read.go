package plan

import (
	"slices"
	"strconv"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

// reader plans the relations to read: the root and its embedded relations.
type reader struct {
	resolver
	req  *Request
	opts Options
	in   string // the schema in which to search relationships
}

// read plans the reading part of a request whose root is table.
func read(c *schema.Cache, req *Request, table schema.Name, opts Options) (*Node, *apierror.Error) {
	r := reader{resolver: resolver{cache: c}, req: req, opts: opts, in: table.Schema}
	root := &Node{Name: table.Name, From: table, Range: ast.AllRows()}
	r.selectItems(root, req.Query.Select)
	if err := r.modify(root); err != nil {
		return nil, err
	}
	if req.Action != Read {
		root.From, root.As = schema.Name{Name: Source}, root.Name
	}
	if err := r.relate(root); err != nil {
		return nil, err
	}
	r.expandStars(root, false)
	alias(root)
	if err := r.relatedOrders(root); err != nil {
		return nil, err
	}
	testEmbedded(root)
	if err := r.lift(root); err != nil {
		return nil, err
	}
	if !r.mutates() && opts.MaxRows != nil {
		limit(root, *opts.MaxRows)
	}
	return root, nil
}

// mutates reports whether the request writes. A mutation filters in the mutation itself, so the
// filters of its root are not part of the reading part.
func (r *reader) mutates() bool { return r.req.Action != Read && r.req.Action != Call }

// modify adds the filters, orders, ranges and logic of the request to the nodes that they name.
func (r *reader) modify(root *Node) *apierror.Error {
	mutates := r.mutates()
	for _, f := range r.req.Query.Filters {
		if mutates && len(f.Path) == 0 {
			continue
		}
		if err := r.withNode(root, f.Path, func(n *Node) {
			q := r.at(n.From).queried(f.Value)
			n.Where = append(n.Where, Cond{Filter: &q})
		}); err != nil {
			return err
		}
	}
	for _, o := range slices.Backward(r.req.Query.Order) { // the first order of a relation counts
		if err := r.withNode(root, o.Path, func(n *Node) { n.Order = r.order(n, o.Value) }); err != nil {
			return err
		}
	}
	if !mutates {
		root.Range = r.req.Range
		for _, rg := range r.req.Query.Ranges {
			if err := r.withNode(root, rg.Path, func(n *Node) { n.Range = rg.Value }); err != nil {
				return err
			}
		}
	}
	for _, l := range r.req.Query.Logic {
		if mutates && len(l.Path) == 0 {
			continue
		}
		if err := r.withNode(root, l.Path,
			func(n *Node) { n.Where = append(n.Where, r.at(n.From).cond(l.Value)) }); err != nil {
			return err
		}
	}
	return nil
}

// limit applies a number of rows to a node and its descendants.
func limit(n *Node, rows int64) {
	n.Range = n.Range.AtMost(rows)
	for _, c := range n.Children {
		limit(c, rows)
	}
}

// selectItems adds the selected fields and the embedded relations to a node.
func (r *reader) selectItems(n *Node, items []ast.SelectItem) {
	res := r.at(n.From)
	for _, it := range items {
		if it.Relation == "" {
			n.Select = append(n.Select, SelectField{Field: res.output(it.Field), Cast: it.Cast, Aggregate: it.Aggregate,
				AggregateCast: it.AggregateCast, Alias: it.Alias})
			continue
		}
		child := &Node{Name: it.Relation, Alias: it.Alias, Hint: it.Hint, Join: it.Join, Range: ast.AllRows(),
			depth: n.depth + 1, From: schema.Name{Schema: r.in, Name: it.Relation}}
		if it.Spread {
			child.Spread = SpreadOne
		}
		r.selectItems(child, it.Items)
		n.Children = append(n.Children, child)
	}
}

// order resolves order terms of a node.
func (r *reader) order(n *Node, terms []ast.OrderTerm) []Order {
	res := r.at(r.req.Target)
	if n.depth > 0 || r.req.Action == Call {
		res = r.at(n.From)
	}
	out := make([]Order, len(terms))
	for i, t := range terms {
		out[i] = Order{Embed: t.Relation, Direction: t.Direction, Nulls: t.Nulls}
		if t.Relation == "" {
			out[i].Field = res.any(t.Field)
		} else {
			out[i].Field = Field{Name: t.Field.Name, Path: t.Field.Path, ToJSON: true}
		}
	}
	return out
}

// withNode calls fn with the node that a path of names leads to.
func (r *reader) withNode(root *Node, path ast.Path, fn func(*Node)) *apierror.Error {
	n := root
	for _, name := range path {
		var next *Node
		for _, c := range n.Children {
			if c.Key() == name || r.opts.LegacyTargetNames && c.Name == name {
				next = c
				break
			}
		}
		if next == nil {
			legacy := ""
			for _, c := range n.Children {
				if c.Name == name && c.Alias != "" && c.Alias != name {
					legacy = c.Alias
					break
				}
			}
			return errNotEmbedded(name, legacy)
		}
		if next.Alias != "" && next.Alias != name {
			next.legacy = true
		}
		n = next
	}
	fn(n)
	return nil
}

// relate finds the relationship of every embedded node and sets the node's names in SQL.
func (r *reader) relate(n *Node) *apierror.Error {
	origin := n.From.Name
	if n.depth == 0 && n.As != "" {
		origin = n.As
	}
	for _, c := range n.Children {
		rel, err := r.find(origin, c.Name, c.Hint)
		if err != nil {
			return err
		}
		c.Rel, c.From = rel, rel.Foreign
		depth := strconv.Itoa(c.depth)
		c.Embed = embedName(rel.Table.Name + "_" + c.Key() + "_" + depth)
		c.Parent = n.As
		if rel.Cardinality != schema.ManyToMany {
			c.As = rel.Foreign.Name + "_" + depth
		}
		if c.Spread != NoSpread && !rel.ToOne() {
			c.Spread = SpreadMany
		}
		if err := r.relate(c); err != nil {
			return err
		}
	}
	return nil
}

// embedName shortens an alias to the 63 bytes that Postgres allows. It keeps the end, which
// distinguishes aliases.
func embedName(s string) string {
	const most = 63
	if len(s) <= most {
		return s
	}
	return s[len(s)-most:]
}

// expandStars replaces * with the columns where they must be known: for domain representations, for
// aggregates that group, and in to-many spreads.
func (r *reader) expandStars(n *Node, aggregates bool) {
	for _, s := range n.Select {
		aggregates = aggregates || s.Aggregate != ""
	}
	aggregates = aggregates || n.Spread == SpreadMany
	at := n.From
	if n.From.Schema == "" {
		at = schema.Name{Schema: r.in, Name: n.As}
	}
	res := r.at(at)
	represented := false
	if res.table != nil {
		for _, c := range res.table.Columns {
			if _, ok := r.cache.Representations[[2]string{c.Nominal, "json"}]; ok {
				represented = true
			}
		}
	}
	if aggregates || represented {
		var out []SelectField
		for _, s := range n.Select {
			switch {
			case s.Name != "*" || len(s.Path) > 0:
				out = append(out, s)
			case s.Aggregate == ast.Count && n.Spread != NoSpread:
				s.WholeRow = true
				out = append(out, s)
			case s.Aggregate != "":
				out = append(out, s)
			case res.table != nil:
				for _, c := range res.table.Columns {
					copied := s
					f := column(&c)
					copied.Field = r.transform(f, f.Type, "json")
					out = append(out, copied)
				}
			}
		}
		n.Select = out
	}
	for _, c := range n.Children {
		r.expandStars(c, aggregates)
	}
}

// alias sets an alias for the selected fields that Postgres would give another name than PostgREST
// does.
func alias(n *Node) {
	for i := range n.Select {
		s := &n.Select[i]
		switch {
		case s.Alias != "":
		case s.Aggregate != "":
			if n.Spread != NoSpread {
				s.Alias = string(s.Aggregate)
			}
		case len(s.Path) > 0:
			s.Alias = s.Name
			for j := len(s.Path) - 1; j >= 0; j-- {
				if !s.Path[j].Index {
					s.Alias = s.Path[j].Key
					break
				}
			}
		case s.Transform != "":
			s.Alias = s.Name
		}
	}
	for _, c := range n.Children {
		alias(c)
	}
}

// relatedOrders resolves the order terms that name an embedded relation.
func (r *reader) relatedOrders(n *Node) *apierror.Error {
	for i := range n.Order {
		o := &n.Order[i]
		if o.Embed == "" {
			continue
		}
		c := child(n, o.Embed)
		if c == nil {
			return errNotEmbedded(o.Embed, "")
		}
		if !c.Rel.ToOne() {
			return errRelatedOrder(n.From.Name, c.Key())
		}
		o.Embed = c.Embed
	}
	for _, c := range n.Children {
		if err := r.relatedOrders(c); err != nil {
			return err
		}
	}
	return nil
}

// child returns the embedded relation with a name, nil if there is none.
func child(n *Node, key string) *Node {
	for _, c := range n.Children {
		if c.Key() == key {
			return c
		}
	}
	return nil
}

// testEmbedded converts filters such as child=is.null to tests of the embedded relation.
func testEmbedded(n *Node) {
	var walk func([]Cond)
	walk = func(conds []Cond) {
		for i := range conds {
			c := &conds[i]
			walk(c.Children)
			f := c.Filter
			if f == nil || f.Op != "is" || f.Value.Text != "null" || len(f.Field.Path) > 0 {
				continue
			}
			if embedded := child(n, f.Field.Name); embedded != nil {
				c.Absent, c.Not, c.Filter = embedded, f.Not, nil
			}
		}
	}
	walk(n.Where)
	for _, c := range n.Children {
		testEmbedded(c)
	}
}
