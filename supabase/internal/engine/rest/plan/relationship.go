package plan

import (
	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/schema"
)

// find returns the one relationship of origin that matches the target and the hint of a request.
func (r *reader) find(origin, target, hint string) (*schema.Relationship, *apierror.Error) {
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

// matches reports whether a target and a hint mean a relationship. The target can be the other
// table, or the name or the single column of the foreign key. The hint can be the name of the
// foreign key, either single column or the junction.
func matches(r *schema.Relationship, target, hint string) bool {
	switch {
	case r.Computed():
		return target == r.Function.Name
	case r.Self:
		return matchesSelf(r, target, hint)
	case hint == "":
		return target == r.Foreign.Name || !r.ForeignIsView && (isConstraint(r, target) || from(r, target))
	default:
		return target == r.Foreign.Name && (isConstraint(r, hint) || from(r, hint) || to(r, hint) ||
			r.Junction != nil && hint == r.Junction.Table.Name)
	}
}

// matchesSelf is matches for a relationship of a table with itself. One foreign key is two
// relationships here: the table's name means the rows that point to this row, the column's name the
// row that this row points to.
func matchesSelf(r *schema.Relationship, target, hint string) bool {
	byTable := target == r.Foreign.Name && r.Cardinality == schema.OneToMany
	if hint != "" {
		return byTable && to(r, hint)
	}
	return byTable || from(r, target) && r.Cardinality == schema.ManyToOne
}

func isConstraint(r *schema.Relationship, name string) bool {
	return r.Constraint != "" && r.Constraint == name
}

// from reports whether name is the single column of the foreign key.
func from(r *schema.Relationship, name string) bool {
	return len(r.Columns) == 1 && r.Columns[0].From == name
}

// to reports whether name is the single column that the foreign key references.
func to(r *schema.Relationship, name string) bool {
	return len(r.Columns) == 1 && r.Columns[0].To == name
}
