package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Path is the path to the role in the claims: JSONPath (RFC 9535) like "$.a.b[0]", with quoted
// names, negative indexes, * and filters on strings like [?(@ == "x")], [?search(@, "^x")] and
// [?match(@, "x")]; or the older form ".a.b[0]" with the comparisons ==, !=, ^==, ==^ and *==. The
// zero Path is $.role.
type Path struct {
	steps []step
	text  string
}

type step struct {
	name  string
	index int
	kind  stepKind
	keep  func(string) bool
	test  string // the comparison of a filter in the older form
}

type stepKind uint8

const (
	byName stepKind = iota
	byIndex
	byAll
	byFilter
)

var errPath = errors.New("not a path to the role")

// Old reports whether the path is in the older form, which PostgREST has deprecated.
func (p Path) Old() bool { return strings.HasPrefix(p.text, ".") }

// String returns the path as it was written, or one in the older form with all names quoted.
func (p Path) String() string {
	if p.steps == nil {
		return "$.role"
	}
	if !p.Old() {
		return p.text
	}
	var b strings.Builder
	for _, s := range p.steps {
		switch s.kind {
		case byName:
			b.WriteString("." + strconv.Quote(s.name))
		case byIndex:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case byFilter:
			b.WriteString("[?(" + s.test + ")]")
		case byAll:
			return p.text
		}
	}
	return b.String()
}

// ParsePath reads a path.
func ParsePath(text string) (Path, error) {
	p := Path{text: text, steps: []step{}}
	rest := strings.TrimPrefix(strings.TrimSpace(text), "$")
	for rest != "" {
		var s step
		var err error
		switch {
		case rest[0] == '.':
			s, rest, err = parseName(rest[1:])
		case rest[0] == '[':
			s, rest, err = parseBracket(rest[1:])
		default:
			err = errPath
		}
		if err != nil {
			return Path{}, fmt.Errorf("%q: %w", text, err)
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

func parseName(s string) (step, string, error) {
	if strings.HasPrefix(s, `"`) {
		name, rest, err := quoted(s)
		return step{name: name}, rest, err
	}
	if rest, ok := strings.CutPrefix(s, "*"); ok {
		return step{kind: byAll}, rest, nil
	}
	n := strings.IndexFunc(s, func(r rune) bool { return !nameRune(r) })
	if n < 0 {
		n = len(s)
	}
	if n == 0 {
		return step{}, "", errPath
	}
	return step{name: s[:n]}, s[n:], nil
}

// nameRune reports whether a name without quotes may contain r.
func nameRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' || r == '@' || r > unicode.MaxASCII
}

func parseBracket(s string) (step, string, error) {
	s = strings.TrimLeft(s, " ")
	var st step
	var err error
	switch {
	case strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "'"):
		st.name, s, err = quoted(s)
	case strings.HasPrefix(s, "*"):
		st.kind, s = byAll, s[1:]
	case strings.HasPrefix(s, "?"):
		st.kind = byFilter
		before := strings.TrimLeft(s[1:], " ")
		st.keep, s, err = parseFilter(before)
		test := strings.TrimSpace(before[:len(before)-len(s)])
		st.test = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(test, "("), ")"))
	default:
		n := strings.IndexByte(s, ']')
		if n < 0 {
			return st, "", errPath
		}
		st.kind = byIndex
		st.index, err = strconv.Atoi(strings.TrimSpace(s[:n]))
		s = s[n:]
	}
	if err != nil {
		return st, "", errPath
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " "), "]")
	if !ok {
		return st, "", errPath
	}
	return st, rest, nil
}

// parseFilter reads a condition on the element, with or without parentheses.
func parseFilter(s string) (func(string) bool, string, error) {
	if inner, ok := strings.CutPrefix(s, "("); ok {
		keep, rest, err := parseFilter(strings.TrimLeft(inner, " "))
		if err != nil {
			return nil, "", err
		}
		rest, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), ")")
		if !ok {
			return nil, "", errPath
		}
		return keep, rest, nil
	}
	for _, fn := range [...]string{"search", "match"} {
		rest, ok := strings.CutPrefix(s, fn+"(@")
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ",")
		if !ok {
			return nil, "", errPath
		}
		pattern, rest, err := quoted(strings.TrimLeft(rest, " "))
		if err != nil {
			return nil, "", err
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ")")
		if !ok {
			return nil, "", errPath
		}
		if fn == "match" {
			pattern = "^(?:" + pattern + ")$"
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, "", err
		}
		return re.MatchString, rest, nil
	}
	s, ok := strings.CutPrefix(s, "@")
	if !ok {
		return nil, "", errPath
	}
	s = strings.TrimLeft(s, " ")
	for _, c := range [...]struct {
		op   string
		test func(a, b string) bool
	}{
		{"^==", strings.HasPrefix}, {"==^", strings.HasSuffix}, {"*==", strings.Contains},
		{"==", func(a, b string) bool { return a == b }}, {"!=", func(a, b string) bool { return a != b }},
	} {
		rest, ok := strings.CutPrefix(s, c.op)
		if !ok {
			continue
		}
		want, rest, err := quoted(strings.TrimLeft(rest, " "))
		return func(v string) bool { return c.test(v, want) }, rest, err
	}
	return nil, "", errPath
}

func quoted(s string) (string, string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", "", errPath
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errPath
}

// Role returns the first value at the path: a string unchanged, any other value as JSON.
func (p Path) Role(claims json.RawMessage) (string, bool) {
	steps := p.steps
	if steps == nil {
		steps = []step{{name: "role"}}
	}
	dec := json.NewDecoder(bytes.NewReader(claims))
	dec.UseNumber()
	var root any
	if dec.Decode(&root) != nil {
		return "", false
	}
	at := []any{root}
	for _, s := range steps {
		var next []any
		for _, v := range at {
			next = append(next, s.from(v)...)
		}
		at = next
	}
	if len(at) == 0 || at[0] == nil {
		return "", false
	}
	if s, ok := at[0].(string); ok {
		return s, true
	}
	out, err := json.Marshal(at[0])
	return string(out), err == nil
}

func (s step) from(v any) []any {
	switch v := v.(type) {
	case map[string]any:
		if s.kind == byName {
			if x, ok := v[s.name]; ok {
				return []any{x}
			}
		}
	case []any:
		switch s.kind {
		case byAll:
			return v
		case byIndex:
			i := s.index
			if i < 0 {
				i += len(v)
			}
			if i >= 0 && i < len(v) {
				return v[i : i+1]
			}
		case byFilter:
			var out []any
			for _, x := range v {
				if text, ok := x.(string); ok && s.keep(text) {
					out = append(out, x)
				}
			}
			return out
		}
	}
	return nil
}
