package photo

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"strings"
)

// lenientPixels limits the images with accepted wrong checksums, because repairing holds their
// pixels in memory twice.
const lenientPixels = 1 << 20

// decodePNG accepts wrong checksums, as browsers and libvips do. The acceptance suite of
// storage-api (render.test.ts) renders a PNG of one pixel with a wrong CRC.
func decodePNG(data []byte, info Info) (image.Image, error) {
	img, err := png.Decode(bytes.NewReader(data))
	var format png.FormatError // "invalid checksum" of a chunk, or zlib's in the same words
	checksum := errors.As(err, &format) && strings.HasSuffix(string(format), "invalid checksum")
	if !checksum || int64(info.Width)*int64(info.Height) > lenientPixels {
		return img, err
	}
	repaired, repairErr := repairPNG(data)
	if repairErr != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(repaired))
}

// repairPNG compresses the pixels again and recomputes every checksum.
func repairPNG(data []byte) ([]byte, error) {
	out := append([]byte(nil), data[:8]...)
	chunk := func(kind string, body []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		at := len(out)
		out = append(append(out, kind...), body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
	}
	var packed []byte
	err := eachChunk(data, func(kind string, _, body []byte) bool {
		if kind == "IDAT" {
			packed = append(packed, body...)
			return true
		}
		if packed != nil && kind == "IEND" {
			return false
		}
		chunk(kind, body)
		return true
	})
	if err != nil || len(packed) < 2 {
		return nil, ErrFormat
	}
	pixels, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed[2:])), 9*lenientPixels))
	if err != nil {
		return nil, err
	}
	var again bytes.Buffer
	z := zlib.NewWriter(&again)
	if _, err := z.Write(pixels); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	chunk("IDAT", again.Bytes())
	chunk("IEND", nil)
	return out, nil
}
