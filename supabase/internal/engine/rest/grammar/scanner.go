package grammar

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner reads tokens from the input.
type scanner struct {
	in    string
	pos   int
	err   failure // known at pos
	quiet bool    // failures are not kept
}

// fail adds messages to the failure at the position and returns false.
func (sc *scanner) fail(msgs ...message) bool {
	sc.err = merge(sc.err, failure{sc.pos, msgs})
	return false
}

// advance consumes n bytes and drops earlier failures.
func (sc *scanner) advance(n int) {
	sc.pos += n
	sc.err = failure{pos: sc.pos}
}

func (sc *scanner) atEnd() bool { return sc.pos >= len(sc.in) }

// found returns the message about the token at the position.
func (sc *scanner) found() message {
	if sc.atEnd() {
		return message{sysUnexpected, ""}
	}
	r, _ := utf8.DecodeRuneInString(sc.in[sc.pos:])
	return message{sysUnexpected, quoteString(string(r))}
}

// char consumes one ASCII character.
func (sc *scanner) char(c byte) bool {
	if !sc.atEnd() && sc.in[sc.pos] == c {
		sc.advance(1)
		return true
	}
	if sc.quiet {
		return false
	}
	return sc.fail(sc.found(), message{expected, quoteString(string(rune(c)))})
}

// literal consumes s, or fails without consuming, like Parsec's try (string s).
func (sc *scanner) literal(s string) bool {
	rest := sc.in[sc.pos:]
	if strings.HasPrefix(rest, s) {
		sc.advance(len(s))
		return true
	}
	if sc.quiet {
		return false
	}
	n := 0
	for n < len(rest) && n < len(s) && rest[n] == s[n] {
		n++
	}
	got := message{sysUnexpected, ""}
	if n < len(rest) {
		r, _ := utf8.DecodeRuneInString(rest[n:])
		got.text = quoteString(string(r))
	}
	return sc.fail(got, message{expected, quoteString(s)})
}

// end succeeds at the end of the input.
func (sc *scanner) end() bool {
	if sc.atEnd() {
		return true
	}
	if sc.quiet {
		return false
	}
	r, _ := utf8.DecodeRuneInString(sc.in[sc.pos:])
	return sc.fail(message{unexpected, quoteRune(r)}, message{expected, "end of input"})
}

// while consumes the longest run of runes that ok accepts. The labels name the accepted runes.
func (sc *scanner) while(ok func(rune) bool, labels ...string) string {
	start := sc.pos
	for !sc.atEnd() {
		r, n := utf8.DecodeRuneInString(sc.in[sc.pos:])
		if !ok(r) {
			break
		}
		sc.pos += n
	}
	if sc.pos > start {
		sc.err = failure{pos: sc.pos}
	}
	sc.expectAny(labels...)
	return sc.in[start:sc.pos]
}

// expectAny records that any of labels was possible here.
func (sc *scanner) expectAny(labels ...string) {
	if sc.quiet {
		return
	}
	got := sc.found()
	msgs := make([]message, 0, len(labels)+1)
	msgs = append(msgs, got)
	for _, l := range labels {
		msgs = append(msgs, message{expected, l})
	}
	sc.fail(msgs...)
}

// mark is a position to return to.
type mark struct {
	pos int
	err failure
}

func (sc *scanner) mark() mark { return mark{sc.pos, sc.err} }

// back returns to the mark after a failed attempt, keeps the failure, and returns false.
func (sc *scanner) back(m mark) bool {
	sc.pos = m.pos
	sc.err = merge(m.err, sc.err)
	return false
}

// begin starts a rule that label ends.
func (sc *scanner) begin() mark {
	m := sc.mark()
	sc.err = failure{pos: sc.pos}
	return m
}

// label ends a rule. If the rule consumed nothing, name replaces everything that the rule expected.
func (sc *scanner) label(m mark, name string) {
	if sc.pos != m.pos {
		return
	}
	if len(sc.err.msgs) > 0 {
		kept := make([]message, 0, len(sc.err.msgs)+1)
		for _, x := range sc.err.msgs {
			if x.kind != expected {
				kept = append(kept, x)
			}
		}
		sc.err.msgs = append(kept, message{expected, name})
	}
	sc.err = merge(m.err, sc.err)
}

// ahead is a lookahead: it runs a rule and, if the rule succeeds, returns to where it began.
func (sc *scanner) ahead(rule func() bool) bool {
	m := sc.mark()
	if !rule() {
		return sc.back(m)
	}
	sc.pos, sc.err = m.pos, m.err
	return true
}

// error returns the failure as an Error. name names the input.
func (sc *scanner) error(name string) *Error {
	line, col := 1, 1
	for i, r := range sc.in {
		if i >= sc.err.pos {
			break
		}
		switch r {
		case '\n':
			line, col = line+1, 1
		case '\t':
			col += 8 - (col-1)%8
		default:
			col++
		}
	}
	place := "\"" + name + "\" (line " + strconv.Itoa(line) + ", column " + strconv.Itoa(col) + ")"
	return &Error{Message: place, Details: sc.err.text()}
}
