package plan

import (
	"strconv"

	"daawo/supabase/internal/base/apierror"
)

// lift sets the columns that parents select from spread relations, and where aggregates in spreads
// are computed. An aggregate in a to-one spread moves up to the nearest relation that is not a
// spread, because a single row has nothing to aggregate.
func (r *reader) lift(root *Node) *apierror.Error {
	if !r.opts.Aggregates && hasAggregate(root) {
		return apierror.Errorf(400, "PGRST123", "Use of aggregate functions is not allowed")
	}
	liftColumns(root)
	hoist(root)
	return orderSpreads(root)
}

// hasAggregate reports whether a node or one of its descendants selects an aggregate.
func hasAggregate(n *Node) bool {
	for _, s := range n.Select {
		if s.Aggregate != "" {
			return true
		}
	}
	for _, c := range n.Children {
		if hasAggregate(c) {
			return true
		}
	}
	return false
}

// liftColumns sets Lifted of all nodes, children first.
func liftColumns(n *Node) {
	for _, c := range n.Children {
		liftColumns(c)
	}
	if n.Spread == NoSpread {
		return
	}
	n.Lifted = nil
	for _, s := range n.Select {
		name := s.Alias
		if name == "" {
			name = s.Name
		}
		n.Lifted = append(n.Lifted, Lifted{Name: name})
	}
	for _, c := range n.Children {
		if c.Spread == NoSpread {
			n.Lifted = append(n.Lifted, Lifted{Name: c.Key()})
			continue
		}
		n.Lifted = append(n.Lifted, c.Lifted...)
	}
}

// hoisted is an aggregate that moves up to a parent.
type hoisted struct {
	name string // the column in the embedded rows
	agg  Lifted
}

// hoist moves aggregates out of to-one spreads. It returns those that have to move further up.
func hoist(n *Node) []hoisted {
	type fromChild struct {
		child *Node
		list  []hoisted
	}
	var fromChildren []fromChild
	for _, c := range n.Children {
		if h := hoist(c); len(h) > 0 {
			fromChildren = append(fromChildren, fromChild{c, h})
		}
	}
	if n.Spread == SpreadOne {
		var up []hoisted
		for i := range n.Select {
			s := &n.Select[i]
			if s.Aggregate == "" {
				continue
			}
			name := s.Alias
			if name == "" {
				name = s.Name
			}
			up = append(up, hoisted{name,
				Lifted{Name: name, Aggregate: s.Aggregate, AggregateCast: s.AggregateCast, Alias: s.Alias}})
			s.Aggregate, s.AggregateCast = "", ""
		}
		for _, f := range fromChildren {
			up = append(up, f.list...)
		}
		return up
	}
	for _, f := range fromChildren {
		for _, h := range f.list {
			for i := range f.child.Lifted {
				if f.child.Lifted[i].Name == h.name && f.child.Lifted[i].Aggregate == "" {
					f.child.Lifted[i] = h.agg
					break
				}
			}
		}
	}
	return nil
}

// orderSpreads moves the order of a to-many spread from its rows to the arrays of its columns.
func orderSpreads(n *Node) *apierror.Error {
	if n.Spread == SpreadMany {
		if aggregated(n) {
			e := apierror.Errorf(400, "PGRST127", "Feature not implemented")
			e.Details = "Aggregates are not implemented for one-to-many or many-to-many spreads."
			return e
		}
		for i := range n.Order {
			o := &n.Order[i]
			name := embedName(n.Embed + "_" + o.Field.Name + "_" + strconv.Itoa(i+1))
			n.SpreadExtra = append(n.SpreadExtra,
				SpreadExtra{Embed: o.Embed, SelectField: SelectField{Field: o.Field, Alias: name}})
			o.Field, o.Embed = Field{Name: name}, ""
		}
	}
	for _, c := range n.Children {
		if err := orderSpreads(c); err != nil {
			return err
		}
	}
	return nil
}

// aggregated reports whether a node selects an aggregate, itself or from a spread.
func aggregated(n *Node) bool {
	for _, s := range n.Select {
		if s.Aggregate != "" {
			return true
		}
	}
	for _, c := range n.Children {
		for _, l := range c.Lifted {
			if c.Spread != NoSpread && l.Aggregate != "" {
				return true
			}
		}
	}
	return false
}
