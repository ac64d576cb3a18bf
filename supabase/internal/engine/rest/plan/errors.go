package plan

import (
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

func hint(s string) *string { return &s }

// errNotEmbedded reports a filter, order or limit of a relation that is not selected.
func errNotEmbedded(name string, legacyAlias string) *apierror.Error {
	e := apierror.Errorf(400, "PGRST108", "'%s' is not an embedded resource in this request", name)
	if legacyAlias != "" {
		e.Details = "Target names are not allowed in filters if they have an alias"
		e.Hint = hint("Change '" + name + "' to '" + legacyAlias + "' in filters, orders or limits.")
		return e
	}
	e.Hint = hint("Verify that '" + name + "' is included in the 'select' query parameter.")
	return e
}

func errRelatedOrder(origin, target string) *apierror.Error {
	e := apierror.Errorf(400, "PGRST118", "A related order on '%s' is not possible", target)
	e.Details = "'" + origin + "' and '" + target + "' do not form a many-to-one or one-to-one relationship"
	return e
}

func errTableNotFound(c *schema.Cache, n schema.Name) *apierror.Error {
	e := apierror.Errorf(404, "PGRST205", "Could not find the table '%s' in the schema cache", n)
	if like, ok := c.LikeTable(n.Schema, n.Name); ok {
		e.Hint = hint("Perhaps you meant the table '" + n.Schema + "." + like + "'")
	}
	return e
}

func errColumnNotFound(table, column string) *apierror.Error {
	return apierror.Errorf(400, "PGRST204", "Could not find the '%s' column of '%s' in the schema cache", column, table)
}

func errNoRelationship(c *schema.Cache, parent, child, rel, in string) *apierror.Error {
	e := apierror.Errorf(400, "PGRST200", "Could not find a relationship between '%s' and '%s' in the schema cache",
		parent, child)
	using := ""
	if rel != "" {
		using = "' using the hint '" + rel
	}
	e.Details = "Searched for a foreign key relationship between '" + parent + "' and '" + child + using +
		"' in the schema '" + in +
		"', but no matches were found."
	if wrong, right, ok := c.LikeRelated(parent, child, in); ok {
		e.Hint = hint("Perhaps you meant '" + right + "' instead of '" + wrong + "'.")
	}
	return e
}

// ambiguity describes one of several possible relationships.
type ambiguity struct {
	Cardinality  string `json:"cardinality"`
	Embedding    string `json:"embedding"`
	Relationship string `json:"relationship"`
}

func errAmbiguous(parent, child string, rels []*schema.Relationship) *apierror.Error {
	e := apierror.Errorf(300, "PGRST201",
		"Could not embed because more than one relationship was found for '%s' and '%s'", parent, child)
	details := []ambiguity{}
	var tries []string
	for _, r := range rels {
		details = append(details, describe(r))
		by := r.Constraint
		if r.Junction != nil {
			by = r.Junction.Table.Name
		}
		tries = append(tries, "'"+r.Foreign.Name+"!"+by+"'")
	}
	e.Details = details
	e.Hint = hint("Try changing '" + child + "' to one of the following: " + strings.Join(tries, ", ") +
		". Find the desired relationship in the 'details' key.")
	return e
}

// describe returns the details of one relationship.
func describe(r *schema.Relationship) ambiguity {
	a := ambiguity{Embedding: r.Table.Name + " with " + r.Foreign.Name}
	list := func(pairs []schema.ColumnPair, pick func(schema.ColumnPair) string) string {
		names := make([]string, len(pairs))
		for i, p := range pairs {
			names[i] = pick(p)
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	from := func(p schema.ColumnPair) string { return p.From }
	to := func(p schema.ColumnPair) string { return p.To }
	switch r.Cardinality {
	case schema.ManyToOne:
		a.Cardinality = "many-to-one"
	case schema.OneToMany:
		a.Cardinality = "one-to-many"
	case schema.OneToOne:
		a.Cardinality = "one-to-one"
	case schema.ManyToMany:
		j := r.Junction
		a.Cardinality = "many-to-many"
		a.Relationship = j.Table.Name + " using " + j.FromConstraint + list(j.FromColumns, to) + " and " +
			j.ToConstraint + list(j.ToColumns, to)
		return a
	}
	a.Relationship = r.Constraint + " using " + r.Table.Name + list(r.Columns, from) + " and " +
		r.Foreign.Name + list(r.Columns, to)
	return a
}

// bodyOnly reports whether a body of this type can only be the single unnamed parameter, and the
// type of that parameter.
func bodyOnly(post bool, content ast.MediaType) (string, bool) {
	if !post {
		return "", false
	}
	switch content.Kind {
	case ast.MediaText:
		return "text", true
	case ast.MediaXML:
		return "xml", true
	case ast.MediaBytes:
		return "bytea", true
	default:
		return "", false
	}
}

func errNoRoutine(c *schema.Cache, n schema.Name, args []string, content ast.MediaType, post bool) *apierror.Error {
	typ, only := bodyOnly(post, content)
	list := strings.Join(args, ", ")
	searched := " with parameter"
	if len(args) > 1 {
		searched += "s"
	}
	searched += " " + list
	named := "(" + list + ")"
	if len(args) == 0 {
		searched, named = " without parameters", " without parameters"
	}
	switch {
	case only:
		named, searched = "", " with a single unnamed "+typ+" parameter"
	case post && content.Kind == ast.MediaJSON:
		searched += " or with a single unnamed json/jsonb parameter"
	}
	e := apierror.Errorf(404, "PGRST202", "Could not find the function %s%s in the schema cache", n, named)
	e.Details = "Searched for the function " + n.String() + searched +
		", but no matches were found in the schema cache."
	if only {
		return e
	}
	overloads := c.Routines[n]
	var like string
	var ok bool
	if len(overloads) == 0 {
		like, ok = c.LikeRoutine(n.Schema, n.Name)
	} else if like, ok = schema.LikeParams(overloads, args); ok {
		like = n.Name + like
	}
	if ok {
		e.Hint = hint("Perhaps you meant to call the function " + n.Schema + "." + like)
	}
	return e
}

func errAmbiguousRoutine(list []*schema.Routine) *apierror.Error {
	var names []string
	for _, r := range list {
		var params []string
		for _, p := range r.Params {
			params = append(params, p.Name+" => "+p.Type)
		}
		names = append(names, r.String()+"("+strings.Join(params, ", ")+")")
	}
	e := apierror.Errorf(300, "PGRST203", "Could not choose the best candidate function between: %s",
		strings.Join(names, ", "))
	e.Hint = hint("Try renaming the parameters or the function itself in the database so function overloading can " +
		"be resolved")
	return e
}
