package photo

import (
	"bytes"
	"fmt"
	"image"

	"github.com/gen2brain/heic"
)

// decodeHEIF decodes HEIC with libheif, compiled to WebAssembly: it runs in a sandbox of its own and its memory goes
// when it is done. It turns the picture itself.
func decodeHEIF(data []byte, info Info) (image.Image, error) {
	img, err := heic.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if b := img.Bounds(); int64(b.Dx())*int64(b.Dy()) > 2*int64(info.Width)*int64(info.Height) {
		return nil, fmt.Errorf("%w: it is larger than it says", ErrFormat)
	}
	return img, nil
}
