// Package photo cleans the pictures that visitors send: what tells where, when and with which camera a picture was taken
// goes, the picture stays. It reads dimensions before pixels and refuses to decode what would need too much memory.
//
// It is pure: bytes in, bytes out. The worker in app cleans uploaded photos with it, the image renderer of storage
// opens pictures with it. Only app and storage/images import it; it imports nothing of ours.
package photo

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// Limits bound what is read and decoded. Zero fields take the defaults.
type Limits struct {
	Bytes  int64 // most bytes of a file; 0 means 20 MiB
	Result int64 // most bytes of the cleaned file; 0 means 5 MiB, which is what the site's bucket takes
	Pixels int64 // most pixels that are decoded; 0 means 24 million
	Memory int64 // most bytes that decoding may need; 0 means 135 million, enough to turn a phone's JPEG of 24 megapixels
	HEIF   int64 // the same for HEIC, whose decoder is hungrier: 0 means 256 million, enough for 12 megapixels
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 20 << 20
	}
	if l.Result == 0 {
		l.Result = 5 << 20
	}
	if l.Pixels == 0 {
		l.Pixels = 24_000_000
	}
	if l.Memory == 0 {
		l.Memory = 135_000_000
	}
	if l.HEIF == 0 {
		l.HEIF = 256_000_000
	}
	return l
}

// Flag says what a reviewer should know about a cleaned photo.
type Flag string

// The flags.
const (
	// Cleaned: decoded, turned upright and encoded again without metadata.
	Cleaned Flag = ""
	// Stripped: the metadata was cut out of the file, the picture was not decoded: too large, animated, or of a kind that
	// cannot be written here.
	Stripped Flag = "stripped"
	// Untouched: nothing could be done; the file may still tell where it was taken.
	Untouched Flag = "untouched"
)

// Errors of Clean and Decode.
var (
	ErrTooLarge = errors.New("the picture is too large")
	ErrFormat   = errors.New("not a picture that can be read")
)

// qualities of re-encoded JPEGs: no loss that an eye sees on a phone's photo, and less where that would be too large, as
// HEIC and thrifty cameras pack twice as much into a byte.
var qualities = [...]int{88, 75, 60}

// Clean reads a picture and gives it back without metadata, with the type it now has. On an error out is nil; with
// Untouched it is what was read.
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
	if info.Frames <= 1 && info.fits(limits) && info.Format != GIF {
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

// Decode decodes a picture of known limits and turns it upright. Of an animation it gives the first frame.
func Decode(data []byte, limits Limits) (image.Image, Info, error) {
	limits = limits.withDefaults()
	info, err := Probe(data)
	if err != nil {
		return nil, info, err
	}
	if !info.fits(limits) {
		return nil, info, fmt.Errorf("%w: %d × %d", ErrTooLarge, info.Width, info.Height)
	}
	img, err := decode(data, info)
	return img, info, err
}

// fits says whether decoding stays inside of the limits.
func (i Info) fits(l Limits) bool {
	memory := l.Memory
	if i.Format == HEIF {
		memory = l.HEIF
	}
	return int64(i.Width)*int64(i.Height) <= l.Pixels && i.memory() <= memory
}

// memory estimates what decoding allocates. A progressive JPEG keeps a coefficient of four bytes for every sample. What is
// turned is in memory twice, but for HEIF, whose decoder turns it itself.
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
		if p := recover(); p != nil { // a decoder met what its author did not expect
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
		return decodeHEIF(data, info) // upright already
	default:
		return nil, ErrFormat
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return upright(img, info.Orientation), nil
}

// encode writes JPEG where nothing shows through, of the best quality that stays within most bytes, else PNG.
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
