package photo

import (
	"encoding/binary"
	"slices"
)

// webpTables returns the bytes that a decoder allocates for the prefix codes of a WebP. The file
// may declare thousands of codes with few bits, whatever the size of the picture.
func webpTables(data []byte) (bytes int64) {
	var w, h int
	alpha, done := false, false                      // the decoder reads the first chunk with colors, and one with alpha before it
	_ = eachRIFF(data, func(kind string, b []byte) { // Probe has read the chunks without an error
		l := losslessReader{data: b}
		switch {
		case kind == "VP8X" && len(b) >= 10:
			w = 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16
			h = 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
		case done:
		case kind == "VP8 ":
			done = true
		case kind == "ALPH" && len(b) > 0 && b[0]&3 == 1 && !alpha:
			alpha = true
			l.bit = 8
			l.picture(w, h)
		case kind == "VP8L" && len(b) >= 5:
			done = true
			bits := binary.LittleEndian.Uint32(b[1:])
			l.bit = 5 * 8
			l.picture(1+int(bits&0x3fff), 1+int(bits>>14&0x3fff))
		}
		bytes += l.tables
	})
	return bytes
}

// losslessReader reads the prefix codes of a lossless WebP (RFC 9649, section 3). It stops at a
// mistake, where the decoder stops, too.
type losslessReader struct {
	data   []byte
	bit    int // position
	failed bool
	tables int64 // bytes that a decoder allocates for the prefix codes so far

	symbols [6][]uint16 // buffers of the codes of the current group, and of the code of lengths
	buffer  []uint8     // of lengths
}

const (
	losslessLiterals = 256
	losslessLengths  = losslessLiterals + 24
	maxPrefixGroups  = 2600 // the decoder refuses more
	prefixTable      = 536  // bytes of a prefix code without its nodes
	prefixNode       = 8    // bytes of a node
	prefixSymbol     = 8    // bytes of a symbol of the alphabet, while a code is built
)

// picture reads a picture up to its pixels.
func (l *losslessReader) picture(w, h int) {
	seen := [4]bool{}
	for l.read(1) == 1 && !l.failed {
		kind := l.read(2)
		if seen[kind] {
			l.failed = true
			return
		}
		seen[kind] = true
		switch kind {
		case 0, 1: // predictor, color
			size := l.read(3) + 2
			l.pixels(tiles(w, size), tiles(h, size))
		case 3: // color indexing
			colors := l.read(8) + 1
			l.pixels(colors, 1)
			switch {
			case colors <= 2:
				w = tiles(w, 3)
			case colors <= 4:
				w = tiles(w, 2)
			case colors <= 16:
				w = tiles(w, 1)
			}
		}
	}
	cache, last := l.colorCache(), 0
	if l.read(1) == 1 {
		size := l.read(3) + 2
		last = l.pixels(tiles(w, size), tiles(h, size))
	}
	for group := 0; group <= last && last < maxPrefixGroups && !l.failed; group++ {
		l.group(cache)
	}
}

// tiles returns the number of tiles with an edge of 1<<bits in a length.
func tiles(length, bits int) int { return (length + 1<<bits - 1) >> bits }

// colorCache returns the number of entries in the color cache.
func (l *losslessReader) colorCache() int {
	if l.read(1) == 0 {
		return 0
	}
	bits := l.read(4)
	if l.failed = l.failed || bits < 1 || bits > 11; l.failed {
		return 0
	}
	return 1 << bits
}

// pixels reads an image that belongs to the picture and returns the largest number of its pixels,
// of 16 bits in red and green.
func (l *losslessReader) pixels(w, h int) (largest int) {
	codes := l.group(l.colorCache())
	for left := w * h; left > 0 && !l.failed; {
		green := l.next(&codes[0])
		switch {
		case green < losslessLiterals:
			largest = max(largest, l.next(&codes[1])<<8|green)
			l.next(&codes[2])
			l.next(&codes[3])
			left--
		case green < losslessLengths: // a copy of earlier pixels
			left -= l.number(green - losslessLiterals)
			l.number(l.next(&codes[4]))
		default:
			left--
		}
	}
	return largest
}

// number returns a length or a distance.
func (l *losslessReader) number(symbol int) int {
	if symbol < 4 {
		return symbol + 1
	}
	extra := (symbol - 2) >> 1
	return (2+symbol&1)<<extra + l.read(extra) + 1
}

