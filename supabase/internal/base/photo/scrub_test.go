package photo

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// gpsTIFF returns an EXIF block whose first directory points to GPS data, followed by the secret.
func gpsTIFF() []byte {
	tiff := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x25\x88\x04\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00\x00\x00\x00")
	return append(tiff, secret...)
}

// displayProfile returns a color profile with a display's name in every text, a date, and a private
// tag with a serial number.
func displayProfile() []byte {
	type tag struct{ name, body string }
	xyz := "XYZ \x00\x00\x00\x00" + "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d"
	tags := []tag{{"desc", "mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0c" +
		"enUS\x00\x00\x00\x10\x00\x00\x00\x1c" + secret},
		{"cprt", "text\x00\x00\x00\x00" + secret}, {"wtpt", xyz}, {"rXYZ", xyz},
		{"mmod", "mmod\x00\x00\x00\x00" + secret}}
	head := make([]byte, profileHead)
	copy(head[4:], secret[:4]) // the program that made it
	copy(head[12:], "mntrRGB XYZ ")
	copy(head[24:], secret[:12]) // the date
	copy(head[36:], "acsp")
	copy(head[80:], secret)
	table := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	at := profileHead + 4 + 12*len(tags)
	var bodies []byte
	for _, t := range tags {
		table = append(table, t.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(at+len(bodies)))
		table = binary.BigEndian.AppendUint32(table, uint32(len(t.body)))
		bodies = append(bodies, t.body...)
	}
	p := slices.Concat(head, table, bodies, []byte(secret))
	binary.BigEndian.PutUint32(p, uint32(len(p)))
	return p
}

func jpegSegment(marker byte, body ...string) []byte {
	text := strings.Join(body, "")
	return append([]byte{0xff, marker, byte((len(text) + 2) >> 8), byte(len(text) + 2)}, text...)
}

