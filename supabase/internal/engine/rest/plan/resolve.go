package plan

import (
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

// resolver resolves columns of one table and the functions that represent domains.
type resolver struct {
	cache *schema.Cache
	table *schema.Table // nil for an unknown relation, such as the rows of some functions
}

// at returns a resolver for another table.
func (r resolver) at(n schema.Name) resolver {
	r.table = r.cache.Tables[n]
	return r
}

func column(c *schema.Column) Field {
	return Field{Name: c.Name, Type: c.Nominal, Base: c.Type, Default: c.Default}
}

// known resolves a column and reports whether it exists.
func (r resolver) known(name string) (Field, bool) {
	if r.table == nil {
		return Field{Name: name}, false
	}
	c, ok := r.table.Column(name)
	if !ok {
		return Field{Name: name}, false
	}
	return column(c), true
}

// any resolves a field. An unknown field is no error: it may be a computed column.
func (r resolver) any(f ast.Field) Field {
	out, _ := r.known(f.Name)
	out.Path = f.Path
	out.ToJSON = out.Type != "json" && out.Type != "jsonb"
	return out
}

// transform applies the representation from one type to another, if there is one.
func (r resolver) transform(f Field, from, to string) Field {
	if fn, ok := r.cache.Representations[[2]string{from, to}]; ok {
		f.Type, f.Transform = from, fn
	}
	return f
}

// output resolves a selected field.
func (r resolver) output(f ast.Field) Field {
	out := r.any(f)
	return r.transform(out, out.Type, "json")
}

// queried resolves a field that is compared with text from the URL.
func (r resolver) queried(f ast.Filter) Filter {
	out := r.any(f.Field)
	switch f.Op {
	case "fts", "plfts", "phfts", "wfts":
		// The type of a computed column is unknown; it is assumed to be tsvector.
		if out.Base != "tsvector" && out.Base != "" {
			out.FullText, out.Config = true, f.Config
		}
	}
	return Filter{Filter: f, Field: r.transform(out, "text", out.Type)}
}

// written resolves a column whose value comes from the JSON body.
func (r resolver) written(name string) (Field, bool) {
	f, ok := r.known(name)
	return r.transform(f, "json", f.Type), ok
}

// cond resolves a tree of filters.
func (r resolver) cond(l ast.Logic) Cond {
	if l.Filter != nil {
		f := r.queried(*l.Filter)
		return Cond{Filter: &f}
	}
	c := Cond{Not: l.Not, Or: l.Or}
	for _, child := range l.Children {
		c.Children = append(c.Children, r.cond(child))
	}
	return c
}
