package photo

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"io"
	"strings"
)

// strip cuts metadata out of a file without decoding its pixels. It returns an error if the
// dimensions would change.
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
		return stripPNG(data, info)
	case GIF:
		return stripGIF(data)
	case WebP:
		return stripWebP(data, info)
	case BMP:
		return stripBMP(data, info)
	case HEIF, AVIF:
		return stripBMFF(data)
	}
	return nil, ErrFormat
}

// eachChunk calls fn with the chunks of a PNG (ISO 15948): length, type, data, checksum. If the
// file is broken after the first pixels, it ends there with an IEND chunk, as for a decoder that
// shows what it can.
func eachChunk(data []byte, fn func(kind string, whole, body []byte) bool) error {
	at := 8
	pixels := false
	for at+12 <= len(data) {
		length := int(binary.BigEndian.Uint32(data[at:]))
		if length < 0 || length > len(data)-at-12 {
			break
		}
		whole := data[at : at+12+length]
		if !fn(string(whole[4:8]), whole, whole[8:8+length]) {
			return nil
		}
		pixels = pixels || string(whole[4:8]) == "IDAT"
		at += len(whole)
	}
	if pixels {
		end := appendPNGChunk(nil, "IEND", nil)
		fn("IEND", end, end[8:8])
		return nil
	}
	return fmt.Errorf("%w: PNG without an end chunk", ErrFormat)
}

// probePNG refuses a second header: decoders use the first one.
func probePNG(data []byte, info *Info) error {
	headers := 0
	err := eachChunk(data, func(kind string, _, body []byte) bool {
		switch kind {
		case "IHDR":
			if headers++; len(body) >= 13 {
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
	if err == nil && headers > 1 {
		err = fmt.Errorf("%w: PNG with two headers", ErrFormat)
	}
	return err
}

// stripPNG keeps the chunks that change how pixels look. The orientation becomes the only tag of a
// new EXIF chunk.
func stripPNG(data []byte, info Info) ([]byte, error) {
	out := append(make([]byte, 0, len(data)+64), data[:8]...)
	err := eachChunk(data, func(kind string, whole, body []byte) bool {
		switch kind {
		case "iCCP":
			if profile, ok := pngProfile(body); ok {
				out = appendPNGChunk(out, kind, profile)
			}
		case "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "sBIT", "bKGD", "pHYs", "cICP", "mDCV",
			"cLLI", "acTL", "fcTL", "fdAT":
			out = append(out, whole...)
		}
		if kind == "IHDR" && info.Orientation > 1 {
			out = appendPNGChunk(out, "eXIf", orientationTIFF(info.Orientation))
		}
		return kind != "IEND"
	})
	return out, err
}

func appendPNGChunk(out []byte, kind string, body []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	at := len(out)
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
}

// maxProfile is the largest color profile that is kept, in bytes.
const maxProfile = 4 << 20

// pngProfile returns the body of an iCCP chunk with a cleaned profile and a neutral name.
func pngProfile(body []byte) ([]byte, bool) {
	name := bytes.IndexByte(body, 0)
	if name < 0 || name+2 > len(body) || body[name+1] != 0 {
		return nil, false
	}
	z, err := zlib.NewReader(bytes.NewReader(body[name+2:]))
	if err != nil {
		return nil, false
	}
	profile, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil || len(profile) > maxProfile || !scrubProfile(profile) {
		return nil, false
	}
	var packed bytes.Buffer
	packed.WriteString("ICC profile\x00\x00")
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(profile) // a bytes.Buffer never fails
	_ = w.Close()
	return packed.Bytes(), true
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

// gifLoop matches the head of the extension with the number of repetitions.
const gifLoop = "\x21\xff\x0bNETSCAPE2.0\x03\x01"

// stripGIF keeps the images, their controls and the number of repetitions. It removes comments,
// plain text, other application data such as XMP, and data after the end.
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
		switch {
		case label == 0x2c:
			out = append(out, whole...)
		case label == 0xf9 && len(whole) >= 8 && whole[2] == 4:
			out = append(append(out, whole[:7]...), 0)
		case label == 0xff && len(whole) >= 19 && string(whole[:16]) == gifLoop:
			out = append(append(out, whole[:18]...), 0)
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
