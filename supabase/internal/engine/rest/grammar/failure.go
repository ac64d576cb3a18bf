package grammar

import (
	"slices"
	"strings"
)

type messageKind uint8

const (
	sysUnexpected messageKind = iota // a token of the input, or its end ("")
	unexpected
	expected
)

type message struct {
	kind messageKind
	text string
}

// failure holds what the parser expected and found at a position.
type failure struct {
	pos  int
	msgs []message
}

// merge returns the failure further into the input. Failures at one position are joined.
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

// text formats the failure as Parsec prints it.
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
	if slices.Contains(list, s) {
		return list
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
