package photo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/bmp"
)

// secret stands for metadata that must be removed, such as a position, a serial number or a name.
const secret = "GPS-2.0469N-45.3182E"

func picture(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), 90, 255})
		}
	}
	return img
}

// exif returns an EXIF block with an orientation, followed by the secret.
func exif(orientation int) []byte {
	return append(orientationSegment(orientation)[4:], secret...)
}

func jpegWith(t testing.TB, w, h, orientation int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(w, h), nil); err != nil {
		t.Fatal(err)
	}
	segment := func(marker byte, body []byte) []byte {
		return append([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
	}
	out := append([]byte{}, b.Bytes()[:2]...)
	out = append(out, segment(0xe1, exif(orientation))...)
	out = append(out, segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00"+secret))...)
	out = append(out, segment(0xed, []byte("Photoshop 3.0\x00"+secret))...)
	out = append(out, segment(0xfe, []byte(secret))...)
	out = append(out, b.Bytes()[2:]...)
	return append(out, "<script>"+secret+"</script>"...) // after the end: a polyglot file
}

func pngWith(t testing.TB, w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, picture(w, h)); err != nil {
		t.Fatal(err)
	}
	chunk := func(kind string, body []byte) []byte {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
		out = append(append(out, kind...), body...)
		return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
	}
	data := b.Bytes()
	out := append([]byte{}, data[:33]...) // signature and header
	out = append(out, chunk("eXIf", exif(1)[6:])...)
	out = append(out, chunk("tEXt", []byte("Comment\x00"+secret))...)
	out = append(out, data[33:]...)
	return append(out, secret...)
}

func gifWith(t testing.TB, frames int) []byte {
	g := &gif.GIF{}
	for range frames {
		p := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Black, color.White})
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 5)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	out := append([]byte{}, data[:len(data)-1]...)
	out = append(out, 0x21, 0xfe, byte(len(secret)))
	out = append(append(out, secret...), 0, 0x3b)
	return append(out, secret...)
}

func TestCleanRemovesMetadata(t *testing.T) {
	tests := []struct {
		name   string
		in     []byte
		limits Limits
		kind   string
		flag   Flag
	}{
		{"jpeg", jpegWith(t, 64, 48, 1), Limits{}, "image/jpeg", Cleaned},
		{"jpeg too large to decode", jpegWith(t, 64, 48, 6), Limits{Pixels: 1000}, "image/jpeg", Stripped},
		{"png", pngWith(t, 30, 20), Limits{}, "image/jpeg", Cleaned},
		{"png too large to decode", pngWith(t, 30, 20), Limits{Pixels: 100}, "image/png", Stripped},
		{"gif", gifWith(t, 1), Limits{}, "image/gif", Stripped},
		{"animated gif", gifWith(t, 3), Limits{}, "image/gif", Stripped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !bytes.Contains(tt.in, []byte(secret)) {
				t.Fatal("the input has no secret")
			}
			out, kind, flag, err := Clean(bytes.NewReader(tt.in), tt.limits)
			if err != nil {
				t.Fatal(err)
			}
			if kind != tt.kind || flag != tt.flag {
				t.Errorf("type %q, flag %q", kind, flag)
			}
			if bytes.Contains(out, []byte(secret)) {
				t.Error("the secret was not removed")
			}
			before, _, err := image.Decode(bytes.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			after, _, err := image.Decode(bytes.NewReader(out))
			if err != nil {
				t.Fatalf("the result cannot be decoded: %v", err)
			}
			if before.Bounds() != after.Bounds() {
				t.Errorf("%v became %v", before.Bounds(), after.Bounds())
			}
		})
	}
}

func TestCleanKeepsTransparency(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	_, kind, _, err := Clean(&b, Limits{})
	if err != nil || kind != "image/png" {
		t.Errorf("%q, %v", kind, err)
	}
}

