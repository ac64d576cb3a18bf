package grammar

import (
	"cmp"

	"daawo/supabase/internal/engine/rest/ast"
)

// items = [ item { ws "," ws item } ].
func (p *parser) items(depth int) ([]ast.SelectItem, bool) {
	if depth > maxDepth {
		p.fail(message{unexpected, tooDeep})
		return nil, false
	}
	start := p.pos
	it, ok := p.item(depth)
	if !ok {
		return nil, p.pos == start // an empty list is valid
	}
	list := []ast.SelectItem{it}
	for {
		before := p.pos
		p.spaces()
		if !p.char(',') {
			return list, p.pos == before
		}
		p.spaces()
		if it, ok = p.item(depth); !ok {
			return nil, false
		}
		list = append(list, it)
	}
}

// maxDepth bounds the nesting of embedded relations and of logic, and so the size of the stack.
const maxDepth = 100

const tooDeep = "nesting of more than 100 levels"

// item = "..." relation "(" items ")" | relation "(" items ")" | field.
func (p *parser) item(depth int) (ast.SelectItem, bool) {
	m := p.mark()
	it, ok := p.spread()
	if !ok {
		p.back(m)
		if it, ok = p.relation(); !ok {
			p.back(m)
			return p.selectField()
		}
	}
	if !p.char('(') {
		return it, false
	}
	if it.Items, ok = p.items(depth + 1); !ok {
		return it, false
	}
	return it, p.char(')')
}

// spread = ws "..." relation relationTail.
func (p *parser) spread() (it ast.SelectItem, ok bool) {
	p.spaces()
	if !p.literal("...") {
		return it, false
	}
	it.Spread = true
	if it.Relation, ok = p.fieldName(); !ok {
		return it, false
	}
	return p.relationTail(it)
}

// relation = ws [ alias ] relation relationTail.
func (p *parser) relation() (it ast.SelectItem, ok bool) {
	p.spaces()
	it.Alias = p.alias()
	if it.Relation, ok = p.fieldName(); !ok {
		return it, false
	}
	if it.Relation == "count" {
		p.err = failure{pos: p.pos}
		return it, false
	}
	return p.relationTail(it)
}

// relationTail = { "!" ( "left" | "inner" | hint ) }, at most twice, followed by "(".
func (p *parser) relationTail(it ast.SelectItem) (ast.SelectItem, bool) {
	joined := false
	for range 2 {
		if !p.char('!') {
			break
		}
		switch {
		case p.literal("left"):
			joined = true
		case p.literal("inner"):
			if !joined {
				it.Join = ast.InnerJoin
			}
			joined = true
		default:
			m := p.mark()
			hint, ok := p.fieldName()
			if !ok {
				return it, p.back(m)
			}
			it.Hint = cmp.Or(it.Hint, hint)
		}
	}
	if !p.ahead(func() bool { return p.literal("(") }) {
		return it, false
	}
	p.spaces()
	return it, true
}

// alias = [ fieldName ":" ], not followed by a second colon.
func (p *parser) alias() string {
	m := p.mark()
	name, ok := p.fieldName()
	if !ok || !p.char(':') {
		p.back(m)
		return ""
	}
	if !p.atEnd() && p.in[p.pos] == ':' {
		p.fail(message{unexpected, "':'"})
		p.back(m)
		return ""
	}
	return name
}

// itemEnd succeeds before a closing parenthesis, a comma or the end.
func (p *parser) itemEnd() bool {
	return p.ahead(func() bool { return p.literal(")") }) || p.ahead(func() bool { return p.literal(",") }) || p.end()
}

// selectField = "*" | [ alias ":" ] "count()" [ cast ] | [ alias ":" ] field [ cast ] [ "."
// aggregate "()" [ cast ] ].
func (p *parser) selectField() (ast.SelectItem, bool) {
	p.spaces()
	m := p.mark()
	if p.char('*') && p.itemEnd() {
		p.spaces()
		return ast.SelectItem{Field: ast.Field{Name: "*"}}, true
	}
	p.back(m)

	it := ast.SelectItem{Field: ast.Field{Name: "*"}, Aggregate: ast.Count, Alias: p.alias()}
	if p.literal("count()") {
		var ok bool
		if it.AggregateCast, ok = p.cast(); ok && p.itemEnd() {
			p.spaces()
			return it, true
		}
	}
	p.back(m)

	it = ast.SelectItem{Alias: p.alias()}
	var ok bool
	if it.Field, ok = p.field(); !ok {
		return it, false
	}
	if it.Cast, ok = p.cast(); !ok {
		return it, false
	}
	it.Aggregate = p.aggregate()
	if it.AggregateCast, ok = p.cast(); !ok || !p.itemEnd() {
		return it, false
	}
	p.spaces()
	return it, true
}

// cast = [ "::" identifier ].
func (p *parser) cast() (string, bool) {
	if !p.literal("::") {
		return "", true
	}
	return p.identifier()
}

// aggregate = [ "." ( "sum" | "avg" | "count" | "max" | "min" ) "()" ].
func (p *parser) aggregate() ast.Aggregate {
	m := p.mark()
	if !p.char('.') {
		p.back(m)
		return ""
	}
	for _, a := range [...]ast.Aggregate{ast.Sum, ast.Avg, ast.Count, ast.Max, ast.Min} {
		if p.literal(string(a)) {
			if p.literal("()") {
				return a
			}
			break
		}
	}
	p.back(m)
	return ""
}
