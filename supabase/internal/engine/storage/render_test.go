package storage

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func testPicture(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x), uint8(y), 128, 255})
		}
	}
	return img
}

func TestRender(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("pictures", true)
	key := s.demo.ServiceRole
	var b bytes.Buffer
	if err := jpeg.Encode(&b, testPicture(200, 100), nil); err != nil {
		t.Fatal(err)
	}
	s.do(key, "POST", "/object/pictures/p.jpg", b.Bytes(), "Content-Type", "image/jpeg", "Cache-Control",
		"max-age=9").want(t, 200, "Key")
	for query, want := range map[string]image.Point{
		"width=50":                          {50, 25},
		"height=50":                         {100, 50},
		"width=50&height=50":                {50, 50},
		"width=50&height=50&resize=cover":   {50, 50},
		"width=50&height=50&resize=contain": {50, 25},
		"width=50&height=50&resize=fill":    {50, 50},
		"width=1000":                        {200, 100}, // never enlarged
		"quality=20":                        {200, 100},
	} {
		r := s.do("", "GET", "/render/image/public/pictures/p.jpg?"+query, nil)
		img, format, err := image.Decode(bytes.NewReader(r.body))
		if err != nil || img.Bounds().Size() != want || format != "jpeg" ||
			r.Header.Get("Content-Type") != "image/jpeg" || r.Header.Get("Cache-Control") != "max-age=9" {
			t.Errorf("%s: %v %v %s %v", query, img.Bounds(), err, format, r.Header)
		}
	}
	r := s.do("", "GET", "/render/image/public/pictures/p.jpg?width=50&height=40&quality=70", nil)
	if got := r.Header.Get("X-Transformations"); got != "height:40,width:50,resizing_type:fill,quality:70" {
		t.Errorf("transformations: %q", got)
	}
	signed := s.do(key, "POST", "/object/sign/pictures/p.jpg",
		map[string]any{"expiresIn": 60, "transform": map[string]any{"width": 20, "height": 10}}).want(t, 200,
		"/render/image/sign/pictures/p.jpg?token=")
	r = s.do("", "GET", signed.field("signedURL"), nil)
	if img, _, err := image.Decode(bytes.NewReader(r.body)); err != nil ||
		img.Bounds().Size() != (image.Point{20, 10}) {
		t.Errorf("signed: %v", err)
	}
	s.do("", "GET", "/render/image/public/pictures/p.jpg?quality=5", nil).want(t, 400,
		"querystring/quality must be >= 20")
	s.do("", "GET", "/render/image/public/pictures/p.jpg?gravity=fp", nil).want(t, 400, "x_offset")
	s.do(s.demo.Anon, "GET", "/render/image/authenticated/pictures/none", nil).want(t, 400, "not_found")
}

func TestRenderDisabled(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(o *Options) { o.ImageTransformation = false })
	s.bucket("p", true)
	s.do(s.demo.ServiceRole, "POST", "/object/p/x.png", "x", "Content-Type", "image/png").want(t, 200, "Key")
	s.do("", "GET", "/render/image/public/p/x.png", nil).want(t, 404, "not found")
	s.do(s.demo.ServiceRole, "POST", "/object/sign/p/x.png",
		map[string]any{"expiresIn": 9, "transform": map[string]any{"width": 5}}).want(t, 200, `"/object/sign/`)
}

// blackPNG returns a small PNG whose header says claimed × claimed pixels and whose data is side ×
// side black pixels: it repeats one compressed row of zeros.
func blackPNG(t testing.TB, claimed uint32, side int) []byte {
	var packed bytes.Buffer
	row := make([]byte, side+1)
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(row)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	stream := append([]byte{0x78, 0x01}, bytes.Repeat(packed.Bytes(), side)...)
	stream = append(stream, 0x01, 0x00, 0x00, 0xff, 0xff) // empty last block
	adler := uint32(side*len(row)%65521)<<16 | 1          // checksum of zeros
	stream = binary.BigEndian.AppendUint32(stream, adler)
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		body := append([]byte(kind), data...)
		out = binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, claimed), claimed)
	chunk("IHDR", append(header, 8, 0, 0, 0, 0)) // 8-bit grayscale
	chunk("IDAT", stream)
	chunk("IEND", nil)
	return out
}

