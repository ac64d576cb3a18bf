package images

import (
	"container/heap"
	"encoding/binary"
	"image"
	"image/draw"
	"math/bits"
)

// maxWebP is the longest edge of the format, in pixels.
const maxWebP = 1 << 14

// encodeWebP encodes lossless WebP (RFC 9649, section 3). It subtracts green from red and blue,
// predicts each pixel from its neighbours, and writes the residuals with one set of prefix codes
// and without back references. No edge may be longer than maxWebP.
func encodeWebP(src image.Image) []byte {
	b := src.Bounds()
	img, ok := src.(*image.NRGBA)
	if !ok || img.Rect.Min != (image.Point{}) {
		img = image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
		draw.Draw(img, img.Rect, src, b.Min, draw.Src)
	}
	w, h := b.Dx(), b.Dy()
	residuals := predict(img, w, h)

	out := &bitWriter{}
	out.write(0x2f, 8)
	out.write(uint32(w-1), 14)
	out.write(uint32(h-1), 14)
	out.write(btou(!img.Opaque()), 1)
	out.write(0, 3)
	out.write(1, 1) // a transform: subtract green
	out.write(2, 2)
	out.write(1, 1) // a transform: predictor, in blocks of 512 pixels
	out.write(0, 2)
	out.write(9-2, 3)
	out.write(0, 1) // the image of prediction modes: no colour cache
	for _, symbol := range []uint32{gradient, 0, 0, 255, 0} {
		out.single(symbol)
	}
	out.write(0, 1) // no more transforms
	out.write(0, 1) // no colour cache
	out.write(0, 1) // one set of codes for the whole picture

	sizes := [5]int{256 + 24, 256, 256, 256, 40} // green and lengths, red, blue, alpha, distance
	shifts := [4]uint{8, 16, 0, 24}
	var codes [4][]prefixCode
	for i, shift := range shifts {
		counts := make([]int, sizes[i])
		for _, p := range residuals {
			counts[p>>shift&0xff]++
		}
		codes[i] = out.codes(counts)
	}
	out.single(0)
	for _, p := range residuals {
		for i, shift := range shifts {
			c := codes[i][p>>shift&0xff]
			out.write(c.bits, c.length)
		}
	}
	return riff(out.bytes())
}

// gradient is the predictor ClampAddSubtractFull: left + top - top left.
const gradient = 12

// predict returns ARGB pixels after green and the prediction have been subtracted.
func predict(img *image.NRGBA, w, h int) []uint32 {
	pixels := make([]uint32, w*h)
	for y := range h {
		row := img.Pix[y*img.Stride:]
		for x := range w {
			r, g, b, a := row[4*x], row[4*x+1], row[4*x+2], row[4*x+3]
			pixels[y*w+x] = uint32(a)<<24 | uint32(r-g)<<16 | uint32(g)<<8 | uint32(b-g)
		}
	}
	for i := len(pixels) - 1; i >= 0; i-- {
		x, y := i%w, i/w
		var p uint32
		switch {
		case i == 0:
			p = 0xff000000
		case y == 0:
			p = pixels[i-1]
		case x == 0:
			p = pixels[i-w]
		default:
			l, t, tl := pixels[i-1], pixels[i-w], pixels[i-w-1]
			for shift := uint(0); shift < 32; shift += 8 {
				v := int(l>>shift&0xff) + int(t>>shift&0xff) - int(tl>>shift&0xff)
				p |= uint32(min(max(v, 0), 255)) << shift
			}
		}
		var rest uint32
		for shift := uint(0); shift < 32; shift += 8 {
			rest |= (pixels[i]>>shift - p>>shift) & 0xff << shift
		}
		pixels[i] = rest
	}
	return pixels
}

// riff wraps the bitstream in a RIFF container.
func riff(data []byte) []byte {
	out := make([]byte, 20, 20+len(data)+1)
	copy(out, "RIFF")
	binary.LittleEndian.PutUint32(out[4:], uint32(12+len(data)+len(data)&1))
	copy(out[8:], "WEBPVP8L")
	binary.LittleEndian.PutUint32(out[16:], uint32(len(data)))
	out = append(out, data...)
	if len(data)&1 == 1 {
		out = append(out, 0)
	}
	return out
}

type prefixCode struct {
	bits   uint32 // the first bit is the lowest
	length uint
}

// bitWriter packs bits, lowest bit first.
type bitWriter struct {
	out   []byte
	acc   uint64
	count uint
}

func (w *bitWriter) write(v uint32, n uint) {
	w.acc |= uint64(v) << w.count
	for w.count += n; w.count >= 8; w.count -= 8 {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
	}
}

