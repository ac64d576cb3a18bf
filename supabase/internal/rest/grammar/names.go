package grammar

import (
	"strings"
	"unicode"

	"daawo/supabase/internal/rest/ast"
)

func isIdentifierRune(r rune) bool {
	return unicode.IsLetter(r) || r >= '0' && r <= '9' || r == '_' || r == ' ' || r == '$'
}

func (p *parser) spaces() {
	for !p.atEnd() && (p.in[p.pos] == ' ' || p.in[p.pos] == '\t') {
		p.advance(1)
	}
	p.expectAny()
}

// identifier = { letter | digit | "_" | " " | "$" }-, its outer spaces dropped.
func (p *parser) identifier() (string, bool) {
	start := p.pos
	s := p.while(isIdentifierRune, "letter", "digit")
	return strings.TrimSpace(s), p.pos > start
}

// dash is a "-" that does not begin an arrow.
func (p *parser) dash() bool {
	m := p.mark()
	if !p.char('-') {
		return p.back(m)
	}
	if !p.atEnd() && p.in[p.pos] == '>' {
		p.fail(message{unexpected, "'>'"})
		return p.back(m)
	}
	return true
}

// dashed = part { "-" part }.
func (p *parser) dashed(part func() (string, bool)) (string, bool) {
	s, ok := part()
	if !ok {
		return "", false
	}
	for p.dash() {
		next, ok := part()
		if !ok {
			return "", false
		}
		s += "-" + next
	}
	return s, true
}

// quoted = `"` { any but `"` and `\` | `\` any } `"`.
func (p *parser) quoted() (string, bool) {
	if !p.char('"') {
		return "", false
	}
	var b strings.Builder
	for {
		b.WriteString(p.while(func(r rune) bool { return r != '"' && r != '\\' }, `"\\"`))
		if !p.atEnd() && p.in[p.pos] == '\\' {
			p.advance(1)
			if p.atEnd() {
				p.expectAny()
				return "", false
			}
			r := []rune(p.in[p.pos:])[0]
			b.WriteRune(r)
			p.advance(len(string(r)))
			continue
		}
		return b.String(), p.char('"')
	}
}

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

func (p *parser) delimiter() bool {
	m := p.begin()
	ok := p.char('.')
	p.label(m, "delimiter (.)")
	return ok
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

// jsonIndex = [ "-" ] digits, before an arrow, a cast, a dot, a comma or the end.
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

// treePath = fieldName { "." fieldName } [ jsonPath ]: the names of embedded relations, then a field.
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
