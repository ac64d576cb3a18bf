package images

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// scale writes a part of an image to dst with a Catmull-Rom filter. It reads the image row by row:
// beside both images it needs a few rows, and for an enlargement at most dst four times more.
// (draw.CatmullRom needs 32 bytes for each pixel of the part, scaled to the width of dst.)
func scale(dst *image.RGBA, img image.Image, part image.Rectangle) {
	columns, rows := spans(part.Dx(), dst.Rect.Dx()), spans(part.Dy(), dst.Rect.Dy())
	source := image.NewRGBA(image.Rect(0, 0, part.Dx(), 1))
	whole, scaled := make([]float32, len(source.Pix)), make([]float32, 4*dst.Rect.Dx())
	line, late := scaled, false
	if part.Dx() <= dst.Rect.Dx() { // there are fewer numbers to add before a row is scaled
		line, late = whole, true
	}
	var sums, unused [][]float32 // of the rows of dst that have begun
	done := 0
	for y := range part.Dy() {
		draw.Draw(source, source.Rect, img, image.Pt(part.Min.X, part.Min.Y+y), draw.Src)
		for i, v := range source.Pix {
			whole[i] = float32(v)
		}
		if !late {
			scaleRow(scaled, whole, columns)
		}
		for n := done; n < len(rows) && rows[n].from <= y; n++ {
			if n-done == len(sums) {
				sums, unused = begin(sums, unused, len(line))
			}
			add(sums[n-done], line, rows[n].weights[y-rows[n].from])
		}
		for done < len(rows) && rows[done].last() == y {
			result := sums[0]
			if late {
				scaleRow(scaled, result, columns)
				result = scaled
			}
			store(dst.Pix[done*dst.Stride:][:len(result)], result)
			unused, sums = append(unused, sums[0]), sums[1:]
			done++
		}
	}
}

// begin appends a sum of zeros, one of the unused if there is one.
func begin(sums, unused [][]float32, size int) (_, left [][]float32) {
	last := len(unused) - 1
	if last < 0 {
		return append(sums, make([]float32, size)), unused
	}
	clear(unused[last])
	return append(sums, unused[last]), unused[:last]
}

// span is the weights of the pixels of the source, from the first one, in a pixel of the result.
type span struct {
	from    int
	weights []float32
}

func (s span) last() int { return s.from + len(s.weights) - 1 }

// spans returns the spans of all pixels of an edge of the result.
func spans(size, want int) []span {
	step := float64(size) / float64(want)
	width := max(step, 1) // an enlargement needs the filter's own width
	all := make([]span, want)
	for i := range all {
		centre := (float64(i)+0.5)*step - 0.5
		from := max(0, int(math.Ceil(centre-2*width)))
		to := min(size-1, int(math.Floor(centre+2*width)))
		weights := make([]float32, max(1, to-from+1))
		sum := float32(0)
		for j := range weights {
			weights[j] = float32(draw.CatmullRom.At(math.Abs(centre-float64(from+j)) / width))
			sum += weights[j]
		}
		for j := range weights {
			weights[j] /= sum
		}
		all[i] = span{from, weights}
	}
	return all
}

// scaleRow scales a row with four numbers for each pixel.
func scaleRow(out, row []float32, columns []span) {
	for i, c := range columns {
		var r, g, b, a float32
		pixels := row[4*c.from:][:4*len(c.weights)]
		for j, weight := range c.weights {
			p := pixels[4*j : 4*j+4 : 4*j+4]
			r += weight * p[0]
			g += weight * p[1]
			b += weight * p[2]
			a += weight * p[3]
		}
		o := out[4*i : 4*i+4 : 4*i+4]
		o[0], o[1], o[2], o[3] = r, g, b, a
	}
}

func add(sum, line []float32, weight float32) {
	sum = sum[:len(line)]
	for i, v := range line {
		sum[i] += weight * v
	}
}

// store rounds a row. The filter can exceed the values of its pixels, but no color exceeds its
// alpha.
func store(row []byte, sum []float32) {
	for i := 0; i+4 <= len(sum); i += 4 {
		alpha := min(max(sum[i+3]+0.5, 0), 255)
		for j, v := range sum[i : i+3] {
			row[i+j] = byte(min(max(v+0.5, 0), alpha))
		}
		row[i+3] = byte(alpha)
	}
}
