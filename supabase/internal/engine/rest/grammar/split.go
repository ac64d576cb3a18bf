package grammar

import (
	"slices"
	"strings"
)

// splitQuery splits a raw query string at & and ; and decodes its parts. Invalid UTF-8 becomes
// U+FFFD.
func splitQuery(raw string) []pair {
	raw = strings.TrimPrefix(raw, "?")
	var pairs []pair
	for raw != "" {
		part := raw
		if i := strings.IndexAny(raw, "&;"); i >= 0 {
			part, raw = raw[:i], raw[i+1:]
		} else {
			raw = ""
		}
		if part == "" {
			continue
		}
		k, v, has := strings.Cut(part, "=")
		pairs = append(pairs, pair{Decode(k), Decode(v), has})
	}
	return pairs
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
func canonical(pairs []pair) string {
	if len(pairs) == 0 {
		return ""
	}
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
