package photo

import (
	"bytes"
	"fmt"
	"image"

	"github.com/gen2brain/heic"
)

// decodeHEIF decodes HEIC with libheif, compiled to WebAssembly. It runs in a sandbox, and its
// memory is freed at the end. libheif rotates the image itself.
func decodeHEIF(data []byte, info Info) (image.Image, error) {
	img, err := heic.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if b := img.Bounds(); int64(b.Dx())*int64(b.Dy()) > 2*int64(info.Width)*int64(info.Height) {
		return nil, fmt.Errorf("%w: larger than its declared size", ErrFormat)
	}
	return img, nil
}
