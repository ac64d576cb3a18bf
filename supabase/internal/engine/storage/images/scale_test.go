package images

import (
	"image"
	"image/color"
	"runtime"
	"testing"

	"golang.org/x/image/draw"
)

// TestScale compares with draw.CatmullRom, of which it differs by its rounding.
func TestScale(t *testing.T) {
	source := image.NewNRGBA(image.Rect(3, 5, 203, 105))
	for y := 5; y < 105; y++ {
		for x := 3; x < 203; x++ {
			source.SetNRGBA(x, y, color.NRGBA{uint8(x * 7), uint8(y * 5), uint8(x * y), uint8(255 - x%90)})
		}
	}
	for _, size := range []image.Point{{50, 25}, {200, 7}, {1, 1}, {333, 12}, {19, 300}, {400, 201}, {1, 100}} {
		part := image.Rect(3, 5, 203, 105)
		if size.X == 19 {
			part = image.Rect(20, 20, 21, 60)
		}
		got, want := image.NewRGBA(image.Rectangle{Max: size}), image.NewRGBA(image.Rectangle{Max: size})
		scale(got, source, part)
		draw.CatmullRom.Scale(want, want.Rect, source, part, draw.Src, nil)
		for i := range want.Pix {
			if d := int(got.Pix[i]) - int(want.Pix[i]); d < -2 || d > 2 {
				t.Fatalf("%v: byte %d is %d, want %d", size, i, got.Pix[i], want.Pix[i])
			}
		}
	}
}

// TestFitMemory resizes pictures that are within the limits of decoding, but very high or wide.
func TestFitMemory(t *testing.T) {
	for _, c := range []struct {
		size image.Point
		t    Transform
		want image.Point // zero: too large
	}{
		{image.Pt(24, 1_000_000), Transform{Width: 2000, Resize: "fill"}, image.Point{}},
		{image.Pt(1_000_000, 24), Transform{Height: 2000, Resize: "fill"}, image.Point{}},
		{image.Pt(24, 1_000_000), Transform{Width: 2000, Height: 2000, Resize: "fill"}, image.Pt(2000, 2000)},
		{image.Pt(1_000_000, 24), Transform{Width: 2000, Height: 2000, Resize: "fill"}, image.Pt(2000, 2000)},
		{image.Pt(2000, 12_000), Transform{Width: 1999}, image.Pt(1999, 11_994)},
		{image.Pt(6000, 4000), Transform{Width: 2000}, image.Pt(2000, 1333)},
	} {
		var before, after runtime.MemStats
		source := image.NewGray(image.Rectangle{Max: c.size})
		runtime.ReadMemStats(&before)
		out, err := fit(source, c.t)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 200<<20 {
			t.Errorf("%v %+v: %d MB were allocated", c.size, c.t, got>>20)
		}
		if (err != nil) != (c.want == image.Point{}) || err == nil && out.Bounds().Size() != c.want {
			t.Errorf("%v %+v: %v", c.size, c.t, err)
		}
	}
}

func BenchmarkScale(b *testing.B) {
	source := image.NewYCbCr(image.Rect(0, 0, 6000, 4000), image.YCbCrSubsampleRatio420)
	dst := image.NewRGBA(image.Rect(0, 0, 2000, 1333))
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			scale(dst, source, source.Rect)
		}
	})
	b.Run("CatmullRom", func(b *testing.B) {
		for b.Loop() {
			draw.CatmullRom.Scale(dst, dst.Rect, source, source.Rect, draw.Src, nil)
		}
	})
}