// losslessCode is a prefix code: the number of codes of each length, and the symbols in the order
// of their codes. A code with one symbol has no bits.
type losslessCode struct {
	counts  [16]int
	symbols []uint16
}

// group reads the codes of green, red, blue, alpha and distance. They are valid until the next
// group.
func (l *losslessReader) group(cache int) (codes [5]losslessCode) {
	for i, symbols := range [...]int{losslessLengths + cache, losslessLiterals, losslessLiterals, losslessLiterals, 40} {
		if codes[i] = l.code(i, symbols); l.failed {
			return codes
		}
		l.tables += prefixTable + prefixNode*int64(2*len(codes[i].symbols)-1) + prefixSymbol*int64(symbols)
	}
	return codes
}

// code reads a prefix code of an alphabet into one of the buffers.
func (l *losslessReader) code(buffer, alphabet int) (c losslessCode) {
	if l.read(1) == 1 {
		n := l.read(1) + 1
		c.counts[1] = n
		c.symbols = append(l.symbols[buffer][:0], uint16(l.read(1+7*l.read(1))))
		if n == 2 {
			c.symbols = append(c.symbols, uint16(l.read(8)))
		}
		for _, symbol := range c.symbols {
			l.failed = l.failed || int(symbol) >= alphabet
		}
		l.symbols[buffer] = c.symbols
		return c
	}
	var first [19]uint8
	order := [19]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	n := l.read(4) + 4
	for i := 0; i < n && i < len(order); i++ {
		first[order[i]] = uint8(l.read(3))
	}
	lengths := l.canonical(len(l.symbols)-1, first[:])
	if l.failed = l.failed || n > len(order); l.failed {
		return c
	}
	return l.canonical(buffer, l.lengths(&lengths, alphabet))
}

// lengths reads the lengths of the codes of an alphabet.
func (l *losslessReader) lengths(code *losslessCode, alphabet int) []uint8 {
	out, most := l.buffer[:0], alphabet
	if l.read(1) == 1 {
		most = 2 + l.read(2+2*l.read(3))
		l.failed = l.failed || most > alphabet
	}
	last := 8
	for ; most > 0 && len(out) < alphabet && !l.failed; most-- {
		length, times := l.next(code), 1
		switch length {
		case 16:
			length, times = last, 3+l.read(2)
		case 17:
			length, times = 0, 3+l.read(3)
		case 18:
			length, times = 0, 11+l.read(7)
		}
		if length > 0 {
			last = length
		}
		l.failed = l.failed || len(out)+times > alphabet
		for range times {
			out = append(out, uint8(length))
		}
	}
	l.buffer = out
	return out
}

// canonical returns the code of symbols with these lengths. It must be complete.
func (l *losslessReader) canonical(buffer int, lengths []uint8) (c losslessCode) {
	for _, n := range lengths {
		c.counts[n]++
	}
	c.counts[0] = 0
	var places [16]int // of the next symbol of each length
	used, total := 0, 0
	for length, n := range c.counts {
		places[length] = total
		total += n
		used += n << 16 >> length
	}
	c.symbols = slices.Grow(l.symbols[buffer][:0], total)[:total]
	l.symbols[buffer] = c.symbols
	for symbol, n := range lengths {
		if n > 0 {
			c.symbols[places[n]] = uint16(symbol)
			places[n]++
		}
	}
	l.failed = l.failed || len(c.symbols) == 0 || len(c.symbols) > 1 && used != 1<<16
	return c
}

// next returns the next symbol of a code.
func (l *losslessReader) next(c *losslessCode) int {
	if l.failed {
		return 0
	}
	if len(c.symbols) == 1 {
		return int(c.symbols[0])
	}
	code, first, index := 0, 0, 0
	for _, n := range c.counts[1:] {
		code = code<<1 | l.read(1)
		if code-first < n {
			return int(c.symbols[index+code-first])
		}
		index += n
		first = (first + n) << 1
	}
	l.failed = true
	return 0
}

// read returns the next n bits, the lowest first.
func (l *losslessReader) read(n int) (value int) {
	if l.failed = l.failed || l.bit+n > 8*len(l.data); l.failed {
		return 0
	}
	for i := range n {
		value |= int(l.data[l.bit>>3]>>(l.bit&7)&1) << i
		l.bit++
	}
	return value
}
