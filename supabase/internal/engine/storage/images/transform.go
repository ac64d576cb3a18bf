// Package images resizes pictures for /render: in this process, or by an imgproxy given by its URL.
//
// Of ours it imports photo and storage/backend; only storage imports it.
package images

import (
	"strconv"
	"strings"
)

// Transform is the requested change of a picture. A zero field changes nothing.
type Transform struct {
	Width, Height int64
	Resize        string // cover (default), contain, fill
	Quality       int64  // 20 to 100
	Format        string // origin, avif, webp
	Gravity       string
	X, Y          *float64
}

// Bounds of an edge in pixels: storage-api's defaults.
const (
	minEdge = 1
	maxEdge = 2000
)

// Segments returns imgproxy's path segments, which are also the value of X-Transformations. In a
// signed URL (original) the resize mode keeps its name from the request.
func (t Transform) Segments(original bool) ([]string, error) {
	var s []string
	if t.Height != 0 {
		s = append(s, "height:"+strconv.FormatInt(clamp(t.Height), 10))
	}
	if t.Width != 0 {
		s = append(s, "width:"+strconv.FormatInt(clamp(t.Width), 10))
	}
	if t.Width != 0 || t.Height != 0 {
		switch {
		case original && t.Resize == "":
			s = append(s, "resize:undefined") // as storage-api writes it
		case original:
			s = append(s, "resize:"+t.Resize)
		default:
			s = append(s, "resizing_type:"+t.resizingType())
		}
	}
	if t.Quality != 0 {
		s = append(s, "quality:"+strconv.FormatInt(t.Quality, 10))
	}
	if t.Format != "" && t.Format != "origin" {
		s = append(s, "format:"+t.Format)
	}
	switch t.Gravity {
	case "":
	case "sm":
		s = append(s, "gravity:sm")
	case "fp":
		if !unit(t.X) || !unit(t.Y) {
			return nil, ErrFocalPoint
		}
		s = append(s, "gravity:fp:"+number(t.X)+":"+number(t.Y))
	default:
		g := "gravity:" + t.Gravity
		if t.X != nil || t.Y != nil {
			g += ":" + number(t.X) + ":" + number(t.Y)
		}
		s = append(s, g)
	}
	return s, nil
}

func (t Transform) resizingType() string {
	switch t.Resize {
	case "contain":
		return "fit"
	case "fill":
		return "force"
	}
	return "fill"
}

func clamp(n int64) int64 { return min(max(n, minEdge), maxEdge) }

func unit(f *float64) bool { return f != nil && *f >= 0 && *f <= 1 }

func number(f *float64) string {
	if f == nil {
		return "0"
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// Parse parses the segments of a signed URL. It ignores unknown segments.
func Parse(segments string) Transform {
	var t Transform
	for _, segment := range strings.Split(segments, ",") {
		part := strings.Split(segment, ":")
		if len(part) < 2 || part[1] == "" {
			continue
		}
		whole, _ := strconv.ParseInt(part[1], 10, 64)
		switch part[0] {
		case "height":
			t.Height = whole
		case "width":
			t.Width = whole
		case "quality":
			t.Quality = whole
		case "resize":
			t.Resize = part[1]
		case "format":
			t.Format = part[1]
		case "gravity":
			t.Gravity = part[1]
			for i, target := range []**float64{&t.X, &t.Y} {
				if len(part) > 2+i {
					if f, err := strconv.ParseFloat(part[2+i], 64); err == nil {
						*target = &f
					}
				}
			}
		}
	}
	return t
}
