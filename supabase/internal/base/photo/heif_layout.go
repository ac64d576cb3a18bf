package photo

import (
	"fmt"
	"image"
)

// Color spaces and chroma formats of libheif's interface.
const (
	heifYCbCr = 0
	heifRGB   = 1
	heifGray  = 2
	heif420   = 1
	heif422   = 2
	heif444   = 3
)

// heifLayout says where the decoder writes the pixels of an image: all rows of the first plane, and
// then those of the others. Rows have a multiple of 16 bytes.
type heifLayout struct {
	width, height int
	space         int64
	premultiplied bool
	ratio         image.YCbCrSubsampleRatio
	stride        int // of the first plane
	chromaStride  int // of each of the two others
	chromaRows    int
}

// layoutOf returns the layout for the properties of an image with at most the given number of
// pixels.
func layoutOf(w [heifWords]int64, most int64) (l heifLayout, err error) {
	if w[0] <= 0 || w[1] <= 0 || w[0] > most || w[0]*w[1] > most {
		return l, fmt.Errorf("an image of %d × %d is larger than its declared size", w[0], w[1])
	}
	l = heifLayout{width: int(w[0]), height: int(w[1]), space: w[2], premultiplied: w[4] == 1}
	switch l.space {
	case heifGray:
		l.stride = rowOf(l.width)
	case heifRGB:
		l.stride = rowOf(4 * l.width)
	case heifYCbCr:
		l.stride, l.chromaStride, l.chromaRows = rowOf(l.width), rowOf((l.width+1)/2), l.height
		switch w[3] {
		case heif420:
			l.ratio, l.chromaRows = image.YCbCrSubsampleRatio420, (l.height+1)/2
		case heif422:
			l.ratio = image.YCbCrSubsampleRatio422
		case heif444:
			l.ratio, l.chromaStride = image.YCbCrSubsampleRatio444, l.stride
		default:
			return l, fmt.Errorf("unknown chroma format %d", w[3])
		}
	default:
		return l, fmt.Errorf("unknown color space %d", l.space)
	}
	return l, nil
}

// rowOf returns the bytes of a row in memory.
func rowOf(bytes int) int { return (bytes + 15) &^ 15 }

func (l heifLayout) size() int { return l.stride*l.height + 2*l.chromaStride*l.chromaRows }

// image returns the image with the pixels that the decoder wrote, nil without them.
func (l heifLayout) image(pixels []byte) image.Image {
	if len(pixels) < l.size() {
		return nil
	}
	rect := image.Rect(0, 0, l.width, l.height)
	switch {
	case l.space == heifGray:
		return &image.Gray{Pix: pixels, Stride: l.stride, Rect: rect}
	case l.space == heifRGB && l.premultiplied:
		return &image.RGBA{Pix: pixels, Stride: l.stride, Rect: rect}
	case l.space == heifRGB:
		return &image.NRGBA{Pix: pixels, Stride: l.stride, Rect: rect}
	}
	blue := l.stride * l.height
	red := blue + l.chromaStride*l.chromaRows
	return &image.YCbCr{Y: pixels[:blue:blue], Cb: pixels[blue:red:red], Cr: pixels[red:], YStride: l.stride,
		CStride: l.chromaStride, SubsampleRatio: l.ratio, Rect: rect}
}
