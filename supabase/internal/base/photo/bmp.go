package photo

import (
	"encoding/binary"
	"fmt"
)

// stripBMP keeps the headers, the palette and the pixels of a BMP. It zeroes the bytes between
// them, and drops bytes after the pixels and the color profile, which can be a file name on the
// author's computer.
func stripBMP(data []byte, info Info) ([]byte, error) {
	broken := fmt.Errorf("%w: broken BMP", ErrFormat)
	le := binary.LittleEndian
	pixels, header := int64(le.Uint32(data[10:])), int64(le.Uint32(data[14:]))
	if header < 40 || header > 124 || 14+header > int64(len(data)) {
		return nil, broken
	}
	depth, compression, colors := int64(le.Uint16(data[28:])), le.Uint32(data[30:]), int64(le.Uint32(data[46:]))
	size := int64(le.Uint32(data[34:]))
	switch compression {
	case 0, 3, 6: // rows without compression
		size = (int64(info.Width)*depth + 31) / 32 * 4 * int64(info.Height)
	case 1, 2: // run lengths
	default: // a whole JPEG or PNG
		return nil, broken
	}
	start := 14 + header // of the masks and the palette
	if header == 40 && compression == 3 {
		start += 12
	} else if header == 40 && compression == 6 {
		start += 16
	}
	if colors == 0 && depth <= 8 {
		colors = 1 << depth
	}
	start += 4 * colors
	if colors > 256 || start > pixels || pixels > int64(len(data)) || size <= 0 || size > int64(len(data))-pixels {
		return nil, broken
	}
	out := make([]byte, pixels+size)
	copy(out, data[:start])
	copy(out[pixels:], data[pixels:])
	le.PutUint32(out[2:], uint32(len(out)))
	clear(out[6:10])   // reserved
	if header >= 108 { // color space: sRGB instead of a profile
		copy(out[14+56:], "BGRs")
		clear(out[14+60 : 14+108])
	}
	if header == 124 {
		clear(out[14+112 : 14+124]) // place and size of the profile
	}
	return out, nil
}
