package plan

import (
	"slices"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

// call plans a call of a function.
func call(c *schema.Cache, req *Request, opts Options) (*Plan, *apierror.Error) {
	post := req.Method == "POST"
	given := req.Keys
	if !post {
		given = nil
		for _, a := range req.Args {
			given = append(given, a.Name)
		}
		slices.Sort(given)
		given = slices.Compact(given)
	}
	routine, err := choose(c, req, given, post)
	if err != nil {
		return nil, err
	}
	// A function that returns rows of a relation can embed the same relations as it.
	table := schema.Name{Schema: routine.Schema, Name: routine.Name.Name}
	if routine.Composite {
		table.Name = routine.Return.Name
	}
	root, err := read(c, req, table, opts)
	if err != nil {
		return nil, err
	}
	inv := &Invocation{Routine: routine, Returning: needed(root, nil)}
	if len(inv.Returning) > 0 && inv.Returning[0] != "*" {
		for _, name := range filtered(root, nil) {
			if !slices.Contains(inv.Returning, name) {
				inv.Returning = append(inv.Returning, name)
			}
		}
	}
	if len(routine.Params) == 1 && routine.Params[0].Name == "" {
		inv.Whole = &routine.Params[0]
	} else {
		for _, p := range routine.Params {
			if slices.Contains(given, p.Name) {
				inv.Params = append(inv.Params, p)
			}
		}
	}
	if !post || req.ContentType.Kind == ast.MediaForm {
		inv.Args = arguments(routine, req.Args)
	} else if req.HasBody {
		inv.Body = req.Body
	}
	return &Plan{Read: root, Call: inv, Legacy: legacy(root, nil)}, nil
}

// filtered appends the names of the columns that the conditions of a node use.
func filtered(n *Node, names []string) []string {
	var walk func([]Cond)
	walk = func(conds []Cond) {
		for _, c := range conds {
			walk(c.Children)
			if c.Filter != nil && !slices.Contains(names, c.Filter.Field.Name) {
				names = append(names, c.Filter.Field.Name)
			}
		}
	}
	walk(n.Where)
	return names
}

// arguments collects values by name. A variadic parameter takes all values of its name, any other
// parameter the last one.
func arguments(r *schema.Routine, given []ast.Param) map[string]Arg {
	args := make(map[string]Arg, len(given))
	for _, g := range given {
		variadic := slices.ContainsFunc(r.Params, func(p schema.Param) bool { return p.Variadic && p.Name == g.Name })
		if variadic {
			a := args[g.Name]
			a.Values = append(a.Values, g.Value)
			args[g.Name] = a
			continue
		}
		args[g.Name] = Arg{Value: g.Value}
	}
	return args
}

// choose returns the overload whose parameters are the given ones. If there is none, a POST may
// match an overload with a single unnamed parameter that takes the whole body.
func choose(c *schema.Cache, req *Request, given []string, post bool) (*schema.Routine, *apierror.Error) {
	var exact, whole []*schema.Routine
	for _, r := range c.Routines[req.Target] {
		switch {
		case accepts(r, given, req.ContentType, post):
			exact = append(exact, r)
		case post && takesBody(r, req.ContentType):
			whole = append(whole, r)
		}
	}
	if len(exact) == 0 {
		exact = whole
	}
	switch len(exact) {
	case 0:
		return nil, errNoRoutine(c, req.Target, given, req.ContentType, post)
	case 1:
		return exact[0], nil
	default:
		return nil, errAmbiguousRoutine(exact)
	}
}

// accepts reports whether an overload can be called with the given parameters.
func accepts(r *schema.Routine, given []string, content ast.MediaType, post bool) bool {
	if len(r.Params) == 0 {
		_, only := bodyOnly(post, content)
		return len(given) == 0 && !only
	}
	for _, g := range given {
		if !slices.ContainsFunc(r.Params, func(p schema.Param) bool { return p.Name == g }) {
			return false
		}
	}
	for _, p := range r.Params {
		if p.Required && !slices.Contains(given, p.Name) {
			return false
		}
	}
	return true
}

// takesBody reports whether an overload takes the whole body as its single unnamed parameter.
func takesBody(r *schema.Routine, content ast.MediaType) bool {
	if len(r.Params) != 1 || r.Params[0].Name != "" {
		return false
	}
	switch content.Kind {
	case ast.MediaJSON:
		return r.Params[0].Type == "json" || r.Params[0].Type == "jsonb"
	case ast.MediaText:
		return r.Params[0].Type == "text"
	case ast.MediaXML:
		return r.Params[0].Type == "xml"
	case ast.MediaBytes:
		return r.Params[0].Type == "bytea"
	default:
		return false
	}
}