func (w *bitWriter) bytes() []byte {
	if w.count > 0 {
		return append(w.out, byte(w.acc))
	}
	return w.out
}

func btou(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// single writes a prefix code with one symbol. The symbol itself then takes no bits.
func (w *bitWriter) single(symbol uint32) {
	w.write(1, 1)
	w.write(0, 1)
	if symbol < 2 {
		w.write(0, 1)
		w.write(symbol, 1)
		return
	}
	w.write(1, 1)
	w.write(symbol, 8)
}

// lengthOrder is the order of the code lengths of the code that encodes code lengths.
var lengthOrder = [19]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// codes writes the prefix code for symbols with these counts and returns it.
func (w *bitWriter) codes(counts []int) []prefixCode {
	used, last := 0, 0
	for symbol, n := range counts {
		if n > 0 {
			used, last = used+1, symbol
		}
	}
	if used <= 1 {
		w.single(uint32(last))
		return make([]prefixCode, len(counts))
	}
	lengths := codeLengths(counts, 15)
	// The lengths are themselves encoded with a prefix code, and runs of zeros are shortened.
	type item struct {
		symbol, extra int
		bits          uint
	}
	var items []item
	for i := 0; i < len(lengths); {
		run := 1
		for i+run < len(lengths) && lengths[i+run] == 0 && lengths[i] == 0 && run < 138 {
			run++
		}
		switch {
		case lengths[i] != 0 || run < 3:
			items, run = append(items, item{symbol: lengths[i]}), 1
		case run < 11:
			items = append(items, item{17, run - 3, 3})
		default:
			items = append(items, item{18, run - 11, 7})
		}
		i += run
	}
	itemCounts := make([]int, 19)
	for _, it := range items {
		itemCounts[it.symbol]++
	}
	itemLengths := codeLengths(itemCounts, 7)
	itemCodes := canonical(itemLengths)
	w.write(0, 1)
	w.write(19-4, 4)
	for _, symbol := range lengthOrder {
		w.write(uint32(itemLengths[symbol]), 3)
	}
	w.write(0, 1) // lengths for all symbols follow
	for _, it := range items {
		w.write(itemCodes[it.symbol].bits, itemCodes[it.symbol].length)
		w.write(uint32(it.extra), it.bits)
	}
	return canonical(lengths)
}

// codeLengths returns Huffman code lengths. It raises low counts until no code is longer than
// limit.
func codeLengths(counts []int, limit int) []int {
	for floor := 1; ; floor *= 2 {
		q := &nodes{}
		for symbol, n := range counts {
			if n > 0 {
				*q = append(*q, &node{weight: max(n, floor), symbol: symbol})
			}
		}
		if len(*q) == 1 { // a code with one symbol would have no bits
			other := 0
			if (*q)[0].symbol == 0 {
				other = 1
			}
			*q = append(*q, &node{weight: 1, symbol: other})
		}
		heap.Init(q)
		for q.Len() > 1 {
			a, b := heap.Pop(q).(*node), heap.Pop(q).(*node)
			heap.Push(q, &node{weight: a.weight + b.weight, left: a, right: b, symbol: min(a.symbol, b.symbol)})
		}
		lengths := make([]int, len(counts))
		if (*q)[0].depths(0, lengths) <= limit {
			return lengths
		}
	}
}

type node struct {
	weight, symbol int
	left, right    *node
}

func (n *node) depths(depth int, lengths []int) int {
	if n.left == nil {
		lengths[n.symbol] = depth
		return depth
	}
	return max(n.left.depths(depth+1, lengths), n.right.depths(depth+1, lengths))
}

type nodes []*node

func (q nodes) Len() int { return len(q) }
func (q nodes) Less(i, j int) bool {
	return q[i].weight < q[j].weight || q[i].weight == q[j].weight && q[i].symbol < q[j].symbol
}
func (q nodes) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *nodes) Push(x any)   { *q = append(*q, x.(*node)) }
func (q *nodes) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// canonical assigns canonical codes. Their bits are reversed, because bitWriter writes the lowest
// bit first.
func canonical(lengths []int) []prefixCode {
	var starts [17]uint32
	for _, n := range lengths {
		if n > 0 {
			starts[n+1]++
		}
	}
	next := uint32(0)
	for n := 1; n < 16; n++ {
		next = (next + starts[n]) << 1
		starts[n] = next
	}
	codes := make([]prefixCode, len(lengths))
	for symbol, n := range lengths {
		if n > 0 {
			codes[symbol] = prefixCode{bits.Reverse32(starts[n]) >> (32 - uint(n)), uint(n)}
			starts[n]++
		}
	}
	return codes
}