// vp8x returns an extended WebP with these chunks around the pixels.
func vp8x(before, after []byte) []byte {
	pixels := []byte(losslessWebP[12:])
	out := slices.Concat([]byte("RIFF\x00\x00\x00\x00WEBP"),
		appendChunk(nil, "VP8X", []byte{0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0}), before, pixels, after)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// leaky returns files of every format, with the secret in every place where a generator may put it.
func leaky(t testing.TB) map[string][]byte {
	photo, exif := jpegWith(t, 64, 48, 6), "Exif\x00\x00"+string(gpsTIFF())
	profile := string(displayProfile())
	files := map[string][]byte{
		"jpeg": photo, "png": pngWith(t, 30, 20), "gif": gifWith(t, 2), "heic": heif("heic", 64, 64),
		"avif": heif("avif", 64, 64),
	}
	end := bytes.LastIndex(photo, []byte{0xff, markerEOI})
	large := jpegWith(t, 640, 480, 6)
	files["jpeg without its last third"] = large[:len(large)*2/3]
	files["jpeg without an end marker"] = photo[:end]
	files["jpeg with a trailer instead of an end marker"] = append(bytes.Clone(photo[:end]), "\xff\x02"+secret...)
	files["jpeg with metadata between scans"] = slices.Concat(photo[:end], jpegSegment(0xe1, exif), photo[end:])
	files["jpeg with metadata between segments"] = slices.Concat(photo[:2], jpegSegment(0xfe, secret), []byte(secret),
		photo[2:])
	files["jpeg with reserved segments"] = slices.Concat(photo[:2], jpegSegment(0xf0, secret),
		jpegSegment(0x02, secret), photo[2:])
	files["jpeg with a JFIF thumbnail"] = slices.Concat(photo[:2],
		jpegSegment(0xe0, "JFIF\x00\x01\x02\x00\x00\x48\x00\x48\x07\x01", secret, secret[:1]), photo[2:])
	files["jpeg with several pictures"] = slices.Concat(photo[:2], jpegSegment(0xe2, "MPF\x00", secret), photo[2:],
		photo)
	files["jpeg with an Adobe segment"] = slices.Concat(photo[:2],
		jpegSegment(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x01", secret), photo[2:])
	files["jpeg of a display"] = slices.Concat(photo[:2], jpegSegment(0xe2, profileHeader, "\x01\x02", profile[:150]),
		jpegSegment(0xe2, profileHeader, "\x02\x02", profile[150:]), photo[2:])

	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = io.WriteString(w, profile)
	_ = w.Close()
	png := pngWith(t, 30, 20)
	files["png of a display"] = slices.Concat(png[:33],
		appendPNGChunk(nil, "iCCP", []byte(secret+"\x00\x00"+packed.String())), png[33:])
	files["png with texts and private chunks"] = slices.Concat(png[:33],
		appendPNGChunk(nil, "iTXt", []byte("XML:com.adobe.xmp\x00"+secret)),
		appendPNGChunk(nil, "tIME", []byte(secret)), appendPNGChunk(nil, "prVt", []byte(secret)), png[33:])

	exifChunk := appendChunk(nil, "EXIF", gpsTIFF())
	files["webp"] = vp8x(appendChunk(nil, "ICCP", []byte(profile)),
		slices.Concat(exifChunk, appendChunk(nil, "XMP ", []byte(secret))))
	files["webp with trailing bytes"] = append(vp8x(nil, exifChunk), secret...)
	files["webp with one trailing byte"] = append(vp8x(nil, exifChunk), 0)
	files["webp with unknown chunks"] = vp8x(appendChunk(nil, "what", []byte(secret)), exifChunk)
	frame := slices.Concat(make([]byte, 16), []byte(losslessWebP[12:]), appendChunk(nil, "what", []byte(secret)))
	files["animated webp"] = vp8x(appendChunk(appendChunk(nil, "ANIM", []byte("\x00\x00\x00\x00\x00\x00"+secret)),
		"ANMF", frame), exifChunk)

	gif := gifWith(t, 1)
	xmp := "\x21\xff\x0bXMP DataXMP" + string(byte(len(secret))) + secret + "\x00"
	head := 13
	if gif[10]&0x80 != 0 {
		head += 3 << (gif[10]&7 + 1) // the global palette
	}
	files["gif with XMP"] = slices.Concat(gif[:head], []byte(xmp), gif[head:])

	heic := heif("heic", 64, 64)
	files["heic of a motion photo"] = append(bytes.Clone(heic), box("mpvd", []byte(secret))...)
	files["heic with a trailer"] = append(bytes.Clone(heic), box("sefd", []byte(secret))...)

	bmp := pictures(t)[8]
	gap := slices.Concat(bmp[:54], []byte(secret), bmp[54:], []byte(secret))
	binary.LittleEndian.PutUint32(gap[10:], uint32(54+len(secret)))
	files["bmp"] = gap
	return files
}

// TestScrub checks for every container that no metadata stays and that the orientation and the
// pixels do.
func TestScrub(t *testing.T) {
	for name, in := range leaky(t) {
		t.Run(name, func(t *testing.T) {
			if !bytes.Contains(in, []byte(secret)) && name != "webp with one trailing byte" &&
				!strings.HasPrefix(name, "png of") {
				t.Fatal("the input has no secret")
			}
			before, err := Probe(in)
			if err != nil {
				t.Fatal(err)
			}
			out, kind, err := Scrub(in)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(out, []byte(secret)) || bytes.Contains(out, []byte(secret[:12])) {
				t.Errorf("the secret is still there: %q", out)
			}
			if left := metadataIn(out); left != "" {
				t.Errorf("metadata is left: %s", left)
			}
			after, err := Probe(out)
			if err != nil || after != before || kind != before.Format.ContentType() {
				t.Errorf("%+v became %+v (%s): %v", before, after, kind, err)
			}
		})
	}
}

// TestStripKeepsCleanPictures checks that a picture that Scrub has cleaned is not encoded again,
// except HEIC. Another version of the file would replace the first for nothing.
func TestStripKeepsCleanPictures(t *testing.T) {
	for name, in := range leaky(t) {
		scrubbed, kind, err := Scrub(in)
		if err != nil || kind == HEIF.ContentType() {
			continue
		}
		if clean, again, ok := Strip(scrubbed); !ok || again != kind || !bytes.Equal(clean, scrubbed) {
			t.Errorf("%s: %v, %s became %s, %d bytes became %d", name, ok, kind, again, len(scrubbed), len(clean))
		}
	}
	if _, kind, ok := Strip(realHEIC(t)); !ok || kind != "image/jpeg" {
		t.Errorf("HEIC became %s, %v", kind, ok)
	}
}

// TestScrubKeepsPixels checks that the decoded pixels are the same, also of a photo that is turned.
func TestScrubKeepsPixels(t *testing.T) {
	for name, in := range map[string][]byte{"jpeg": jpegWith(t, 64, 48, 6), "png": pngWith(t, 30, 20),
		"gif": gifWith(t, 1), "webp": []byte(lossyWebP)} {
		out, _, err := Scrub(in)
		if err != nil {
			t.Fatal(err)
		}
		before, _, err := Decode(in, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		after, _, err := Decode(out, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("%s: the pixels differ", name)
		}
	}
}

// TestScrubKeepsColors checks that a profile keeps its color tags.
func TestScrubKeepsColors(t *testing.T) {
	before := displayProfile()
	after := bytes.Clone(before)
	if !scrubProfile(after) || len(after) != len(before) {
		t.Fatal("the profile was not cleaned")
	}
	at := bytes.Index(before, []byte("XYZ \x00\x00\x00\x00"))
	if !bytes.Equal(before[at:at+40], after[at:at+40]) || !bytes.Contains(after, []byte("wtpt")) ||
		bytes.Contains(after, []byte("mmod")) {
		t.Errorf("%q", after)
	}
	if scrubProfile([]byte(secret)) || scrubProfile(before[:140]) {
		t.Error("a broken profile was accepted")
	}
}

// TestScrubRealHEIC checks a file of a real encoder: it must decode to the same pixels.
func TestScrubRealHEIC(t *testing.T) {
	in := realHEIC(t)
	out, kind, err := Scrub(in)
	if err != nil || kind != "image/heic" || len(out) != len(in) {
		t.Fatalf("%s, %d bytes of %d: %v", kind, len(out), len(in), err)
	}
	before, _, err := Decode(in, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := Decode(out, Limits{})
	if err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the pixels differ: %v", err)
	}
}

func TestScrubRefuses(t *testing.T) {
	sequence := append(heif("heic", 8, 8), box("moov", []byte(secret))...)
	for name, in := range map[string]string{
		"nothing": "", "text": "hello", "SVG": "<svg xmlns='http://www.w3.org/2000/svg'/>", "PDF": "%PDF-1.7",
		"half a PNG": string(pngWith(t, 30, 20)[:100]), "a JPEG without a scan": string(jpegWith(t, 8, 8, 1)[:200]),
		"TIFF": string(gpsTIFF()), "a sequence": string(sequence), "a short WebP": shortVP8X,
	} {
		if out, _, err := Scrub([]byte(in)); !errors.Is(err, ErrFormat) || out != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// metadataIn reads a cleaned file by its own rules and returns the first piece of metadata, or "".
func metadataIn(out []byte) string {
	switch {
	case bytes.HasPrefix(out, []byte{0xff, markerSOI}):
		return metadataInJPEG(out)
	case bytes.HasPrefix(out, []byte("\x89PNG")):
		for at := 8; at < len(out); {
			n, kind := int(binary.BigEndian.Uint32(out[at:])), string(out[at+4:at+8])
			if strings.Contains("tEXt zTXt iTXt tIME dSIG", kind) || kind == "eXIf" &&
				!onlyOrientation(out[at+8:at+8+n]) {
				return kind
			}
			if at += 12 + n; kind == "IEND" && at < len(out) {
				return "trailing bytes"
			}
		}
	case bytes.HasPrefix(out, []byte("RIFF")):
		if int(binary.LittleEndian.Uint32(out[4:])) != len(out)-8 {
			return "trailing bytes"
		}
		for at := 12; at+8 <= len(out); {
			n, kind := int(binary.LittleEndian.Uint32(out[at+4:])), string(out[at:at+4])
			if kind == "XMP " || kind == "EXIF" && !onlyOrientation(out[at+8:at+8+n]) {
				return kind
			}
			at += 8 + n + n&1
		}
	case bytes.HasPrefix(out, []byte("GIF")):
		if bytes.Contains(out, []byte("\x21\xff\x0bXMP")) {
			return "XMP"
		}
	case bytes.Equal(out[4:8], []byte("ftyp")):
		for _, mark := range []string{"mimeapplication", "uuid\xbe\x7a\xcf\xcb"} {
			if bytes.Contains(out, []byte(mark)) {
				return mark
			}
		}
	}
	return ""
}

func metadataInJPEG(out []byte) string {
	pixels := false
	for at := 2; at+1 < len(out); {
		marker := out[at+1]
		if compressed := out[at] != 0xff || marker == 0 || marker == 0xff || standalone(marker); compressed {
			if !pixels {
				return "bytes between segments"
			}
			at++
			continue
		}
		if marker == markerEOI {
			if at+2 != len(out) {
				return "trailing bytes"
			}
			return ""
		}
		n := int(binary.BigEndian.Uint16(out[at+2:]))
		if application(marker) && !harmless(marker, out[at+4:at+2+n]) {
			return fmt.Sprintf("segment %x", marker)
		}
		pixels = pixels || marker == markerSOS
		at += 2 + n
	}
	return "no end marker"
}

// harmless reports whether an application segment holds nothing but what decoders need.
func harmless(marker byte, body []byte) bool {
	switch marker {
	case 0xe0:
		return len(body) == 14
	case 0xe1:
		return bytes.HasPrefix(body, []byte("Exif\x00\x00")) && onlyOrientation(body[6:])
	case 0xe2:
		return bytes.HasPrefix(body, []byte(profileHeader))
	case 0xee:
		return len(body) == 12
	}
	return false
}

// onlyOrientation reports whether the only directory of an EXIF block holds one tag, the
// orientation.
func onlyOrientation(tiff []byte) bool {
	return len(tiff) == 26 && string(tiff[:12]) == "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12" &&
		string(tiff[20:]) == "\x00\x00\x00\x00\x00\x00"
}

// FuzzScrub checks that a file that Scrub accepts has no metadata afterwards, and that a second
// pass changes nothing.
func FuzzScrub(f *testing.F) {
	for _, data := range leaky(f) {
		f.Add(data)
	}
	f.Add(realHEIC(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, kind, err := Scrub(data)
		if err != nil {
			return
		}
		if left := metadataIn(out); left != "" {
			t.Fatalf("%s is left in %s", left, kind)
		}
		again, _, err := Scrub(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("a second pass changed %d bytes to %d: %v", len(out), len(again), err)
		}
	})
}

// FuzzScrubPlanted puts a GPS position into blocks of any kind at any boundary of a file, and
// checks that it is gone.
func FuzzScrubPlanted(f *testing.F) {
	f.Add(uint8(0), uint16(0), []byte("\xe1Exif\x00\x00"))
	f.Add(uint8(1), uint16(1), []byte("eXIf"))
	f.Add(uint8(2), uint16(2), []byte("EXIF"))
	f.Add(uint8(3), uint16(0), []byte("uuid"))
	bases := [][]byte{jpegWith(f, 16, 16, 1), pngWith(f, 16, 16), vp8x(nil, nil), heif("heic", 16, 16)}
	position := append(gpsTIFF(), "LATITUDE+02.046934"...)
	f.Fuzz(func(t *testing.T, format uint8, place uint16, kind []byte) {
		base := bases[int(format)%len(bases)]
		var starts []int
		var block []byte
		switch int(format) % len(bases) {
		case 0:
			if len(kind) == 0 || !application(kind[0]) || len(kind) > 1000 {
				return
			}
			segments, _, _ := jpegSegments(base)
			at := 2
			for _, s := range segments {
				starts = append(starts, at)
				at += len(s.data)
			}
			block = jpegSegment(kind[0], string(kind[1:]), string(position))
		case 1:
			if len(kind) < 4 || strings.Contains("IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB sBIT bKGD pHYs cICP mDCV cLLI acTL fcTL fdAT", string(kind[:4])) {
				return
			}
			end := 8
			_ = eachChunk(base, func(_ string, whole, _ []byte) bool {
				if end += len(whole); end <= len(base) { // else an end chunk that base lacks
					starts = append(starts, end)
				}
				return true
			})
			block = appendPNGChunk(nil, string(kind[:4]), append(bytes.Clone(kind[4:]), position...))
		case 2:
			if len(kind) < 4 || strings.Contains("VP8X VP8  VP8L ALPH ANIM ANMF", string(kind[:4])) {
				return
			}
			starts = []int{30, len(base)}
			block = appendChunk(nil, string(kind[:4]), append(bytes.Clone(kind[4:]), position...))
		case 3:
			if len(kind) < 4 || strings.Contains("ftyp mdat", string(kind[:4])) {
				return
			}
			starts = []int{len(base)}
			block = box(string(kind[:4]), kind[4:], position)
		}
		if len(starts) == 0 {
			return
		}
		at := starts[int(place)%len(starts)]
		out, _, err := Scrub(slices.Concat(base[:at], block, base[at:]))
		if err == nil && bytes.Contains(out, []byte("LATITUDE")) {
			t.Fatalf("the position is still there: %q", out)
		}
	})
}

// BenchmarkScrub measures a JPEG of 4 MB, as a phone makes it.
func BenchmarkScrub(b *testing.B) {
	photo := jpegWith(b, 64, 48, 6)
	end := bytes.LastIndex(photo, []byte{0xff, markerEOI})
	pixels := bytes.Repeat([]byte{0x12, 0xff, 0x00, 0x5a, 0x77, 0x9c, 0xe1, 0x33, 0xab, 0xcd, 0x01, 0x77}, 4<<20/12)
	data := slices.Concat(photo[:end], pixels, photo[end:])
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Scrub(data); err != nil {
			b.Fatal(err)
		}
	}
}
