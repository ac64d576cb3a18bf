package schema

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/catalog"
)

// graph holds the input for the relationships. Relations and columns are numbers, as in the
// catalogue.
type graph struct {
	relations map[int64]*relation
	keys      []key
	views     []view
	computed  []*Relationship
}

type relation struct {
	name    Name
	columns map[int16]string
}

// key is a primary or foreign key. other and othersTo are the referenced table and columns.
type key struct {
	constraint        string
	foreign           bool
	table, other      int64
	columns, othersTo []int16
	top               bool // not the copy of a partitioned table's key in a partition
	unique            bool // a foreign key whose columns are unique too
}

// view is a view and the origins of its columns, by column number.
type view struct {
	id      int64
	exposed bool
	targets map[int16]catalog.Origin
}

func (g *graph) readKeys(res pgx.BatchResults) error {
	var id int64
	var kind string
	var k key
	return each(res, []any{&id, &k.constraint, &kind, &k.table, &k.other, &k.columns, &k.othersTo, &k.top, &k.unique},
		func() error {
			copied := k
			copied.foreign = kind == "f"
			copied.columns, copied.othersTo = slices.Clone(k.columns), slices.Clone(k.othersTo)
			g.keys = append(g.keys, copied)
			return nil
		})
}

func (g *graph) readRelations(res pgx.BatchResults) error {
	var id int64
	var n Name
	var numbers []int16
	var names []string
	return each(res, []any{&id, &n.Schema, &n.Name, &numbers, &names}, func() error {
		r := &relation{name: n, columns: make(map[int16]string, len(names))}
		for i, num := range numbers {
			r.columns[num] = names[i]
		}
		g.relations[id] = r
		return nil
	})
}

func (g *graph) readViews(res pgx.BatchResults) error {
	var v view
	var tree string
	return each(res, []any{&v.id, &v.exposed, &tree}, func() error {
		g.views = append(g.views, view{v.id, v.exposed, catalog.Origins(tree)})
		return nil
	})
}

func (g *graph) readComputed(res pgx.BatchResults) error {
	var fn, table, foreign Name
	var one bool
	return each(res, []any{&fn.Schema, &fn.Name, &table.Schema, &table.Name, &foreign.Schema, &foreign.Name, &one},
		func() error {
			card := ComputedToMany
			if one {
				card = ComputedToOne
			}
			g.computed = append(g.computed,
				&Relationship{Table: table, Foreign: foreign, Self: table == foreign, Cardinality: card, Function: fn})
			return nil
		})
}

// exposure is a view that shows all columns of a key.
type exposure struct {
	view    int64
	columns [][]string // for each column of the key, the view's columns that show it
}

// exposures returns the views that show all of the given columns of a relation, directly or through
// other views.
func (g *graph) exposures(index map[catalog.Origin][]viewColumn, table int64, columns []int16) []exposure {
	if len(columns) == 0 {
		return nil
	}
	var out []exposure
	for _, s := range index[catalog.Origin{Relation: table, Column: columns[0]}] {
		e := exposure{view: s.view}
		for _, col := range columns {
			for _, t := range index[catalog.Origin{Relation: table, Column: col}] {
				if t.view == s.view {
					e.columns = append(e.columns, t.columns)
				}
			}
		}
		if len(e.columns) == len(columns) {
			out = append(out, e)
		}
	}
	return out
}

// viewColumn lists the names under which a view shows a column.
type viewColumn struct {
	view    int64
	columns []string
}