func TestDecodePNGWithWrongChecksum(t *testing.T) {
	for name, offset := range map[string]int{"Adler-32 of the pixels": -1, "CRC of the chunk": 3} {
		data := pngWith(t, 30, 20)
		at := bytes.Index(data, []byte("IDAT"))
		length := int(binary.BigEndian.Uint32(data[at-4:]))
		data[at+4+length+offset] ^= 0xff
		img, _, err := Decode(data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b := img.Bounds(); b.Dx() != 30 || b.Dy() != 20 {
			t.Errorf("%s: decoded size %v", name, b)
		}
	}
}

func TestOrientation(t *testing.T) {
	// The source is 16 × 8. Its top left quarter is red.
	src := image.NewRGBA(image.Rect(0, 0, 16, 8))
	for y := range 8 {
		for x := range 16 {
			c := color.RGBA{0, 0, 255, 255}
			if x < 8 && y < 4 {
				c = color.RGBA{255, 0, 0, 255}
			}
			src.Set(x, y, c)
		}
	}
	at := func(img image.Image, x, y int) bool { r, _, b, _ := img.At(x, y).RGBA(); return r > b }
	// The place of the red quarter in the upright image: left, top.
	want := map[int][2]bool{1: {true, true}, 2: {false, true}, 3: {false, false}, 4: {true, false},
		5: {true, true}, 6: {false, true}, 7: {false, false}, 8: {true, false}}
	for orientation, corner := range want {
		img := upright(src, orientation)
		b := img.Bounds()
		if wide := b.Dx() == 16; wide != (orientation < 5) {
			t.Errorf("orientation %d gives %v", orientation, b)
		}
		for i, p := range []image.Point{{1, 1}, {b.Dx() - 2, 1}, {1, b.Dy() - 2}, {b.Dx() - 2, b.Dy() - 2}} {
			left, top := i%2 == 0, i < 2
			if red := at(img, p.X, p.Y); red != (left == corner[0] && top == corner[1]) {
				t.Errorf("orientation %d: corner %v is red: %v", orientation, p, red)
			}
		}
	}
	out, _, _, err := Clean(bytes.NewReader(jpegWith(t, 40, 20, 6)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := Probe(out); info.Width != 20 || info.Height != 40 || info.Orientation != 1 {
		t.Errorf("cleaned: %+v", info)
	}
	out, _, _, err = Clean(bytes.NewReader(jpegWith(t, 40, 20, 6)), Limits{Pixels: 10})
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := Probe(out); info.Width != 40 || info.Orientation != 6 {
		t.Errorf("stripped: %+v", info)
	}
}

// An image with a rotation is decoded only if the memory limit also allows the rotated copy, and
// needs no more than that.
func TestRotationMemoryLimit(t *testing.T) {
	const pixels = 400 * 300
	rotated, plain := jpegWith(t, 400, 300, 6), jpegWith(t, 400, 300, 1) // 4:2:0: 1.5 bytes per pixel
	for _, c := range []struct {
		in   []byte
		most int64
		flag Flag
	}{{plain, pixels * 3 / 2, Cleaned}, {rotated, pixels*11/2 - 1, Stripped}, {rotated, pixels * 11 / 2, Cleaned}} {
		if _, _, flag, err := Clean(bytes.NewReader(c.in), Limits{Memory: c.most}); err != nil || flag != c.flag {
			t.Errorf("with %d bytes: %q %v, want %q", c.most, flag, err, c.flag)
		}
	}
	phone := Info{Format: JPEG, Width: 6000, Height: 4000, Orientation: 6, Samples: 3}
	if !phone.fits(nil, Limits{}.withDefaults()) {
		t.Error("a JPEG of 24 megapixels does not fit")
	}
	img, err := jpeg.Decode(bytes.NewReader(rotated))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	upright(img, 6)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > pixels*5 {
		t.Errorf("the rotation took %d bytes, want at most %d", used, pixels*4)
	}
}

// bombs returns small files that would need gigabytes to decode.
func bombs(t testing.TB) map[string][]byte {
	header := func(w, h uint32) []byte {
		out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
		ihdr := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)...)
		ihdr = append(ihdr, 8, 6, 0, 0, 0)
		out = binary.BigEndian.AppendUint32(append(out, ihdr...), crc32.ChecksumIEEE(ihdr))
		return append(out, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82)
	}
	progressive := jpegWith(t, 16, 16, 1)
	at := bytes.Index(progressive, []byte{0xff, 0xc0})
	progressive[at+1] = 0xc2
	binary.BigEndian.PutUint16(progressive[at+5:], 65000)
	binary.BigEndian.PutUint16(progressive[at+7:], 65000)
	return map[string][]byte{
		"50,000 × 50,000 PNG":  header(50_000, 50_000),
		"65,000 × 65,000 JPEG": progressive,
		"10,000-frame GIF":     gifWith(t, 10_000),
		"negative BMP":         append([]byte("BM"), make([]byte, 60)...),
		"empty WebP":           []byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"),
		"50,000 × 50,000 HEIC": heif("heic", 50_000, 50_000),
	}
}

func TestDecompressionBombs(t *testing.T) {
	for name, data := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			if _, _, err := Decode(data, Limits{}); err == nil && name != "10,000-frame GIF" {
				t.Error("the bomb was decoded")
			}
			Clean(bytes.NewReader(data), Limits{Pixels: 1_000_000})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
				t.Errorf("allocated %d bytes", used)
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, in := range []string{"", "hello", "<svg xmlns='http://www.w3.org/2000/svg'/>", "%PDF-1.7", "GIF89a",
		"\xff\xd8\xff", "RIFF....WEBP"} {
		if _, _, _, err := Clean(bytes.NewReader([]byte(in)), Limits{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", in, err)
		}
	}
	if _, _, _, err := Clean(bytes.NewReader(make([]byte, 100)), Limits{Bytes: 99}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("100 bytes with limit 99: %v", err)
	}
}

// A WebP with an extended header that is too short for its flags. The frame after it has a size and
// cannot be decoded.
const shortVP8X = "RIFF\x24\x00\x00\x00WEBPVP8X\x00\x00\x00\x00" + "VP8 \x0a\x00\x00\x00" +
	"\x00\x00\x00\x9d\x01\x2a\x08\x00\x08\x00" + "EXIF\x04\x00\x00\x00GPS!"

// Clean returns a file that it cannot parse unchanged, flagged as Untouched.
func TestBrokenWebPIsUntouched(t *testing.T) {
	for _, in := range []string{shortVP8X, shortVP8X[:38]} { // with and without a chunk after the frame
		info, err := Probe([]byte(in))
		if err != nil || info.Format != WebP || info.Width != 8 {
			t.Fatalf("%+v, %v", info, err)
		}
		if _, err := stripWebP([]byte(in), info); !errors.Is(err, ErrFormat) {
			t.Errorf("stripped: %v", err)
		}
		out, kind, flag, err := Clean(strings.NewReader(in), Limits{})
		if err != nil || kind != "image/webp" || flag != Untouched || string(out) != in {
			t.Errorf("%q %q %v", kind, flag, err)
		}
	}
}

// One pixel each, lossy and lossless.
const (
	lossyWebP    = "RIFF\x22\x00\x00\x00WEBPVP8 \x16\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x01\x00\x01\x00\x0e\xc0\xfe\x25\xa4\x00\x03\x70\x00\x00\x00\x00"
	losslessWebP = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"
)

// pictures returns small files of every format. The HEIC and AVIF files hold no image.
func pictures(f testing.TB) [][]byte {
	var b bytes.Buffer
	if err := bmp.Encode(&b, picture(8, 8)); err != nil {
		f.Fatal(err)
	}
	return [][]byte{jpegWith(f, 8, 8, 6), pngWith(f, 8, 8), gifWith(f, 2), heif("heic", 8, 8), heif("avif", 8, 8),
		[]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x07\x00\x00"),
		[]byte(lossyWebP), []byte(losslessWebP), b.Bytes()}
}

func FuzzClean(f *testing.F) {
	for _, data := range pictures(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// HEIC is decoded in FuzzDecode
		out, kind, flag, err := Clean(bytes.NewReader(data), Limits{Pixels: 1 << 16, HEIF: 1})
		if err == nil && (len(out) == 0 || kind == "") {
			t.Fatalf("no error and no image: %q %q", kind, flag)
		}
		if err == nil && flag == Stripped {
			if _, err := Probe(out); err != nil {
				t.Fatalf("a stripped image is not readable: %v", err)
			}
		}
	})
}

// Decoding must not panic, and the decoded image must not be larger than the limits allow.
func FuzzDecode(f *testing.F) {
	decoded := 0
	for _, data := range append(pictures(f), realHEIC(f)) {
		if _, _, err := Decode(data, Limits{}); err == nil {
			decoded++
		}
		f.Add(data)
	}
	if decoded != 7 { // all except the two empty HEIF files and the extended header without a frame
		f.Fatalf("%d of the seeds can be decoded", decoded)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		img, info, err := Decode(data, Limits{Pixels: 1 << 19, HEIF: 64 << 20})
		if err != nil {
			return
		}
		most := info.Width * info.Height // a GIF's frame may be smaller
		if info.Format == HEIF {
			most *= 2 // it declares its size in several places
		}
		if w, h := img.Bounds().Dx(), img.Bounds().Dy(); w*h > most {
			t.Fatalf("declared %d × %d, decoded %d × %d", info.Width, info.Height, w, h)
		}
	})
}

