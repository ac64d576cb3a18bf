package grammar

import (
	"strings"
	"unicode"
)

// isIdentifierRune reports whether an identifier may hold r.
func isIdentifierRune(r rune) bool {
	return unicode.IsLetter(r) || r >= '0' && r <= '9' || r == '_' || r == ' ' || r == '$'
}

// spaces skips spaces and tabs.
func (sc *scanner) spaces() {
	for !sc.atEnd() && (sc.in[sc.pos] == ' ' || sc.in[sc.pos] == '\t') {
		sc.advance(1)
	}
	sc.expectAny()
}

// identifier = { letter | digit | "_" | " " | "$" }-, without its leading and trailing spaces.
func (sc *scanner) identifier() (string, bool) {
	start := sc.pos
	s := sc.while(isIdentifierRune, "letter", "digit")
	return strings.TrimSpace(s), sc.pos > start
}

// dash = "-", unless it begins the arrow "->".
func (sc *scanner) dash() bool {
	m := sc.mark()
	if !sc.char('-') {
		return sc.back(m)
	}
	if !sc.atEnd() && sc.in[sc.pos] == '>' {
		sc.fail(message{unexpected, "'>'"})
		return sc.back(m)
	}
	return true
}

// dashed = part { "-" part }.
func (sc *scanner) dashed(part func() (string, bool)) (string, bool) {
	s, ok := part()
	if !ok {
		return "", false
	}
	for sc.dash() {
		next, ok := part()
		if !ok {
			return "", false
		}
		s += "-" + next
	}
	return s, true
}

// quoted = `"` { any except `"` and `\` | `\` any } `"`.
func (sc *scanner) quoted() (string, bool) {
	if !sc.char('"') {
		return "", false
	}
	var b strings.Builder
	for {
		b.WriteString(sc.while(func(r rune) bool { return r != '"' && r != '\\' }, `"\\"`))
		if !sc.atEnd() && sc.in[sc.pos] == '\\' {
			sc.advance(1)
			if sc.atEnd() {
				sc.expectAny()
				return "", false
			}
			r := []rune(sc.in[sc.pos:])[0]
			b.WriteRune(r)
			sc.advance(len(string(r)))
			continue
		}
		return b.String(), sc.char('"')
	}
}

// delimiter = ".".
func (sc *scanner) delimiter() bool {
	m := sc.begin()
	ok := sc.char('.')
	sc.label(m, "delimiter (.)")
	return ok
}
