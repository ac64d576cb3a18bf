package grammar

import (
	"slices"
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
)

// pair is one parameter of a query string.
type pair struct {
	key, value string
	hasValue   bool
	slot       int // the number of the request's value that follows value; 0 is none
}

// splitQuery splits a query string or a shape at & and ; and decodes its parts. Invalid UTF-8
// becomes U+FFFD.
func splitQuery(shape string) []pair {
	shape = strings.TrimPrefix(shape, "?")
	var pairs []pair
	slots := 0
	for shape != "" {
		var part string
		if part, shape = cutPart(shape); part == "" {
			continue
		}
		k, v, has := strings.Cut(part, "=")
		kv := pair{key: Decode(k), hasValue: has}
		if bare, slotted := strings.CutSuffix(v, slot); slotted {
			slots++
			v, kv.slot = bare, slots
		}
		kv.value = Decode(v)
		pairs = append(pairs, kv)
	}
	return pairs
}

// cutPart returns the query string up to the next & or ;, and the text after it.
func cutPart(query string) (part, rest string) {
	if i := strings.IndexAny(query, "&;"); i >= 0 {
		return query[:i], query[i+1:]
	}
	return query, ""
}

// Decode replaces + with a space and %XX with its byte. Invalid UTF-8 in the result becomes U+FFFD.
func Decode(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			b = append(b, ' ')
		case c == '%' && i+2 < len(s) && unhex(s[i+1]) < 16 && unhex(s[i+2]) < 16:
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			b = append(b, c)
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// unhex returns the value of a hexadecimal digit, 0xff for any other byte.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	default:
		return 0xff
	}
}

// canonical returns the parameters sorted by name. The values of one name are joined with commas.
// The texts are encoded, the values of the request have to be.
func canonical(pairs []pair) (list []ast.Value) {
	sorted := slices.Clone(pairs)
	slices.SortStableFunc(sorted, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for i, kv := range sorted {
		switch {
		case i > 0 && sorted[i-1].key == kv.key:
			b.WriteByte(',')
		default:
			if i > 0 {
				b.WriteByte('&')
			}
			encode(&b, kv.key)
			b.WriteByte('=')
		}
		encode(&b, kv.value)
		if kv.slot != 0 {
			list = append(list, ast.Value{Text: b.String()}, ast.Value{Slot: kv.slot})
			b.Reset()
		}
	}
	if b.Len() > 0 {
		list = append(list, ast.Value{Text: b.String()})
	}
	return list
}

// Canonical joins the parts of a canonical query string.
func Canonical(parts []ast.Value, values []string) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Slot == 0 {
			b.WriteString(p.Text)
		} else {
			encode(&b, p.In(values))
		}
	}
	return b.String()
}

// encode percent-encodes s.
func encode(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
}
