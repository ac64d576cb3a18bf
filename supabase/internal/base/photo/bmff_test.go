package photo

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// box returns a box of an ISO base media file.
func box(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), append([]byte(kind), body...)...)
}

// heif returns the smallest file with the structure of a HEIC: one EXIF item and one image item in
// mdat.
func heif(brand string, w, h uint32) []byte {
	return heifWith(brand, w, h, box("udes", []byte(secret)), nil)
}

// heifWith returns the file with another property and an ipma box.
func heifWith(brand string, w, h uint32, property, ipma []byte) []byte {
	ftyp := box("ftyp", []byte(brand), make([]byte, 4), []byte("mif1"))
	ispe := box("ispe", make([]byte, 4), binary.BigEndian.AppendUint32(nil, w), binary.BigEndian.AppendUint32(nil, h))
	infe := func(id byte, kind string) []byte {
		return box("infe", []byte{2, 0, 0, 0, 0, id, 0, 0}, []byte(kind), []byte(secret), []byte{0})
	}
	iinf := box("iinf", []byte{0, 0, 0, 0, 0, 2}, infe(7, "Exif"), infe(8, "hvc1"))
	iloc := func(offset int) []byte {
		at := func(offset, size int) []byte {
			return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(offset)), uint32(size))
		}
		return box("iloc", []byte{1, 0, 0, 0, 0x44, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 1}, at(offset, len(secret)),
			[]byte{0, 8, 0, 0, 0, 0, 0, 1}, at(offset+len(secret), len("pixels")))
	}
	meta := func(offset int) []byte {
		return box("meta", make([]byte, 4), box("hdlr", make([]byte, 24), []byte(secret)),
			box("pitm", make([]byte, 4), []byte{0, 8}), iinf, iloc(offset),
			box("iprp", box("ipco", ispe, property), ipma))
	}
	offset := len(ftyp) + len(meta(0)) + 8
	return bytes.Join([][]byte{ftyp, meta(offset), box("mdat", []byte(secret), []byte("pixels"), []byte(secret))}, nil)
}