func realHEIC(t testing.TB) []byte { return testHEIC(t, "test8.heic") }

// A real HEIC becomes a JPEG without metadata.
func TestHEICToJPEG(t *testing.T) {
	in := realHEIC(t)
	before, err := Probe(in)
	if err != nil || before.Format != HEIF {
		t.Fatalf("%+v, %v", before, err)
	}
	out, kind, flag, err := Clean(bytes.NewReader(in), Limits{})
	if err != nil || kind != "image/jpeg" || flag != Cleaned {
		t.Fatalf("%q %q %v", kind, flag, err)
	}
	after, err := Probe(out)
	if err != nil || after.Format != JPEG || after.Width*after.Height != before.Width*before.Height {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
	if bytes.Contains(out, []byte("Exif")) {
		t.Error("the JPEG has metadata")
	}
	cut, _, flag, err := Clean(bytes.NewReader(in[:len(in)/2]), Limits{})
	if err == nil && flag == Cleaned {
		t.Errorf("a truncated file was converted to %d bytes", len(cut))
	}
}

// The cleaned file is within the result limit even if the input had a lower quality.
func TestResultLimit(t *testing.T) {
	noise := image.NewRGBA(image.Rect(0, 0, 400, 400))
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i >> 3)
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, noise, &jpeg.Options{Quality: 70}); err != nil {
		t.Fatal(err)
	}
	sent := b.Bytes()
	for _, c := range []struct {
		most int64
		flag Flag
	}{{0, Cleaned}, {int64(len(sent)) * 11 / 10, Cleaned}, {int64(len(sent)) / 2, Stripped}} {
		out, kind, flag, err := Clean(bytes.NewReader(sent), Limits{Result: c.most})
		if err != nil || kind != "image/jpeg" || flag != c.flag {
			t.Errorf("at most %d: %s %q %v, want %q", c.most, kind, flag, err, c.flag)
		}
		if c.flag == Cleaned && c.most > 0 && int64(len(out)) > c.most {
			t.Errorf("%d bytes, more than %d", len(out), c.most)
		}
	}
}