// manyFrames returns a GIF with n frames of one pixel.
func manyFrames(t testing.TB, n int) []byte {
	encode := func(n int) []byte {
		frames := &gif.GIF{}
		for range n {
			frames.Image = append(frames.Image, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}))
			frames.Delay = append(frames.Delay, 0)
		}
		var b bytes.Buffer
		if err := gif.EncodeAll(&b, frames); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	two, three := encode(2), encode(3)
	end := len(two) - 1 // position of the trailer byte
	frame := three[end : len(three)-1]
	return slices.Concat(two[:end], bytes.Repeat(frame, n-2), two[end:])
}

// TestRenderBombs checks that files that would take too much memory or time are refused within 200
// ms and 150 MB.
func TestRenderBombs(t *testing.T) {
	s := newStack(t)
	s.bucket("pictures", true)
	if img, err := png.Decode(bytes.NewReader(blackPNG(t, 100, 100))); err != nil || img.Bounds().Dx() != 100 {
		t.Fatalf("blackPNG returns invalid pictures: %v", err)
	}
	for name, bomb := range map[string]struct {
		data   []byte
		kind   string
		status int
	}{
		"50,000 × 50,000 PNG": {blackPNG(t, 50_000, 1), "image/png", 400},
		"100 MB of PNG":       {blackPNG(t, 10_000, 10_000), "image/png", 400},
		// only the first frame is decoded
		"10,000-frame GIF": {manyFrames(t, 10_000), "image/gif", 200},
		// without the script
		"SVG": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "image/svg+xml",
			200},
		"text": {[]byte("hello"), "image/png", 400},
	} {
		t.Run(name, func(t *testing.T) {
			s.do(s.demo.ServiceRole, "POST", "/object/pictures/bomb", bomb.data, "Content-Type", bomb.kind, "X-Upsert",
				"true").want(t, 200, "Key")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			s.do("", "GET", "/render/image/public/pictures/bomb?width=10", nil).want(t, bomb.status, "")
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if took > 10*time.Second { // a busy machine; a bomb that is decoded takes gigabytes, see below
				t.Errorf("took %v", took)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 150<<20 {
				t.Errorf("allocated %d MB", used>>20)
			}
		})
	}
}

// TestUploadedMarkup checks that HTML and SVG are refused by a bucket for pictures, and that other
// buckets send them with headers that keep browsers from running scripts.
func TestUploadedMarkup(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/bucket", map[string]any{"name": "photos", "public": true,
		"allowed_mime_types": []string{"image/jpeg", "image/png"}}).want(t, 200, "photos")
	s.bucket("any", true)
	const page = "<!DOCTYPE html><script>alert(document.cookie)</script>"
	s.do(key, "POST", "/object/photos/x.png", page, "Content-Type", "image/png").want(t, 400,
		`"mime type text/html is not supported"`)
	s.do(key, "POST", "/object/photos/x.svg", "<svg/>", "Content-Type", "image/svg+xml").want(t, 400,
		`{"statusCode":"415","error":"invalid_mime_type","message":"mime type image/svg+xml is not supported","code":"InvalidMimeType"}`)
	for kind, want := range map[string]string{"text/html": "text/plain", "TEXT/HTML; charset=utf-8": "text/plain",
		"image/svg+xml": "image/svg+xml", "application/xhtml+xml": "application/xhtml+xml"} {
		s.do(key, "POST", "/object/any/page", page, "Content-Type", kind, "X-Upsert", "true").want(t, 200, "Key")
		r := s.do("", "GET", "/object/public/any/page", nil).want(t, 200, "alert")
		if r.Header.Get("Content-Type") != want || r.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", kind, r.Header)
		}
	}
	// A picture followed by HTML is sent as a picture.
	var b bytes.Buffer
	if err := png.Encode(&b, testPicture(4, 4)); err != nil {
		t.Fatal(err)
	}
	b.WriteString(page)
	s.do(key, "POST", "/object/photos/polyglot.png", b.Bytes(), "Content-Type", "image/png").want(t, 200, "Key")
	r := s.do("", "GET", "/object/public/photos/polyglot.png", nil)
	if r.Header.Get("Content-Type") != "image/png" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("polyglot: %v", r.Header)
	}
}
