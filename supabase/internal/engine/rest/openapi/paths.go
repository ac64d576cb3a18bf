package openapi

import (
	"strings"

	"daawo/supabase/internal/engine/rest/schema"
)

func ref(name string) object { return object{{"$ref", "#/parameters/" + name}} }

func refs(names ...string) []object {
	out := make([]object, len(names))
	for i, n := range names {
		out[i] = ref(n)
	}
	return out
}

func answer(status, description string) object {
	return object{{status, object{{"description", description}}}}
}

func (d Document) paths() object {
	out := object{{"/", object{{"get", object{
		{"produces", []string{"application/openapi+json", "application/json"}},
		{"responses", answer("200", "OK")},
		{"summary", "OpenAPI description (this document)"},
		{"tags", []string{"Introspection"}},
	}}}}}
	for _, t := range d.Tables {
		out = append(out, member{"/" + t.Name.Name, tablePath(t)})
	}
	seen := map[string]bool{}
	for _, r := range d.Routines {
		if path := "/rpc/" + r.Name.Name; !seen[path] { // overloads share a path
			seen[path] = true
			out = append(out, member{path, d.routinePath(r)})
		}
	}
	return out
}

func tablePath(t *schema.Table) object {
	name := t.Name.Name
	var filters []string
	for _, c := range t.Columns {
		filters = append(filters, "rowFilter."+name+"."+c.Name)
	}
	first, rest := summary(t.Comment)
	operation := func(parameters []object, responses object) object {
		return object{{"description", rest}, {"parameters", parameters}, {"responses", responses},
			{"summary", first}, {"tags", []string{name}}}
	}
	with := func(more ...string) []object { return refs(append(append([]string{}, filters...), more...)...) }
	get := operation(with("select", "order", "range", "rangeUnit", "offset", "limit", "preferCount"), object{
		{"200", object{{"description", "OK"}, {"schema", object{
			{"items", object{{"$ref", "#/definitions/" + name}}}, {"type", "array"}}}}},
		{"206", object{{"description", "Partial Content"}}},
	})
	if !t.Insertable && !t.Updatable && !t.Deletable {
		return object{{"get", get}}
	}
	return object{
		{"get", get},
		{"post", operation(refs("body."+name, "select", "preferPost"), answer("201", "Created"))},
		{"delete", operation(with("preferReturn"), answer("204", "No Content"))},
		{"patch", operation(with("body."+name, "preferReturn"), answer("204", "No Content"))},
	}
}

func (d Document) routinePath(r *schema.Routine) object {
	first, rest := summary(r.Comment)
	operation := func(parameters []object) object {
		return object{
			{"description", rest},
			{"parameters", parameters},
			{"produces", []string{"application/json", "application/vnd.pgrst.object+json;nulls=stripped",
				"application/vnd.pgrst.object+json"}},
			{"responses", answer("200", "OK")},
			{"summary", first},
			{"tags", []string{"(rpc) " + r.Name.Name}},
		}
	}
	var properties object
	var required []string
	query := []object{}
	for _, p := range r.Params {
		p.Type = d.typeName(p.Type)
		properties = append(properties,
			member{p.Name, object{{"format", format(p.Type)}, {"items", items(p.Type)}, {"type", typeOf(p.Type)}}})
		if p.Required {
			required = append(required, p.Name)
		}
		query = append(query, queryParam(p))
	}
	args := object{{"description", r.Comment}, {"properties", properties}, {"required", required}, {"type", "object"}}
	if properties == nil {
		args = object{{"description", r.Comment}, {"type", "object"}}
	}
	post := member{"post", operation([]object{
		{{"in", "body"}, {"name", "args"}, {"required", true}, {"schema", args}},
		ref("preferParams"),
	})}
	if r.Volatility == schema.Volatile {
		return object{post}
	}
	return object{{"get", operation(query)}, post}
}

func queryParam(p schema.Param) object {
	out := object{{"in", "query"}, {"name", always(p.Name)}, {"required", p.Required}}
	if p.Variadic {
		element := strings.TrimSuffix(p.Type, "[]")
		return append(out, member{"collectionFormat", "multi"},
			member{"items", object{{"format", format(element)}, {"type", typeOf(element)}}},
			member{"type", typeOf(p.Type)})
	}
	kind := typeOf(p.Type)
	if kind == "array" || kind == "" {
		kind = "string" // arrays are written as {} in a query
	}
	return append(out, member{"format", format(p.Type)}, member{"type", kind})
}

func (d Document) parameters() object {
	header := func(name, description string, more ...member) object {
		return append(object{{"name", name}, {"description", description}, {"required", false}, {"in", "header"},
			{"type", "string"}}, more...)
	}
	query := func(name, description string) object {
		return object{{"name", name}, {"description", description}, {"required", false}, {"in", "query"},
			{"type", "string"}}
	}
	prefer := func(values ...string) object { return header("Prefer", "Preference", member{"enum", values}) }
	returns := []string{"return=representation", "return=minimal", "return=none"}
	out := object{
		{"preferParams", prefer()},
		{"preferReturn", prefer(returns...)},
		{"preferCount", prefer("count=none")},
		{"preferPost", prefer(append(returns, "resolution=ignore-duplicates", "resolution=merge-duplicates")...)},
		{"select", query("select", "Filtering Columns")},
		{"on_conflict", query("on_conflict", "On Conflict")},
		{"order", query("order", "Ordering")},
		{"range", header("Range", "Limiting and Pagination")},
		{"rangeUnit", header("Range-Unit", "Limiting and Pagination", member{"default", "items"})},
		{"offset", query("offset", "Limiting and Pagination")},
		{"limit", query("limit", "Limiting and Pagination")},
	}
	for _, t := range d.Tables {
		name := t.Name.Name
		out = append(out, member{"body." + name,
			object{{"name", name}, {"description", name}, {"required", false}, {"in", "body"},
				{"schema", object{{"$ref", "#/definitions/" + name}}}}})
		for i := range t.Columns {
			c := &t.Columns[i]
			out = append(out, member{"rowFilter." + name + "." + c.Name,
				object{{"name", c.Name}, {"description", c.Comment}, {"required", false}, {"in", "query"},
					{"type", "string"}}})
		}
	}
	return out
}
