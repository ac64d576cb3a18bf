package rest

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonbPrinter converts JSON text to the text that Postgres prints after a cast to jsonb: one space
// after each comma and colon, keys sorted by length and then by bytes, the last of equal keys,
// numbers without an exponent. Its input is JSON that Postgres has written. Where it does not know
// Postgres' result, it fails, and Postgres converts the rows.
type jsonbPrinter struct {
	src     []byte
	at      int
	members []member // of the open objects
	moved   []byte   // members of one object in their new order
}

// member is a key of an object with its value, as offsets into the output.
type member struct{ key, colon, end int }

const (
	// maxJSONDepth is the nesting above which Postgres converts the value.
	maxJSONDepth = 200
	// maxNumber is the length in bytes above which Postgres converts a number. Its numeric type has
	// limits beyond that.
	maxNumber = 1000
)

// append appends a JSON text as jsonb. It returns false if only Postgres knows the result.
func (p *jsonbPrinter) append(dst, src []byte) ([]byte, bool) {
	p.src, p.at, p.members = src, 0, p.members[:0]
	dst, ok := p.value(dst, 0)
	return dst, ok && p.next() == 0
}

// next skips white space and returns the next byte, or 0 at the end.
func (p *jsonbPrinter) next() byte {
	for ; p.at < len(p.src); p.at++ {
		if c := p.src[p.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (p *jsonbPrinter) value(dst []byte, depth int) ([]byte, bool) {
	if depth > maxJSONDepth {
		return dst, false
	}
	switch c := p.next(); c {
	case '{':
		return p.object(dst, depth)
	case '[':
		return p.array(dst, depth)
	case '"':
		return p.text(dst)
	case 't', 'n':
		return p.word(dst, 4)
	case 'f':
		return p.word(dst, 5)
	default:
		return p.number(dst)
	}
}

// word copies true, false or null.
func (p *jsonbPrinter) word(dst []byte, n int) ([]byte, bool) {
	if len(p.src)-p.at < n {
		return dst, false
	}
	dst = append(dst, p.src[p.at:p.at+n]...)
	p.at += n
	return dst, true
}

func (p *jsonbPrinter) array(dst []byte, depth int) ([]byte, bool) {
	p.at++
	dst = append(dst, '[')
	if p.next() == ']' {
		p.at++
		return append(dst, ']'), true
	}
	for {
		var ok bool
		if dst, ok = p.value(dst, depth+1); !ok {
			return dst, false
		}
		switch p.next() {
		case ',':
			dst = append(dst, ", "...)
		case ']':
			p.at++
			return append(dst, ']'), true
		default:
			return dst, false
		}
		p.at++
	}
}

func (p *jsonbPrinter) object(dst []byte, depth int) ([]byte, bool) {
	p.at++
	dst = append(dst, '{')
	if p.next() == '}' {
		p.at++
		return append(dst, '}'), true
	}
	first, sorted := len(p.members), true
	for {
		m := member{key: len(dst)}
		var ok bool
		if p.next() != '"' {
			return dst, false
		}
		// A key with an escape sequence is compared by its meaning, not by its text.
		if dst, ok = p.text(dst); !ok || bytes.IndexByte(dst[m.key:], '\\') >= 0 {
			return dst, false
		}
		m.colon = len(dst)
		if p.next() != ':' {
			return dst, false
		}
		p.at++
		dst = append(dst, ": "...)
		if dst, ok = p.value(dst, depth+1); !ok {
			return dst, false
		}
		m.end = len(dst)
		if n := len(p.members); n > first && compareKeys(dst, p.members[n-1], m) >= 0 {
			sorted = false
		}
		p.members = append(p.members, m)
		end := p.next()
		if end != ',' && end != '}' {
			return dst, false
		}
		p.at++
		if end == '}' {
			break
		}
		dst = append(dst, ", "...)
	}
	if !sorted {
		dst = p.sort(dst, p.members[first:])
	}
	p.members = p.members[:first]
	return append(dst, '}'), true
}

// compareKeys compares the keys of two members as jsonb orders them.
func compareKeys(dst []byte, a, b member) int {
	if d := (a.colon - a.key) - (b.colon - b.key); d != 0 {
		return d
	}
	return bytes.Compare(dst[a.key:a.colon], dst[b.key:b.colon])
}

// sort puts the members at the end of dst in order and drops all but the last of equal keys.
func (p *jsonbPrinter) sort(dst []byte, members []member) []byte {
	begin := members[0].key
	slices.SortStableFunc(members, func(a, b member) int { return compareKeys(dst, a, b) })
	p.moved = p.moved[:0]
	for i, m := range members {
		if i+1 < len(members) && compareKeys(dst, m, members[i+1]) == 0 {
			continue
		}
		if len(p.moved) > 0 {
			p.moved = append(p.moved, ", "...)
		}
		p.moved = append(p.moved, dst[m.key:m.end]...)
	}
	return append(dst[:begin], p.moved...)
}

// text copies a string and writes its escape sequences as Postgres does.
func (p *jsonbPrinter) text(dst []byte) ([]byte, bool) {
	begin := p.at
	for i := p.at + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case '"':
			p.at = i + 1
			return append(dst, p.src[begin:p.at]...), true
		case '\\':
			p.at = i
			return p.escaped(append(dst, p.src[begin:i]...))
		}
	}
	return dst, false
}

// escaped copies the rest of a string from its first escape sequence on.
func (p *jsonbPrinter) escaped(dst []byte) ([]byte, bool) {
	for p.at+1 < len(p.src) {
		c := p.src[p.at]
		if c == '"' {
			p.at++
			return append(dst, '"'), true
		}
		if c != '\\' {
			dst = append(dst, c)
			p.at++
			continue
		}
		c = p.src[p.at+1]
		switch c {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			dst = append(dst, '\\', c)
			p.at += 2
		case '/':
			dst = append(dst, '/')
			p.at += 2
		default: // u
			r, ok := p.codePoint()
			if !ok {
				return dst, false
			}
			var text [utf8.UTFMax]byte
			quoted := appendQuoted(dst, text[:utf8.EncodeRune(text[:], r)])
			// Drop the quotes.
			n := copy(quoted[len(dst):], quoted[len(dst)+1:len(quoted)-1])
			dst = quoted[:len(dst)+n]
		}
	}
	if p.at < len(p.src) && p.src[p.at] == '"' {
		p.at++
		return append(dst, '"'), true
	}
	return dst, false
}

// codePoint reads an escape sequence of four hexadecimal digits, or two of them that are a
// surrogate pair. Postgres accepts neither zero nor half a pair.
func (p *jsonbPrinter) codePoint() (rune, bool) {
	read := func() (rune, bool) {
		if len(p.src)-p.at < 6 || p.src[p.at] != '\\' || p.src[p.at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(p.src[p.at+2:p.at+6]), 16, 16)
		p.at += 6
		return rune(n), err == nil
	}
	r, ok := read()
	if !ok || r == 0 {
		return 0, false
	}
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	low, ok := read()
	r = utf16.DecodeRune(r, low)
	return r, ok && r != utf8.RuneError
}

// number copies a number as Postgres' type numeric prints it.
func (p *jsonbPrinter) number(dst []byte) ([]byte, bool) {
	begin := p.at
	point, exponent, zero := -1, -1, true
loop:
	for ; p.at < len(p.src); p.at++ {
		switch c := p.src[p.at]; c {
		case '0', '-', '+':
		case '.':
			point = p.at - begin
		case 'e', 'E':
			if exponent >= 0 {
				return dst, false
			}
			exponent = p.at - begin
		default:
			if c < '1' || c > '9' {
				break loop
			}
			zero = zero && exponent >= 0
		}
	}
	text := p.src[begin:p.at]
	if len(text) == 0 || len(text) > maxNumber || text[len(text)-1] < '0' {
		return dst, false
	}
	if text[0] == '-' {
		if !zero {
			dst = append(dst, '-')
		}
		text, point, exponent = text[1:], point-1, exponent-1
	}
	if exponent < 0 {
		return append(dst, text...), true
	}
	return appendShifted(dst, text[:exponent], string(text[exponent+1:]), point)
}

// appendShifted appends a number without a sign times ten to the power of exponent. point is the
// index of the decimal point; it is negative if there is none.
func appendShifted(dst, text []byte, exponent string, point int) ([]byte, bool) {
	shift, err := strconv.Atoi(exponent)
	if err != nil || shift > maxNumber || shift < -maxNumber {
		return dst, false
	}
	if point < 0 {
		point = len(text)
	}
	digits := make([]byte, 0, 2*maxNumber)
	digits = append(digits, text[:point]...)
	if point < len(text) {
		digits = append(digits, text[point+1:]...)
	}
	scale := max(len(digits)-point-shift, 0) // digits after the point in the result
	point += shift
	if zeros := 1 - point; zeros > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, zeros), digits...)
		point = 1
	}
	for len(digits) < point+scale {
		digits = append(digits, '0')
	}
	whole := bytes.TrimLeft(digits[:point], "0")
	if len(whole) == 0 {
		whole = digits[:1]
		whole[0] = '0'
	}
	dst = append(dst, whole...)
	if scale > 0 {
		dst = append(append(dst, '.'), digits[point:point+scale]...)
	}
	return dst, true
}
