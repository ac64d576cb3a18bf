package grammar

import (
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
)

// simpleOps take a value. quantOps may take (any) or (all) before it. A longer name comes before a
// shorter one that it begins with.
func simpleOps() []ast.Op { return []ast.Op{"neq", "cs", "cd", "ov", "sl", "sr", "nxr", "nxl", "adj"} }
func quantOps() []ast.Op {
	return []ast.Op{"eq", "gte", "gt", "lte", "lt", "like", "ilike", "match", "imatch"}
}
func ftsOps() []ast.Op { return []ast.Op{"fts", "plfts", "phfts", "wfts"} }

// operation = [ "not." ] operator "." value. It sets everything except the field of the filter.
func (p *parser) operation(f *ast.Filter, value func() (string, bool)) bool {
	m := p.mark()
	if p.literal("not") && p.delimiter() {
		f.Not = true
	} else {
		p.back(m)
	}
	m = p.begin()
	ok := p.operator(f, value)
	p.label(m, "operator (eq, gt, ...)")
	return ok
}

func (p *parser) operator(f *ast.Filter, value func() (string, bool)) bool {
	start := p.pos
	if p.keyword("in") {
		f.Op = "in"
		var ok bool
		f.Values, ok = p.list()
		return ok
	}
	if p.keyword("is") {
		f.Op = "is"
		return p.isValue(f)
	}
	if p.keyword("isdistinct") {
		f.Op = "isdistinct"
		var ok bool
		f.Value.Text, ok = value()
		return ok
	}
	if p.fullText(f, value) {
		return true
	}
	if p.pos != start {
		return false
	}
	return p.comparison(f, value)
}

// keyword = word ".".
func (p *parser) keyword(word string) bool {
	m := p.mark()
	if p.literal(word) && p.delimiter() {
		return true
	}
	return p.back(m)
}

// fullText = ( "fts" | "plfts" | "phfts" | "wfts" ) [ "(" configuration ")" ] "." value.
func (p *parser) fullText(f *ast.Filter, value func() (string, bool)) bool {
	m := p.mark()
	for _, op := range ftsOps() {
		if !p.literal(string(op)) {
			continue
		}
		inner := p.mark()
		config, ok := "", p.char('(')
		if ok {
			if config, ok = p.identifier(); ok {
				ok = p.char(')')
			}
		}
		if !ok {
			config = ""
			p.back(inner)
		}
		if p.delimiter() {
			if v, ok := value(); ok {
				f.Op, f.Config, f.Value.Text = op, config, v
				return true
			}
		}
		break
	}
	return p.back(m)
}

// comparison = ( simpleOp | quantOp [ quantifier ] ) "." value.
func (p *parser) comparison(f *ast.Filter, value func() (string, bool)) bool {
	m := p.mark()
	for _, op := range simpleOps() {
		if p.literal(string(op)) {
			if p.delimiter() {
				if v, ok := value(); ok {
					f.Op, f.Value.Text = op, v
					return true
				}
			}
			break
		}
	}
	p.back(m)
	for _, op := range quantOps() {
		if !p.literal(string(op)) {
			continue
		}
		q := p.quantifier()
		if p.delimiter() {
			if v, ok := value(); ok {
				f.Op, f.Quantifier, f.Value.Text = op, q, v
				return true
			}
		}
		break
	}
	return p.back(m)
}

// quantifier = [ "(" ( "any" | "all" ) ")" ].
func (p *parser) quantifier() ast.Quantifier {
	m := p.mark()
	if p.char('(') {
		q := ast.NoQuantifier
		if p.literal("any") {
			q = ast.Any
		} else if p.literal("all") {
			q = ast.All
		}
		if q != ast.NoQuantifier && p.char(')') {
			return q
		}
	}
	p.back(m)
	return ast.NoQuantifier
}

// isValue = "null" | "not_null" | "true" | "false" | "unknown", in any case.
func (p *parser) isValue(f *ast.Filter) bool {
	m := p.begin()
	rest := p.in[p.pos:]
	for _, v := range [...]string{"null", "not_null", "true", "false", "unknown"} {
		if len(rest) >= len(v) && strings.EqualFold(rest[:len(v)], v) {
			f.Value.Text = v
			p.advance(len(v))
			return true
		}
	}
	p.expectAny("")
	p.label(m, "isVal: (null, not_null, true, false, unknown)")
	return false
}

// rest = { any }: the remaining input.
func (p *parser) rest() (string, bool) {
	v := p.in[p.pos:]
	p.advance(len(v))
	return v, true
}

// list = "(" element { "," element } ")".
func (p *parser) list() ([]string, bool) {
	p.spaces()
	if !p.char('(') {
		return nil, false
	}
	p.spaces()
	var values []string
	for {
		v, ok := p.quotedWhole()
		if !ok {
			v = p.while(notCommaOrParen)
		}
		values = append(values, v)
		if !p.char(',') {
			break
		}
	}
	p.spaces()
	if !p.char(')') {
		return nil, false
	}
	p.spaces()
	return values, true
}

func notCommaOrParen(r rune) bool { return r != ',' && r != ')' }

// quotedWhole = quoted, followed by a comma, a closing parenthesis or the end.
func (p *parser) quotedWhole() (string, bool) {
	m := p.mark()
	v, ok := p.quoted()
	if ok && (p.atEnd() || p.in[p.pos] == ',' || p.in[p.pos] == ')') {
		return v, true
	}
	if ok {
		r := []rune(p.in[p.pos:])[0]
		p.fail(message{unexpected, quoteRune(r)})
	}
	return "", p.back(m)
}

// logicValue = quotedWhole | "{" … "}" | any run without commas and closing parentheses.
func (p *parser) logicValue() (string, bool) {
	if v, ok := p.quotedWhole(); ok {
		return v, true
	}
	m := p.mark()
	if p.char('{') {
		inner := p.while(func(r rune) bool { return r != '{' && r != '}' })
		if p.char('}') {
			return "{" + inner + "}", true
		}
	}
	p.back(m)
	return p.while(notCommaOrParen), true
}

// logic = filter | [ "not." ] ( "and" | "or" ) "(" logic { "," logic } ")".
func (p *parser) logic(depth int) (ast.Logic, bool) {
	if depth > maxDepth {
		p.fail(message{unexpected, tooDeep})
		return ast.Logic{}, false
	}
	m := p.mark()
	if f, ok := p.logicFilter(); ok {
		return ast.Logic{Filter: &f}, true
	}
	p.back(m)

	var l ast.Logic
	not := p.begin()
	if inner := p.mark(); p.literal("not") && p.delimiter() {
		l.Not = true
	} else {
		p.back(inner)
	}
	p.label(not, "negation operator (not)")

	op := p.begin()
	ok := p.literal("and")
	if !ok {
		if ok = p.literal("or"); ok {
			l.Or = true
		}
	}
	p.label(op, "logic operator (and, or)")
	if !ok {
		return l, false
	}
	p.spaces()
	if !p.char('(') {
		return l, false
	}
	p.spaces()
	for {
		child, ok := p.logic(depth + 1)
		if !ok {
			return l, false
		}
		l.Children = append(l.Children, child)
		p.spaces()
		if !p.char(',') {
			break
		}
		p.spaces()
	}
	p.spaces()
	if !p.char(')') {
		return l, false
	}
	p.spaces()
	return l, true
}

// logicFilter = field "." operation.
func (p *parser) logicFilter() (f ast.Filter, ok bool) {
	if f.Field, ok = p.field(); !ok || !p.delimiter() {
		return f, false
	}
	return f, p.operation(&f, p.logicValue)
}
