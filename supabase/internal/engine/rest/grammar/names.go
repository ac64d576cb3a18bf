package grammar

import (
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
)

// fieldName = quoted | dashed identifier.
func (p *parser) fieldName() (string, bool) {
	m := p.begin()
	name, ok := func() (string, bool) {
		s, ok := p.quoted()
		if ok || p.pos != m.pos {
			return s, ok
		}
		return p.dashed(p.identifier)
	}()
	p.label(m, "field name (* or [a..z0..9_$])")
	return name, ok
}

// field = ws fieldName [ jsonPath ] ws.
func (p *parser) field() (f ast.Field, ok bool) {
	p.spaces()
	if f.Name, ok = p.fieldName(); !ok {
		return f, false
	}
	if f.Path, ok = p.jsonPath(); !ok {
		return f, false
	}
	p.spaces()
	return f, true
}

// jsonPath = { ( "->>" | "->" ) ( index | key ) }.
func (p *parser) jsonPath() ([]ast.JSONStep, bool) {
	var path []ast.JSONStep
	for {
		asText := p.literal("->>")
		if !asText && !p.literal("->") {
			return path, true
		}
		m := p.mark()
		key, index := p.jsonIndex()
		if !index {
			p.back(m)
			var ok bool
			if key, ok = p.jsonKey(); !ok {
				return nil, p.back(m)
			}
		}
		path = append(path, ast.JSONStep{Key: key, Index: index, AsText: asText})
	}
}

// jsonIndex = [ "-" ] digits, followed by an arrow, a cast, a dot, a comma or the end.
func (p *parser) jsonIndex() (string, bool) {
	sign := "+"
	if p.char('-') {
		sign = "-"
	}
	start := p.pos
	digits := p.while(func(r rune) bool { return r >= '0' && r <= '9' }, "digit")
	if p.pos == start {
		return "", false
	}
	for _, s := range [...]string{"->", "::", ".", ","} {
		if p.ahead(func() bool { return p.literal(s) }) {
			return sign + digits, true
		}
	}
	return sign + digits, p.end()
}

// jsonKey = quoted | any run without ( - : . , > or ), whose parts may be joined with "-".
func (p *parser) jsonKey() (string, bool) {
	m := p.begin()
	key, ok := func() (string, bool) {
		s, ok := p.quoted()
		if ok || p.pos != m.pos {
			return s, ok
		}
		return p.dashed(func() (string, bool) {
			start := p.pos
			s := p.while(func(r rune) bool { return !strings.ContainsRune("(-:.,>)", r) })
			return strings.TrimSpace(s), p.pos > start
		})
	}()
	p.label(m, "any non reserved character different from: .,>()")
	return key, ok
}

// treePath = fieldName { "." fieldName } [ jsonPath ]. The last name is a field, those before it
// are embedded relations.
func (p *parser) treePath() (path ast.Path, f ast.Field, ok bool) {
	names, ok := p.dotted()
	if !ok {
		return nil, f, false
	}
	last := len(names) - 1
	f.Name = names[last]
	f.Path, ok = p.jsonPath()
	return names[:last], f, ok
}

// dotted = fieldName { "." fieldName }.
func (p *parser) dotted() ([]string, bool) {
	var names []string
	for {
		n, ok := p.fieldName()
		if !ok {
			return nil, false
		}
		names = append(names, n)
		if !p.delimiter() {
			return names, true
		}
	}
}

// columns = fieldName { ws "," ws fieldName }.
func (p *parser) columns() ([]string, bool) {
	var names []string
	for {
		n, ok := p.fieldName()
		if !ok {
			return nil, false
		}
		names = append(names, n)
		m := p.mark()
		p.spaces()
		if !p.char(',') {
			return names, p.pos == m.pos
		}
		p.spaces()
	}
}
