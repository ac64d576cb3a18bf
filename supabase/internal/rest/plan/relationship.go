package plan

import (
	"daawo/supabase/internal/rest/schema"
	"daawo/supabase/internal/wire"
)

// find picks the one relationship from origin that the target and the hint of a request mean.
func (r *reader) find(origin, target, hint string) (*schema.Relationship, *wire.Error) {
	var found []*schema.Relationship
	for _, rel := range r.cache.Related(schema.Name{Schema: r.in, Name: origin}, r.in) {
		if matches(rel, target, hint) {
			found = append(found, rel)
		}
	}
	switch len(found) {
	case 0:
		return nil, errNoRelationship(r.cache, origin, target, hint, r.in)
	case 1:
		return found[0], nil
	default:
		return nil, errAmbiguous(origin, target, found)
	}
}

// matches says whether a relationship is meant. The target can be the other table, the foreign key's name or its single
// column; the hint the foreign key's name, either single column or the junction.
func matches(r *schema.Relationship, target, hint string) bool {
	if r.Computed() {
		return target == r.Function.Name
	}
	single := len(r.Columns) == 1
	from := func(s string) bool { return single && r.Columns[0].From == s }
	to := func(s string) bool { return single && r.Columns[0].To == s }
	byTable := target == r.Foreign.Name
	switch {
	case r.Self && hint == "":
		// One foreign key is two relationships here: the table's name means the rows that point to this one, the
		// column's name the row that this one points to.
		return byTable && r.Cardinality == schema.OneToMany || from(target) && r.Cardinality == schema.ManyToOne
	case r.Self:
		return byTable && r.Cardinality == schema.OneToMany && to(hint)
	case hint == "":
		return byTable || !r.ForeignIsView && (r.Constraint != "" && target == r.Constraint || from(target))
	default:
		return byTable && (r.Constraint != "" && hint == r.Constraint || from(hint) || to(hint) ||
			r.Junction != nil && hint == r.Junction.Table.Name)
	}
}