// TestStripHEIFCropped checks that an image whose cropped pixels stay in the file is refused.
func TestStripHEIFCropped(t *testing.T) {
	words := func(all ...uint32) (out []byte) {
		for _, n := range all {
			out = binary.BigEndian.AppendUint32(out, n)
		}
		return out
	}
	const denominator = 2
	for name, c := range map[string]struct {
		width, height uint32
		ipma          []byte
		flag          Flag
	}{
		"person cropped":    {2000, 3072, []byte{0, 8, 2, 0x81, 0x82}, Untouched},
		"height":            {4096, 1000, []byte{0, 8, 2, 0x82, 0x81}, Untouched},
		"padding":           {4095, 3024, []byte{0, 8, 2, 0x81, 0x82}, Stripped},
		"of no image":       {2000, 3072, []byte{0, 8, 1, 0x81}, Stripped},
		"broken":            {4096, 3072, []byte{0, 8, 200, 0x81}, Untouched},
		"without ispe":      {4096, 3072, []byte{0, 8, 1, 0x82}, Untouched},
		"of no such number": {4096, 3072, []byte{0, 8, 1, 0x83}, Stripped},
	} {
		clap := box("clap", words(c.width*denominator, denominator, c.height*denominator, denominator, 0, 1, 0, 1))
		in := heifWith("avif", 4096, 3072, clap, box("ipma", words(0, 1), c.ipma))
		if _, _, flag, err := Clean(bytes.NewReader(in), Limits{Pixels: 1000}); err != nil || flag != c.flag {
			t.Errorf("%s: %q %v, want %q", name, flag, err, c.flag)
		}
		if _, _, err := Scrub(in); (err == nil) != (c.flag == Stripped) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStripHEIFExif(t *testing.T) {
	for brand, kind := range map[string]string{"heic": "image/heic", "avif": "image/avif"} {
		in := heif(brand, 4096, 3072)
		info, err := Probe(in)
		if err != nil || info.Width != 4096 || info.Height != 3072 {
			t.Fatalf("%s: %+v, %v", brand, info, err)
		}
		out, got, flag, err := Clean(bytes.NewReader(in), Limits{Pixels: 1000})
		if err != nil || got != kind || flag != Stripped {
			t.Errorf("%s: %q %q %v", brand, got, flag, err)
		}
		if len(out) != len(in) || bytes.Contains(out, []byte(secret)) || !bytes.Contains(out, []byte("pixels")) {
			t.Errorf("%s: the EXIF item was not zeroed", brand)
		}
	}
}

// Boxes beside the image, such as the video of a motion photo or XMP, can also hold the place.
func TestStripHEIFOtherBoxes(t *testing.T) {
	picture := heif("heic", 4096, 3072)
	long := append([]byte{0, 0, 0, 1, 'm', 'p', 'v', 'd', 0, 0, 0, 0, 0, 0, 0, byte(16 + len(secret))}, secret...)
	for name, c := range map[string]struct {
		more []byte
		flag Flag
	}{
		"motion photo": {box("mpvd", box("ftyp", []byte("mp42")),
			box("moov", box("udta", []byte(secret)))), Stripped},
		"motion photo, long header": {long, Stripped},
		"XMP":                       {box("uuid", make([]byte, 16), []byte(secret)), Stripped},
		"free":                      {box("free", []byte(secret)), Stripped},
		"unknown":                   {box("sefd", []byte(secret)), Stripped},
		"size up to the end":        {append([]byte{0, 0, 0, 0}, "sefd"+secret...), Stripped},
		"sequence":                  {box("moov", box("udta", []byte(secret))), Untouched},
		"two meta boxes":            {picture[bytes.Index(picture, []byte("meta"))-4:], Untouched},
	} {
		in := append(bytes.Clone(picture), c.more...)
		out, _, flag, err := Clean(bytes.NewReader(in), Limits{Pixels: 1000})
		if err != nil || flag != c.flag || len(out) != len(in) {
			t.Errorf("%s: %q %v, %d bytes of %d", name, flag, err, len(out), len(in))
		}
		if flag == Stripped && (bytes.Contains(out, []byte(secret)) || !bytes.Contains(out, []byte("pixels"))) {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// A file is untouched if its image is in an unknown box or if it does not declare where its
// metadata is. A few bytes that declare thousands of extents take no time.
func TestStripHEIFRefusesUnsafe(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"pixels in an unknown box": func(in []byte) []byte {
			in = bytes.Replace(in, []byte("mdat"), []byte("what"), 1)
			return bytes.Replace(in, []byte("Exif"), []byte("hvc1"), 1)
		},
		"metadata without a length": func(in []byte) []byte {
			at := bytes.Index(in, []byte("iloc"))
			clear(in[at+4+20 : at+4+24])
			return in
		},
		"metadata without a location": func(in []byte) []byte {
			return bytes.Replace(in, []byte("iloc"), []byte("free"),
				1)
		},
		"thousands of extents": func(in []byte) []byte {
			many := append([]byte{1, 0, 0, 0, 0, 0, 0xff, 0xff},
				bytes.Repeat([]byte{0, 9, 0, 0, 0, 0, 0xff, 0xff}, 1<<16)...)
			return bytes.Join([][]byte{in[:20],
				box("meta", make([]byte, 4), box("iloc", many), in[bytes.Index(in, []byte("iprp"))-4:])}, nil)
		},
	} {
		in := change(heif("heic", 4096, 3072))
		begun := time.Now()
		out, _, flag, err := Clean(bytes.NewReader(in), Limits{Pixels: 1000})
		if err != nil || flag != Untouched || !bytes.Equal(out, in) {
			t.Errorf("%s: %q %v", name, flag, err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}
