package grammar

import "daawo/supabase/internal/engine/rest/ast"

// order = term { "," term }.
func (p *parser) order() ([]ast.OrderTerm, bool) {
	var terms []ast.OrderTerm
	for {
		p.spaces()
		m := p.mark()
		t, ok := p.relatedTerm()
		if !ok {
			p.back(m)
			if t, ok = p.plainTerm(); !ok {
				return nil, false
			}
		}
		p.spaces()
		terms = append(terms, t)
		if !p.char(',') {
			return terms, true
		}
	}
}

// plainTerm = field [ ".asc" | ".desc" ] [ ".nullsfirst" | ".nullslast" ].
func (p *parser) plainTerm() (t ast.OrderTerm, ok bool) {
	if t.Field, ok = p.field(); !ok {
		return t, false
	}
	return t, p.orderTail(&t)
}

// relatedTerm = relation "(" field ")" [ ".asc" | ".desc" ] [ ".nullsfirst" | ".nullslast" ].
func (p *parser) relatedTerm() (t ast.OrderTerm, ok bool) {
	if t.Relation, ok = p.fieldName(); !ok || !p.char('(') {
		return t, false
	}
	if t.Field, ok = p.field(); !ok || !p.char(')') {
		return t, false
	}
	return t, p.orderTail(&t)
}

// orderTail = [ ".asc" | ".desc" ] [ ".nullsfirst" | ".nullslast" ], followed by a comma or the
// end.
func (p *parser) orderTail(t *ast.OrderTerm) bool {
	switch {
	case p.modifier("asc"):
		t.Direction = ast.Asc
	case p.modifier("desc"):
		t.Direction = ast.Desc
	}
	switch {
	case p.modifier("nullsfirst"):
		t.Nulls = ast.NullsFirst
	case p.modifier("nullslast"):
		t.Nulls = ast.NullsLast
	}
	return p.ahead(func() bool { return p.char(',') }) || p.end()
}

// modifier = "." word.
func (p *parser) modifier(word string) bool {
	m := p.mark()
	if p.delimiter() && p.literal(word) {
		return true
	}
	return p.back(m)
}
