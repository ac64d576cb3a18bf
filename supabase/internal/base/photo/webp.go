package photo

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

var errWebP = fmt.Errorf("%w: broken WebP", ErrFormat)

// Flags of the extended header of a WebP.
const (
	webpAnimated = 0x02
	webpXMP      = 0x04
	webpEXIF     = 0x08
	webpAlpha    = 0x10
	webpProfile  = 0x20
)

// eachRIFF calls fn with the chunks of a WebP container. Bytes after the declared size of the file
// are not part of it.
func eachRIFF(data []byte, fn func(kind string, body []byte)) error {
	if size := int64(binary.LittleEndian.Uint32(data[4:])); size >= 4 {
		data = data[:min(int64(len(data)), 8+size)]
	}
	return eachSubchunk(data[12:], fn)
}

// eachSubchunk calls fn with the chunks in data.
func eachSubchunk(data []byte, fn func(kind string, body []byte)) error {
	for at := int64(0); at+8 <= int64(len(data)); {
		size := int64(binary.LittleEndian.Uint32(data[at+4:]))
		if size > int64(len(data))-at-8 {
			return errWebP
		}
		fn(string(data[at:at+4]), data[at+8:at+8+size])
		at += 8 + size + size&1
	}
	return nil
}

func probeWebP(data []byte, info *Info) error {
	return eachRIFF(data, func(kind string, b []byte) {
		switch {
		case kind == "VP8X" && len(b) >= 10:
			info.Width = 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16
			info.Height = 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
			if b[0]&webpAnimated != 0 {
				info.Frames = 2
			}
		case kind == "VP8 " && len(b) >= 10:
			w, h := int(binary.LittleEndian.Uint16(b[6:]))&0x3fff, int(binary.LittleEndian.Uint16(b[8:]))&0x3fff
			info.Width, info.Height = max(info.Width, w), max(info.Height, h)
		case kind == "VP8L" && len(b) >= 5:
			bits := binary.LittleEndian.Uint32(b[1:])
			info.Width, info.Height = max(info.Width, 1+int(bits&0x3fff)), max(info.Height, 1+int(bits>>14&0x3fff))
		case kind == "EXIF":
			info.Orientation = exifOrientation(bytes.TrimPrefix(b, []byte("Exif\x00\x00")))
		}
	})
}

// stripWebP keeps the chunks that hold pixels and the colors of the profile. The orientation
// becomes the only tag of a new EXIF chunk.
func stripWebP(data []byte, info Info) ([]byte, error) {
	out := append(make([]byte, 0, len(data)+64), data[:12]...)
	flags := -1 // position of the flags of the extended header
	broken := false
	err := eachRIFF(data, func(kind string, body []byte) {
		switch kind {
		case "VP8X":
			if len(body) < 10 || flags >= 0 {
				broken = true
				return
			}
			flags = len(out) + 8
			out = appendChunk(out, kind, body[:10])
			copy(out[flags:], []byte{body[0] & (webpAnimated | webpAlpha), 0, 0, 0})
		case "VP8 ", "VP8L", "ALPH":
			out = appendChunk(out, kind, body)
		case "ANIM":
			if len(body) >= 6 {
				out = appendChunk(out, kind, body[:6])
			}
		case "ANMF":
			frame, ok := stripFrame(body)
			broken = broken || !ok
			out = appendChunk(out, kind, frame)
		case "ICCP":
			if profile := bytes.Clone(body); flags >= 0 && scrubProfile(profile) {
				out[flags] |= webpProfile
				out = appendChunk(out, kind, profile)
			}
		}
	})
	if err != nil || broken {
		return nil, errWebP
	}
	if info.Orientation > 1 && flags >= 0 {
		out[flags] |= webpEXIF
		out = appendChunk(out, "EXIF", orientationTIFF(info.Orientation))
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}

// stripFrame keeps the position and the pixels of one frame of an animation.
func stripFrame(body []byte) ([]byte, bool) {
	if len(body) < 16 {
		return nil, false
	}
	out := bytes.Clone(body[:16])
	err := eachSubchunk(body[16:], func(kind string, b []byte) {
		if kind == "VP8 " || kind == "VP8L" || kind == "ALPH" {
			out = appendChunk(out, kind, b)
		}
	})
	return out, err == nil
}

func appendChunk(out []byte, kind string, body []byte) []byte {
	out = binary.LittleEndian.AppendUint32(append(out, kind...), uint32(len(body)))
	out = append(out, body...)
	if len(body)&1 == 1 {
		out = append(out, 0)
	}
	return out
}
