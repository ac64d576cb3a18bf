package photo

import "encoding/binary"

// property is an entry of an ipco box.
type property struct {
	kind    string
	content []byte
}

// mostPadding is how many pixels a clap property may cut from an edge. Encoders cut what they have
// added to fill their blocks.
const mostPadding = 64

// cropped reports whether an image other than a thumbnail has a clap property, which hides pixels
// that stay in the file (ISO 14496-12, 12.1.4). A broken association counts as one.
func (s *stripper) cropped() bool {
	for _, ipma := range s.associated {
		r := reader{b: ipma}
		head := r.uint(4)
		idSize, indexSize, mask := 2, 1, uint64(0x7f)
		if head>>24 > 0 {
			idSize = 4
		}
		if head&1 == 1 {
			indexSize, mask = 2, 0x7fff
		}
		for range r.uint(4) {
			id := r.uint(idSize)
			var size, crop []byte
			for range r.uint(1) {
				switch p := s.property(r.uint(indexSize) & mask); p.kind {
				case "ispe":
					size = p.content
				case "clap":
					crop = p.content
				}
			}
			if r.failed || crop != nil && !s.thumbnails[id] && cuts(crop, size) {
				return true
			}
		}
	}
	return false
}

// property returns the property with this number, the first of which is 1.
func (s *stripper) property(number uint64) (p property) {
	if number > 0 && number <= uint64(len(s.known)) {
		p = s.known[number-1]
	}
	return p
}

// cuts reports whether a clap box cuts more than padding from an image with this ispe box.
func cuts(clap, ispe []byte) bool {
	if len(clap) < 16 || len(ispe) < 12 {
		return true
	}
	for i := range 2 { // width, height
		size, left, parts := binary.BigEndian.Uint32(ispe[4+4*i:]), binary.BigEndian.Uint32(clap[8*i:]),
			binary.BigEndian.Uint32(clap[8*i+4:])
		if parts == 0 || int64(size)-int64(left/parts) > mostPadding {
			return true
		}
	}
	return false
}
