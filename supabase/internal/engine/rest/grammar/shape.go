package grammar

import (
	"slices"
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
)

// slot stands for a value at the end of a parameter of a shape. A shape holds no other NUL.
const slot = "\x00"

// Shape separates a raw query string into its shape and its values. The values are the texts of
// filters after the operator, id=eq.VALUE, and with call the arguments of a function: the parser
// takes them as they are, up to the end of the parameter. All else is part of the shape, in
// particular what the parser reads further: select, logic trees, ranges, the lists of in, the
// keyword of is. So queries of one shape differ only in parameters of the statement.
//
// Shape returns the values decoded. When in doubt a value stays in the shape.
func Shape(raw string, call bool) (shape string, values []string) {
	if strings.Contains(raw, slot) {
		raw = strings.ReplaceAll(raw, slot, "%00") // which Decode reads alike
	}
	var b strings.Builder
	copied, rest := 0, raw
	for rest != "" {
		var part string
		part, rest = cutPart(rest)
		begin, value, ok := cutValue(part, call)
		if !ok {
			continue
		}
		if values == nil {
			b.Grow(len(raw))
		}
		end := len(raw) - len(rest)
		if end > 0 && (raw[end-1] == '&' || raw[end-1] == ';') {
			end--
		}
		b.WriteString(raw[copied : end-len(part)+begin])
		b.WriteString(slot)
		values, copied = append(values, value), end
	}
	if values == nil {
		return raw, nil
	}
	b.WriteString(raw[copied:])
	return b.String(), values
}

// cutValue returns the decoded value of a parameter and where it begins, and false if the value
// belongs to the shape.
func cutValue(part string, call bool) (begin int, value string, ok bool) {
	k, v, has := strings.Cut(part, "=")
	if !has {
		return 0, "", false
	}
	if key := Decode(k); kindOf(key) != filterKey || !plainKey(key) {
		return 0, "", false
	}
	begin = len(k) + 1
	if n := operatorLength(v); n > 0 {
		return begin + n, Decode(v[n:]), true
	}
	if value = Decode(v); call && !mayBeFilter(value) {
		return begin, value, true
	}
	return 0, "", false
}

// plainKey reports whether a key has only characters of common names and JSON paths.
func plainKey(key string) bool {
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '_', c == '.', c == '-', c == '>':
		default:
			return false
		}
	}
	return true
}

// operatorLength returns the length of the operator at the start of a filter whose value is the
// rest, with its dot; 0 if there is none. It knows no operator with an argument.
func operatorLength(filter string) int {
	begin := 0
	if strings.HasPrefix(filter, "not.") {
		begin = len("not.")
	}
	n := strings.IndexByte(filter[begin:], '.')
	if n < 0 {
		return 0
	}
	name := filter[begin : begin+n]
	op := ast.Op(name)
	for _, q := range [...]string{"(any)", "(all)"} {
		if quantified, ok := strings.CutSuffix(name, q); ok {
			if !slices.Contains(quantOps(), ast.Op(quantified)) {
				return 0
			}
			return begin + n + 1
		}
	}
	if op == "isdistinct" || slices.Contains(quantOps(), op) || slices.Contains(simpleOps(), op) ||
		slices.Contains(ftsOps(), op) {
		return begin + n + 1
	}
	return 0
}

// mayBeFilter reports whether the parser may read more of a function's argument than its first
// character: it begins like a filter and has a dot.
func mayBeFilter(value string) bool {
	if !strings.Contains(value, ".") {
		return false
	}
	begins := func(op ast.Op) bool { return strings.HasPrefix(value, string(op)) }
	return begins("not") || begins("in") || begins("is") || slices.ContainsFunc(simpleOps(), begins) ||
		slices.ContainsFunc(quantOps(), begins) || slices.ContainsFunc(ftsOps(), begins)
}

// kind is what a parameter is by its name.
type kind uint8

const (
	filterKey kind = iota
	listKey        // select, columns, on_conflict
	orderKey
	limitKey
	offsetKey
	logicKey
)

func kindOf(key string) kind {
	switch key {
	case "select", "columns", "on_conflict":
		return listKey
	}
	switch key[strings.LastIndexByte(key, '.')+1:] {
	case "order":
		return orderKey
	case "limit":
		return limitKey
	case "offset":
		return offsetKey
	case "and", "or":
		return logicKey
	}
	return filterKey
}
