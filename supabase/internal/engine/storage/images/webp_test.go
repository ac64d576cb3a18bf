package images

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"testing"

	"daawo/supabase/internal/base/photo"

	"golang.org/x/image/webp"
)

// TestWebPRoundTrip checks that an independent decoder returns the same pixels.
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
					if want, have := img.NRGBAAt(x, y), color.NRGBAModel.Convert(got.At(x, y)); want != have &&
						want.A != 0 {
						t.Fatalf("%s %v: %v at %d,%d became %v", name, size, want, x, y, have)
					}
				}
			}
		}
	}
}

// TestWebPSizeLimit checks that a picture whose edges are too long for WebP is encoded in another
// format.
func TestWebPSizeLimit(t *testing.T) {
	for _, tt := range []struct {
		w, h   int
		source photo.Format
		want   string
	}{
		{16384, 1, photo.JPEG, "image/webp"},
		{1, 16384, photo.JPEG, "image/webp"},
		{16385, 1, photo.JPEG, "image/jpeg"},
		{1, 16385, photo.JPEG, "image/jpeg"},
		{16385, 2, photo.PNG, "image/png"},
	} {
		img := image.NewNRGBA(image.Rect(0, 0, tt.w, tt.h))
		draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{10, 200, 30, 255}), image.Point{}, draw.Src)
		data, kind, err := encode(img, tt.source, Transform{Format: "webp"})
		if err != nil || kind != tt.want {
			t.Errorf("%d x %d: %s, %v", tt.w, tt.h, kind, err)
			continue
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || config.Width != tt.w || config.Height != tt.h {
			t.Errorf("%d x %d became %d x %d %s, %v", tt.w, tt.h, config.Width, config.Height, kind, err)
		}
	}
}