// viewColumns returns for each column the views that show it. It follows the columns of each
// exposed view down to tables.
func (g *graph) viewColumns() map[catalog.Origin][]viewColumn {
	byID := make(map[int64]map[int16]catalog.Origin, len(g.views))
	for _, v := range g.views {
		byID[v.id] = v.targets
	}
	index := map[catalog.Origin][]viewColumn{}
	for _, v := range g.views {
		self := g.relations[v.id]
		if !v.exposed || self == nil {
			continue
		}
		numbers := make([]int16, 0, len(v.targets))
		for n := range v.targets {
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		for _, n := range numbers {
			// The view also shows the columns of the views in between, so that views relate to
			// views over views.
			seen := map[int64]bool{v.id: true}
			for at := v.targets[n]; !seen[at.Relation]; {
				seen[at.Relation] = true
				name := self.columns[n]
				if list := index[at]; len(list) > 0 && list[len(list)-1].view == v.id {
					list[len(list)-1].columns = append(list[len(list)-1].columns, name)
				} else {
					index[at] = append(list, viewColumn{v.id, []string{name}})
				}
				below, ok := byID[at.Relation][at.Column]
				if !ok {
					break
				}
				at = below
			}
		}
	}
	return index
}

// combinations returns every choice of one element from each list.
func combinations(lists [][]string) [][]string {
	out := [][]string{nil}
	for _, l := range lists {
		var next [][]string
		for _, prefix := range out {
			for _, x := range l {
				next = append(next, append(slices.Clone(prefix), x))
			}
		}
		out = next
	}
	return out
}

// relate derives all relationships: foreign keys, foreign keys through views, their inverses, and
// many-to-many ones. Then it drops the tables outside of the exposed schemas.
func (c *Cache) relate(g *graph, schemas []string) {
	index := g.viewColumns()
	c.viewKeys(g, index)

	var rels []*Relationship
	for _, k := range g.keys {
		if k.foreign && k.top && g.relations[k.table] != nil && g.relations[k.other] != nil {
			rels = append(rels, g.foreignKey(k, index)...)
		}
	}
	many := c.manyToMany(rels)
	for _, r := range slices.Clone(rels) {
		rels = append(rels, inverse(r))
	}
	rels = append(rels, many...)
	c.keepExposed(g.computed, rels, func(n Name) bool { return slices.Contains(schemas, n.Schema) })
}

// keepExposed sets the relationships between exposed tables, and drops other tables. A computed
// relationship replaces those to the table with the same name as its function.
func (c *Cache) keepExposed(computed, rels []*Relationship, exposed func(Name) bool) {
	overridden := map[[2]Name]bool{}
	c.Relationships = map[Name][]*Relationship{}
	for _, r := range computed {
		overridden[[2]Name{r.Table, r.Function}] = true
		if exposed(r.Table) && exposed(r.Foreign) {
			c.Relationships[r.Table] = append(c.Relationships[r.Table], r)
		}
	}
	for _, r := range rels {
		if exposed(r.Table) && c.Relationships[r.Table] == nil {
			c.Relationships[r.Table] = []*Relationship{} // the table has relationships, even if none is exposed
		}
		if exposed(r.Table) && exposed(r.Foreign) && (r.Junction == nil || exposed(r.Junction.Table)) &&
			!overridden[[2]Name{r.Table, r.Foreign}] {
			c.Relationships[r.Table] = append(c.Relationships[r.Table], r)
		}
	}
	for n := range c.Tables {
		if !exposed(n) {
			delete(c.Tables, n)
		}
	}
	for _, list := range c.Relationships {
		slices.SortStableFunc(list, func(a, b *Relationship) int {
			return cmp.Or(cmp.Compare(a.Foreign.Name, b.Foreign.Name), cmp.Compare(rank(a), rank(b)),
				cmp.Compare(a.Constraint, b.Constraint))
		})
	}
}

// rank is the order of the relationships between two tables in errors.
func rank(r *Relationship) int {
	switch r.Cardinality {
	case OneToMany:
		return 0
	case ManyToOne, OneToOne:
		return 1
	default:
		return 2
	}
}

// foreignKey returns the relationship of a foreign key, and the relationships of the views that
// show its columns.
func (g *graph) foreignKey(k key, index map[catalog.Origin][]viewColumn) []*Relationship {
	from, to := g.relations[k.table], g.relations[k.other]
	card := ManyToOne
	if k.unique {
		card = OneToOne
	}
	rel := func(a, b Name, as, bs []string, aView, bView bool) *Relationship {
		r := &Relationship{Table: a, Foreign: b, Self: a == b, Cardinality: card, Constraint: k.constraint,
			TableIsView: aView, ForeignIsView: bView}
		for i := range as {
			r.Columns = append(r.Columns, ColumnPair{as[i], bs[i]})
		}
		return r
	}
	names := func(r *relation, numbers []int16) []string {
		list := make([]string, len(numbers))
		for i, n := range numbers {
			list[i] = r.columns[n]
		}
		return list
	}
	fromCols, toCols := names(from, k.columns), names(to, k.othersTo)
	rels := []*Relationship{rel(from.name, to.name, fromCols, toCols, false, false)}
	fromViews, toViews := g.exposures(index, k.table, k.columns), g.exposures(index, k.other, k.othersTo)
	for _, fv := range fromViews {
		for _, cols := range combinations(fv.columns) {
			rels = append(rels, rel(g.relations[fv.view].name, to.name, cols, toCols, true, false))
		}
	}
	for _, tv := range toViews {
		for _, cols := range combinations(tv.columns) {
			rels = append(rels, rel(from.name, g.relations[tv.view].name, fromCols, cols, false, true))
		}
	}
	for _, fv := range fromViews {
		for _, fcols := range combinations(fv.columns) {
			for _, tv := range toViews {
				for _, tcols := range combinations(tv.columns) {
					rels = append(rels, rel(g.relations[fv.view].name, g.relations[tv.view].name, fcols, tcols, true,
						true))
				}
			}
		}
	}
	return rels
}

// inverse returns the relationship in the other direction.
func inverse(r *Relationship) *Relationship {
	inv := *r
	inv.Table, inv.Foreign = r.Foreign, r.Table
	inv.TableIsView, inv.ForeignIsView = r.ForeignIsView, r.TableIsView
	inv.Columns = swap(r.Columns)
	inv.Inverse = true
	if r.Cardinality == ManyToOne {
		inv.Cardinality = OneToMany
	}
	return &inv
}

func swap(pairs []ColumnPair) []ColumnPair {
	out := make([]ColumnPair, len(pairs))
	for i, p := range pairs {
		out[i] = ColumnPair{p.To, p.From}
	}
	return out
}

// manyToMany returns the relationships through junction tables. The primary key of a junction table
// includes two foreign keys.
func (c *Cache) manyToMany(rels []*Relationship) []*Relationship {
	byTable := map[Name][]*Relationship{}
	for _, r := range rels {
		if r.Cardinality == ManyToOne {
			byTable[r.Table] = append(byTable[r.Table], r)
		}
	}
	var out []*Relationship
	for _, a := range rels {
		if a.Cardinality != ManyToOne {
			continue
		}
		junction, ok := c.Tables[a.Table]
		if !ok {
			continue
		}
		for _, b := range byTable[a.Table] {
			if a.Constraint == b.Constraint || !holds(junction.Key, a.Columns, b.Columns) {
				continue
			}
			out = append(out, &Relationship{
				Table: a.Foreign, Foreign: b.Foreign, Self: a.Foreign == b.Foreign, Cardinality: ManyToMany,
				TableIsView: a.ForeignIsView, ForeignIsView: b.ForeignIsView,
				Junction: &Junction{Table: a.Table, FromConstraint: a.Constraint, ToConstraint: b.Constraint,
					FromColumns: swap(a.Columns), ToColumns: swap(b.Columns)},
			})
		}
	}
	return out
}

// holds reports whether the primary key includes every column of the lists.
func holds(primary []string, lists ...[]ColumnPair) bool {
	for _, l := range lists {
		for _, p := range l {
			if !slices.Contains(primary, p.From) {
				return false
			}
		}
	}
	return true
}

// viewKeys sets the primary key of the views that show all of its columns. If a view shows a column
// twice, the first name counts.
func (c *Cache) viewKeys(g *graph, index map[catalog.Origin][]viewColumn) {
	for _, k := range g.keys {
		if k.foreign {
			continue
		}
		for _, e := range g.exposures(index, k.table, k.columns) {
			t, ok := c.Tables[g.relations[e.view].name]
			if !ok {
				continue
			}
			for _, names := range e.columns {
				if len(names) > 0 && !slices.Contains(t.Key, names[0]) {
					t.Key = append(t.Key, names[0])
				}
			}
		}
	}
}
