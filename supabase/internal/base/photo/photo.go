// Package photo removes metadata such as place, time and camera from images. It reads dimensions
// before pixels and refuses to decode images that would need too much memory.
//
// It has no side effects: bytes in, bytes out. The worker in app cleans uploaded images with it,
// and the image renderer of storage decodes images with it.
package photo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// Limits limit reading and decoding. Zero fields take the defaults.
type Limits struct {
	Bytes  int64 // largest file in bytes; 0 means 20 MiB
	Result int64 // largest cleaned file in bytes; 0 means 5 MiB
	Pixels int64 // most pixels to decode; 0 means 24 million
	Memory int64 // most bytes for decoding; 0 means 135 million, enough to rotate a JPEG of 24 megapixels
	HEIF   int64 // the same for HEIC, which needs more; 0 means 256 million, enough for 12 megapixels
}

func (l Limits) withDefaults() Limits {
	l.Bytes = cmp.Or(l.Bytes, 20<<20)
	l.Result = cmp.Or(l.Result, 5<<20)
	l.Pixels = cmp.Or(l.Pixels, 24_000_000)
	l.Memory = cmp.Or(l.Memory, 135_000_000)
	l.HEIF = cmp.Or(l.HEIF, 256_000_000)
	return l
}

// Flag tells how far Clean has removed the metadata.
type Flag string

// The flags.
const (
	// Cleaned: the image was decoded, rotated upright and encoded again without metadata.
	Cleaned Flag = ""
	// Stripped: the metadata was cut out of the file without decoding the image, because it is too
	// large, animated or of a format that cannot be encoded here.
	Stripped Flag = "stripped"
	// Untouched: the metadata could not be removed; the file may still tell where the image was
	// taken.
	Untouched Flag = "untouched"
)

// Errors of Clean and Decode.
var (
	ErrTooLarge = errors.New("the image is too large")
	ErrFormat   = errors.New("not a readable image")
)

// qualities are the JPEG qualities to try: the first shows no loss, and the lower ones are for
// images that would become too large, such as HEIC, which compresses better.
var qualities = [...]int{88, 75, 60}

// Clean reads an image and returns it without metadata, with its new type. On an error out is nil.
// With Untouched, out is the input.
func Clean(r io.Reader, limits Limits) (out []byte, contentType string, flag Flag, err error) {
	limits = limits.withDefaults()
	data, err := io.ReadAll(io.LimitReader(r, limits.Bytes+1))
	if err != nil {
		return nil, "", "", err
	}
	if int64(len(data)) > limits.Bytes {
		return nil, "", "", fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limits.Bytes)
	}
	info, err := Probe(data)
	if err != nil {
		return nil, "", "", err
	}
	if info.Frames <= 1 && info.fits(data, limits) && info.Format != GIF {
		img, err := decode(data, info)
		if err == nil {
			out, contentType, err = encode(img, limits.Result)
		}
		if err == nil && int64(len(out)) <= limits.Result {
			return out, contentType, Cleaned, nil
		}
	}
	stripped, err := strip(data, info)
	if err != nil {
		return data, info.Format.ContentType(), Untouched, nil
	}
	return stripped, info.Format.ContentType(), Stripped, nil
}

// Decode decodes an image within the limits and rotates it upright. Of an animation it returns the
// first frame.
func Decode(data []byte, limits Limits) (image.Image, Info, error) {
	limits = limits.withDefaults()
	info, err := Probe(data)
	if err != nil {
		return nil, info, err
	}
	if !info.fits(data, limits) {
		return nil, info, fmt.Errorf("%w: %d × %d", ErrTooLarge, info.Width, info.Height)
	}
	img, err := decode(data, info)
	return img, info, err
}

// fits reports whether decoding stays within the limits.
func (i Info) fits(data []byte, l Limits) bool {
	memory := l.Memory
	if i.Format == HEIF {
		memory = l.HEIF
	}
	if int64(i.Width)*int64(i.Height) > l.Pixels || i.memory() > memory {
		return false
	}
	return i.Format != WebP || i.memory()+webpTables(data) <= memory
}

// memory estimates what decoding allocates. A progressive JPEG needs a coefficient of four bytes
// for every sample. A rotation needs a second copy, except for HEIF, whose decoder rotates.
func (i Info) memory() int64 {
	pixels := int64(i.Width) * int64(i.Height)
	decoded := i.decoderMemory(pixels)
	if i.Orientation > 1 && i.Format != HEIF {
		return decoded + pixels*4
	}
	return decoded
}

func (i Info) decoderMemory(pixels int64) int64 {
	switch {
	case i.Format == JPEG && i.Progressive:
		return pixels * 5 * int64(i.Samples) / 2
	case i.Format == JPEG:
		return pixels * int64(i.Samples) / 2
	case i.Format == PNG && i.Deep:
		return pixels * 8
	case i.Format == HEIF:
		return pixels * 20
	}
	return pixels * 4
}

func decode(data []byte, info Info) (img image.Image, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug in a decoder
			img, err = nil, fmt.Errorf("%w: %v", ErrFormat, p)
		}
	}()
	r := bytes.NewReader(data)
	switch info.Format {
	case JPEG:
		img, err = jpeg.Decode(r)
	case PNG:
		img, err = decodePNG(data, info)
	case GIF:
		img, err = firstFrame(data)
	case WebP:
		img, err = webp.Decode(r)
	case BMP:
		img, err = bmp.Decode(r)
	case HEIF:
		return decodeHEIF(data, info) // already rotated
	default:
		return nil, ErrFormat
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return upright(img, info.Orientation), nil
}

// encode writes an opaque image as JPEG, with the best quality that needs at most `most` bytes,
// else as PNG.
func encode(img image.Image, most int64) ([]byte, string, error) {
	var b bytes.Buffer
	if o, ok := img.(interface{ Opaque() bool }); ok && !o.Opaque() {
		err := png.Encode(&b, img)
		return b.Bytes(), "image/png", err
	}
	for _, quality := range qualities {
		b.Reset()
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", err
		}
		if int64(b.Len()) <= most {
			break
		}
	}
	return b.Bytes(), "image/jpeg", nil
}
