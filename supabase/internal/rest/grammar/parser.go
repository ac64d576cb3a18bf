// Package grammar reads the REST dialect: the query string of a URL and the headers Prefer, Accept, Content-Type and
// Range, into values of package ast. It knows no schema.
//
// Its errors have to read as upstream's, whose parser is Parsec. So the core in this file keeps errors as that library
// does: an error has a position and messages; an alternative that consumes input forgets the errors of those before
// it; errors at one position are merged; a label replaces what was expected at the label's start.
package grammar

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a query string that could not be parsed. Message gives the place, Details what was there.
type Error struct{ Message, Details string }

func (e *Error) Error() string { return e.Message + ": " + e.Details }

type messageKind uint8

const (
	sysUnexpected messageKind = iota // a token of the input, or its end
	unexpected
	expected
)

type message struct {
	kind messageKind
	text string
}

// failure is what is known at a position about why the parse could not go on there.
type failure struct {
	pos  int
	msgs []message
}

func merge(a, b failure) failure {
	switch {
	case len(b.msgs) == 0 && len(a.msgs) > 0:
		return a
	case len(a.msgs) == 0 && len(b.msgs) > 0:
		return b
	case a.pos > b.pos:
		return a
	case a.pos < b.pos:
		return b
	default:
		return failure{a.pos, append(a.msgs[:len(a.msgs):len(a.msgs)], b.msgs...)}
	}
}

// parser is a position in the input and the failure known there. Each rule is a method that says whether it
// succeeded; whether it consumed input shows in pos.
type parser struct {
	in    string
	pos   int
	err   failure
	quiet bool // failures are not kept
}

// parse runs a rule over in. Nearly all input is right, so failures are kept only in a second run over what is not. what
// and shown are how an error names the input.
func parse(what, shown, in string, rule func(*parser) bool) *Error {
	p := parser{in: in, quiet: true}
	if rule(&p) {
		return nil
	}
	p = parser{in: in}
	if rule(&p) {
		return nil
	}
	return p.error("failed to parse " + what + " (" + shown + ")")
}

func (p *parser) fail(msgs ...message) bool {
	p.err = merge(p.err, failure{p.pos, msgs})
	return false
}

// advance consumes n bytes, which makes earlier failures irrelevant.
func (p *parser) advance(n int) {
	p.pos += n
	p.err = failure{pos: p.pos}
}

func (p *parser) atEnd() bool { return p.pos >= len(p.in) }

// found describes the token at the position as Parsec shows it.
func (p *parser) found() message {
	if p.atEnd() {
		return message{sysUnexpected, ""}
	}
	r, _ := utf8.DecodeRuneInString(p.in[p.pos:])
	return message{sysUnexpected, quoteString(string(r))}
}

// char consumes one ASCII character.
func (p *parser) char(c byte) bool {
	if !p.atEnd() && p.in[p.pos] == c {
		p.advance(1)
		return true
	}
	if p.quiet {
		return false
	}
	return p.fail(p.found(), message{expected, quoteString(string(rune(c)))})
}

// literal consumes s or fails without consuming, as try (string s).
func (p *parser) literal(s string) bool {
	rest := p.in[p.pos:]
	if strings.HasPrefix(rest, s) {
		p.advance(len(s))
		return true
	}
	if p.quiet {
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
	return p.fail(got, message{expected, quoteString(s)})
}

// end succeeds at the end of the input.
func (p *parser) end() bool {
	if p.atEnd() {
		return true
	}
	if p.quiet {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.in[p.pos:])
	return p.fail(message{unexpected, quoteRune(r)}, message{expected, "end of input"})
}

// while consumes the longest run of runes that ok accepts; labels say what each of them may be.
func (p *parser) while(ok func(rune) bool, labels ...string) string {
	start := p.pos
	for !p.atEnd() {
		r, n := utf8.DecodeRuneInString(p.in[p.pos:])
		if !ok(r) {
			break
		}
		p.pos += n
	}
	if p.pos > start {
		p.err = failure{pos: p.pos}
	}
	p.expectAny(labels...)
	return p.in[start:p.pos]
}

// expectAny notes that any of labels could have stood here.
func (p *parser) expectAny(labels ...string) {
	if p.quiet {
		return
	}
	got := p.found()
	msgs := make([]message, 0, len(labels)+1)
	msgs = append(msgs, got)
	for _, l := range labels {
		msgs = append(msgs, message{expected, l})
	}
	p.fail(msgs...)
}

// mark is a place to come back to.
type mark struct {
	pos int
	err failure
}

func (p *parser) mark() mark { return mark{p.pos, p.err} }

// back undoes a failed attempt: the position is the mark's, the failure stays known.
func (p *parser) back(m mark) bool {
	p.pos = m.pos
	p.err = merge(m.err, p.err)
	return false
}

// begin and label bracket a rule whose expectations are replaced by one name when it consumed nothing.
func (p *parser) begin() mark {
	m := p.mark()
	p.err = failure{pos: p.pos}
	return m
}

func (p *parser) label(m mark, name string) {
	if p.pos != m.pos {
		return
	}
	if len(p.err.msgs) > 0 {
		kept := make([]message, 0, len(p.err.msgs)+1)
		for _, x := range p.err.msgs {
			if x.kind != expected {
				kept = append(kept, x)
			}
		}
		p.err.msgs = append(kept, message{expected, name})
	}
	p.err = merge(m.err, p.err)
}

// ahead runs a rule and takes its consumption back when it succeeds.
func (p *parser) ahead(rule func() bool) bool {
	m := p.mark()
	if !rule() {
		return p.back(m)
	}
	p.pos, p.err = m.pos, m.err
	return true
}

// error writes the failure as Parsec prints it.
func (p *parser) error(name string) *Error {
	line, col := 1, 1
	for i, r := range p.in {
		if i >= p.err.pos {
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
	return &Error{Message: place, Details: p.err.text()}
}

func (f failure) text() string {
	var sys *string
	var unexp, exp []string
	for _, m := range f.msgs {
		switch m.kind {
		case sysUnexpected:
			if sys == nil {
				sys = &m.text
			}
		case unexpected:
			unexp = addOnce(unexp, m.text)
		case expected:
			exp = addOnce(exp, m.text)
		}
	}
	var parts []string
	switch {
	case len(unexp) > 0:
		parts = append(parts, "unexpected "+orList(unexp))
	case sys != nil && *sys == "":
		parts = append(parts, "unexpected end of input")
	case sys != nil:
		parts = append(parts, "unexpected "+*sys)
	}
	if len(exp) > 0 {
		parts = append(parts, "expecting "+orList(exp))
	}
	if len(parts) == 0 {
		return "unknown parse error"
	}
	return strings.Join(parts, " ")
}

func addOnce(list []string, s string) []string {
	if s == "" {
		return list
	}
	for _, x := range list {
		if x == s {
			return list
		}
	}
	return append(list, s)
}

func orList(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
