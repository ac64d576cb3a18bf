package photo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"io"
	"strings"
)

// strip cuts metadata out of a file without decoding its pixels. It returns an error if the dimensions would change.
func strip(data []byte, info Info) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a malformed file that the parsers below do not expect
			out, err = nil, fmt.Errorf("%w: %v", ErrFormat, p)
		}
	}()
	if out, err = cut(data, info); err != nil {
		return nil, err
	}
	left, err := Probe(out)
	if err == nil && (left.Format != info.Format || left.Width != info.Width || left.Height != info.Height) {
		err = fmt.Errorf("%w: the image differs without its metadata", ErrFormat)
	}
	return out, err
}

func cut(data []byte, info Info) ([]byte, error) {
	switch info.Format {
	case JPEG:
		return stripJPEG(data, info)
	case PNG:
		return stripPNG(data)
	case GIF:
		return stripGIF(data)
	case WebP:
		return stripWebP(data)
	case HEIF, AVIF:
		return stripBMFF(data)
	}
	return nil, ErrFormat
}

// eachChunk calls fn with the chunks of a PNG (ISO 15948): length, type, data, checksum.
func eachChunk(data []byte, fn func(kind string, whole, body []byte) bool) error {
	at := 8
	for at+12 <= len(data) {
		length := int(binary.BigEndian.Uint32(data[at:]))
		if length < 0 || length > len(data)-at-12 {
			return fmt.Errorf("%w: broken PNG", ErrFormat)
		}
		whole := data[at : at+12+length]
		if !fn(string(whole[4:8]), whole, whole[8:8+length]) {
			return nil
		}
		at += len(whole)
	}
	return fmt.Errorf("%w: PNG without an end chunk", ErrFormat)
}

func probePNG(data []byte, info *Info) error {
	return eachChunk(data, func(kind string, _, body []byte) bool {
		switch kind {
		case "IHDR":
			if len(body) >= 13 {
				info.Width, info.Height = int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:]))
				info.Deep = body[8] == 16
			}
		case "acTL":
			info.Frames = 2
		case "eXIf":
			info.Orientation = exifOrientation(body)
		}
		return kind != "IEND"
	})
}

// stripPNG keeps the chunks that affect how pixels look.
func stripPNG(data []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(data)), data[:8]...)
	err := eachChunk(data, func(kind string, whole, _ []byte) bool {
		switch kind {
		case "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs", "cICP", "acTL", "fcTL", "fdAT":
			out = append(out, whole...)
		}
		return kind != "IEND"
	})
	return out, err
}

// walkGIF calls fn with each image and each extension of a GIF (version 89a).
func walkGIF(data []byte, fn func(label byte, whole []byte) bool) (end int, err error) {
	broken := fmt.Errorf("%w: broken GIF", ErrFormat)
	if len(data) < 13 {
		return 0, broken
	}
	at := 13
	if data[10]&0x80 != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	subBlocks := func(at int) int {
		for at < len(data) && data[at] != 0 {
			at += 1 + int(data[at])
		}
		return at + 1
	}
	for at < len(data) {
		start := at
		switch data[at] {
		case 0x3b:
			return at, nil
		case 0x2c:
			if at+10 > len(data) {
				return 0, broken
			}
			flags := data[at+9]
			at += 10
			if flags&0x80 != 0 {
				at += 3 << (flags&7 + 1)
			}
			at = subBlocks(at + 1)
		case 0x21:
			at = subBlocks(at + 2)
		default:
			return 0, broken
		}
		if at > len(data) {
			return 0, broken
		}
		label := byte(0x2c)
		if data[start] == 0x21 {
			label = data[start+1]
		}
		if !fn(label, data[start:at]) {
			return at, nil
		}
	}
	return 0, broken
}

func probeGIF(data []byte, info *Info) error {
	frames := 0
	_, err := walkGIF(data, func(label byte, _ []byte) bool {
		if label == 0x2c {
			frames++
		}
		return frames < 2
	})
	if len(data) >= 10 {
		info.Width, info.Height = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	}
	info.Frames = frames
	return err
}

// stripGIF removes comments, plain text, application data except the loop count, and data after the end.
func stripGIF(data []byte) ([]byte, error) {
	if len(data) < 13 {
		return nil, ErrFormat
	}
	head := 13
	if data[10]&0x80 != 0 {
		head += 3 << (data[10]&7 + 1)
	}
	if head > len(data) {
		return nil, ErrFormat
	}
	out := append(make([]byte, 0, len(data)), data[:head]...)
	_, err := walkGIF(data, func(label byte, whole []byte) bool {
		loop := label == 0xff && len(whole) > 14 && string(whole[3:14]) == "NETSCAPE2.0"
		if label == 0x2c || label == 0xf9 || loop {
			out = append(out, whole...)
		}
		return true
	})
	return append(out, 0x3b), err
}

// firstFrame decodes only the first image of a GIF.
func firstFrame(data []byte) (image.Image, error) {
	end, err := walkGIF(data, func(label byte, _ []byte) bool { return label != 0x2c })
	if err != nil {
		return nil, err
	}
	return gif.Decode(io.MultiReader(bytes.NewReader(data[:end]), strings.NewReader(";")))
}

// eachRIFF calls fn with the chunks of a WebP container.
func eachRIFF(data []byte, fn func(kind string, whole, body []byte)) error {
	at := 12
	for at+8 <= len(data) {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		padded := size + size&1
		if size < 0 || padded > len(data)-at-8 {
			if size > len(data)-at-8 {
				return fmt.Errorf("%w: broken WebP", ErrFormat)
			}
			padded = size
		}
		fn(string(data[at:at+4]), data[at:at+8+padded], data[at+8:at+8+size])
		at += 8 + padded
	}
	return nil
}

func probeWebP(data []byte, info *Info) error {
	return eachRIFF(data, func(kind string, _, b []byte) {
		switch {
		case kind == "VP8X" && len(b) >= 10:
			info.Width = 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16
			info.Height = 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
			if b[0]&2 != 0 {
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

// stripWebP removes EXIF, XMP and unknown chunks and clears their flags in the header.
func stripWebP(data []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(data)), data[:12]...)
	broken := false
	err := eachRIFF(data, func(kind string, whole, body []byte) {
		switch kind {
		case "VP8X":
			if len(body) < 10 {
				broken = true
				return
			}
			at := len(out)
			out = append(out, whole...)
			out[at+8] &^= 0x0c // no EXIF, no XMP
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP":
			out = append(out, whole...)
		}
	})
	if broken {
		return nil, fmt.Errorf("%w: broken WebP", ErrFormat)
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, err
}
