package images

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/webp"
)

// TestWebPRoundTrip: an independent decoder gives back the very pixels.
func TestWebPRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	paint := map[string]func(x, y int) color.NRGBA{
		"one colour":  func(x, y int) color.NRGBA { return color.NRGBA{10, 200, 30, 255} },
		"gradient":    func(x, y int) color.NRGBA { return color.NRGBA{uint8(x), uint8(y), uint8(x + y), 255} },
		"transparent": func(x, y int) color.NRGBA { return color.NRGBA{uint8(x), 5, uint8(y), uint8(x * y)} },
		"noise": func(x, y int) color.NRGBA {
			return color.NRGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
		},
		"two colours": func(x, y int) color.NRGBA {
			return color.NRGBA{uint8(x & 1 * 255), uint8(x & 1 * 255), uint8(x & 1 * 255), 255}
		},
		"rare colour": func(x, y int) color.NRGBA {
			if x == 7 && y == 7 {
				return color.NRGBA{1, 2, 3, 255}
			}
			return color.NRGBA{0, 0, 0, 255}
		},
	}
	for name, at := range paint {
		for _, size := range []image.Point{{1, 1}, {2, 3}, {9, 9}, {600, 40}, {33, 700}} {
			img := image.NewNRGBA(image.Rectangle{Max: size})
			for y := range size.Y {
				for x := range size.X {
					img.SetNRGBA(x, y, at(x, y))
				}
			}
			data := encodeWebP(img)
			got, err := webp.Decode(bytes.NewReader(data))
			if err != nil {
				t.Errorf("%s %v: %v", name, size, err)
				continue
			}
			if got.Bounds() != img.Bounds() {
				t.Errorf("%s %v became %v", name, size, got.Bounds())
				continue
			}
			for y := range size.Y {
				for x := range size.X {
					if want, have := img.NRGBAAt(x, y), color.NRGBAModel.Convert(got.At(x, y)); want != have && want.A != 0 {
						t.Fatalf("%s %v: %v at %d,%d became %v", name, size, want, x, y, have)
					}
				}
			}
		}
	}
}
