package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
)

// The planted values. Every photo holds both.
const (
	plantedPosition = "LAT+02.046934LON+045.318162"
	plantedSerial   = "SERIAL-R58N90XQZ1B"
	planted         = plantedPosition + " " + plantedSerial
)

// plantedPhoto is a file as some generator writes it.
type plantedPhoto struct {
	name, kind string
	content    []byte
}

// plantedPhotos returns photos in every container, with metadata in the places where cameras,
// phones, messengers, editors and screenshot tools put it.
func plantedPhotos() []plantedPhoto {
	var all []plantedPhoto
	add := func(kind, name string, content []byte) { all = append(all, plantedPhoto{name, kind, content}) }
	for name, content := range jpegPhotos() {
		add("image/jpeg", "JPEG "+name, content)
	}
	for name, content := range pngPhotos() {
		add("image/png", "PNG "+name, content)
	}
	for name, content := range webpPhotos() {
		add("image/webp", "WebP "+name, content)
	}
	for name, content := range gifPhotos() {
		add("image/gif", "GIF "+name, content)
	}
	for name, content := range heifPhotos() {
		add("image/"+strings.Fields(name)[0], name, content)
	}
	slices.SortFunc(all, func(a, b plantedPhoto) int { return strings.Compare(a.name, b.name) })
	return all
}

func testPicture() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for y := range 240 {
		for x := range 320 {
			img.Set(x, y, color.RGBA{uint8(x), uint8(y), uint8(x * y), 255})
		}
	}
	return img
}

// plantedEXIF returns a TIFF block in a byte order, with a position directory and the values behind
// it.
func plantedEXIF(order binary.AppendByteOrder) []byte {
	mark := "II"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		mark = "MM"
	}
	out := append([]byte(mark), 0, 0)
	switch mark {
	case "II":
		out[2] = 42
	default:
		out[3] = 42
	}
	out = order.AppendUint32(out, 8)
	out = order.AppendUint16(out, 3)
	for _, entry := range [][4]uint32{{0x0112, 3, 1, 6}, {0x8825, 4, 1, 50}, {0xa431, 2, uint32(len(planted)), 68}} {
		out = order.AppendUint16(out, uint16(entry[0]))
		out = order.AppendUint16(out, uint16(entry[1]))
		out = order.AppendUint32(out, entry[2])
		if entry[1] == 3 {
			out = order.AppendUint16(order.AppendUint16(out, uint16(entry[3])), 0)
			continue
		}
		out = order.AppendUint32(out, entry[3])
	}
	out = order.AppendUint32(out, 0)
	out = append(out, make([]byte, 18)...) // the position directory, empty
	return append(out, planted...)
}

func plantedXMP() string {
	return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description exif:GPSLatitude="` + plantedPosition +
		`" aux:SerialNumber="` + plantedSerial + `"/></rdf:RDF></x:xmpmeta>`
}

func jpegPart(marker byte, body string) []byte {
	return append([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}

func jpegPhotos() map[string][]byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, testPicture(), &jpeg.Options{Quality: 85}) // a bytes.Buffer never fails
	base := b.Bytes()
	after := func(parts ...[]byte) []byte { return slices.Concat(base[:2], slices.Concat(parts...), base[2:]) }
	intel, motorola := "Exif\x00\x00"+string(plantedEXIF(binary.LittleEndian)), "Exif\x00\x00"+
		string(plantedEXIF(binary.BigEndian))
	exif := jpegPart(0xe1, intel)
	xmp := jpegPart(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+plantedXMP())
	iptc := jpegPart(0xed, "Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00\x40\x1c\x02\x5a"+planted)
	jfif := jpegPart(0xe0, "JFIF\x00\x01\x01\x00\x00\x48\x00\x48\x00\x00")
	video := "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00isommp42\x00\x00\x00\x60moov\xa9xyz" + planted
	thumbnail := after(exif)
	files := map[string][]byte{
		"of an Android phone":          after(exif),
		"of an iPhone":                 after(jpegPart(0xe1, motorola), jpegPart(0xe2, "MPF\x00MM\x00*"+planted)),
		"with JFIF before EXIF":        after(jfif, exif),
		"of a camera with maker notes": after(jpegPart(0xe1, intel+"Nikon\x00\x02\x10"+planted)),
		"with XMP alone":               after(xmp),
		"with extended XMP": after(xmp,
			jpegPart(0xe1, "http://ns.adobe.com/xmp/extension/\x00"+planted)),
		"of Photoshop": after(jfif, exif, iptc,
			jpegPart(0xee, "Adobe\x00d\x00\x00\x00\x00\x01"+planted)),
		"of a news agency":         after(iptc),
		"of Google's motion photo": append(after(exif, xmp), video...),
		"of Samsung's motion photo": append(after(exif), "\x00\x00\x30\x0aMotionPhoto_Data"+video+"SEFH"+planted+
			"SEFT"...),
		"with an EXIF thumbnail": after(jpegPart(0xe1, intel+string(thumbnail[:min(len(thumbnail), 60000)]))),
		"with a JFIF thumbnail": after(jpegPart(0xe0, "JFIF\x00\x01\x02\x00\x00\x48\x00\x48\x0f\x01"+
			planted)),
		"with a JFXX thumbnail":            after(jfif, jpegPart(0xe0, "JFXX\x00\x10"+planted)),
		"with a comment":                   after(jpegPart(0xfe, planted)),
		"of a drone, MakerNote in APP4":    after(exif, jpegPart(0xe4, "DJI\x00"+planted), jpegPart(0xe7, planted)),
		"of a thermal camera":              after(exif, jpegPart(0xe1, "FLIR\x00\x01\x00\x00"+planted)),
		"of a panorama with a second EXIF": after(exif, jpegPart(0xe1, motorola), xmp),
		"with a portrait's depth after":    slices.Concat(after(exif, xmp), after(exif)),
		"truncated on the way":             after(exif)[:len(base)*3/4],
		"with garbage between segments":    after(exif, []byte("\x00\x00"+planted)),
		"with metadata between the scans":  slices.Concat(base[:len(base)-2], exif, base[len(base)-2:]),
		"that is also a ZIP archive":       append(after(exif), "PK\x03\x04"+planted...),
		"with the profile of a display":    after(exif, jpegPart(0xe2, "ICC_PROFILE\x00\x01\x01"+planted)),
	}
	return files
}

func pngPart(kind, body string) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func pngPhotos() map[string][]byte {
	var b bytes.Buffer
	_ = png.Encode(&b, testPicture())
	base := b.Bytes()
	after := func(parts ...[]byte) []byte { return slices.Concat(base[:33], slices.Concat(parts...), base[33:]) }
	exif := pngPart("eXIf", string(plantedEXIF(binary.BigEndian)))
	return map[string][]byte{
		"of a screenshot tool": after(pngPart("tEXt", "Comment\x00"+planted),
			pngPart("tIME", "\x07\xea\x0b\x16\x0a\x0a\x0a")),
		"with EXIF": after(exif),
		"with XMP":  after(pngPart("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+plantedXMP())),
		"of ImageMagick": after(pngPart("zTXt", "Raw profile type exif\x00\x00"+planted),
			pngPart("tEXt", "exif:GPS\x00"+planted)),
		"with trailing data":  append(after(exif), planted...),
		"with private chunks": after(pngPart("prVW", planted), pngPart("sPLT", planted)),
		"with text after its data": slices.Concat(base[:len(base)-12], pngPart("tEXt", "Location\x00"+planted),
			base[len(base)-12:]),
	}
}

func riffPart(kind, body string) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))
	if out = append(out, body...); len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

func webpPhotos() map[string][]byte {
	const pixel = "\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00\x00\x00"
	file := func(parts ...[]byte) []byte {
		head := riffPart("VP8X", "\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		body := slices.Concat([]byte("WEBP"), head, slices.Concat(parts...))
		return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
	}
	pixels, exif, xmp := riffPart("VP8L", pixel[:13]), riffPart("EXIF", string(plantedEXIF(binary.LittleEndian))),
		riffPart("XMP ", plantedXMP())
	return map[string][]byte{
		"with EXIF and XMP":         file(pixels, exif, xmp),
		"with EXIF before its data": file(exif, pixels),
		"with trailing bytes":       append(file(pixels, exif), planted...),
		"with an Exif prefix": file(pixels,
			riffPart("EXIF", "Exif\x00\x00"+string(plantedEXIF(binary.BigEndian)))),
		"with unknown chunks":          file(riffPart("ABCD", planted), pixels, riffPart("MPF ", planted)),
		"with a display's profile":     file(riffPart("ICCP", planted), pixels),
		"of a messenger, one byte off": append(file(pixels, exif), 0),
	}
}

func gifPhotos() map[string][]byte {
	p := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	_ = gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{p, p}, Delay: []int{5, 5}})
	base := b.Bytes()
	body := base[:len(base)-1]
	short := fmt.Sprintf("%c%s\x00", len(planted), planted)
	return map[string][]byte{
		"with a comment":     slices.Concat(body, []byte("\x21\xfe"+short+";")),
		"with XMP":           slices.Concat(body, []byte("\x21\xff\x0bXMP DataXMP"+short+";")),
		"with trailing data": append(bytes.Clone(base), planted...),
	}
}

func heifBox(kind string, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), append([]byte(kind), body...)...)
}

// heifPhotos returns files with the structure of HEIC and AVIF: an image item, an EXIF item and an
// XMP item.
func heifPhotos() map[string][]byte {
	exif, xmp, pixels := plantedEXIF(binary.BigEndian), []byte(plantedXMP()), bytes.Repeat([]byte{0x5a}, 400)
	file := func(brand, coding string, more ...[]byte) []byte {
		u32 := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
		infe := func(id byte, kind string) []byte {
			return heifBox("infe", []byte{2, 0, 0, 0, 0, id, 0, 0}, []byte(kind), []byte(planted+"\x00"))
		}
		ftyp := heifBox("ftyp", []byte(brand), make([]byte, 4), []byte("mif1"))
		meta := func(at int) []byte {
			place := func(id byte, at, size int) []byte {
				return slices.Concat([]byte{0, id, 0, 0, 0, 0, 0, 1}, u32(at), u32(size))
			}
			iloc := heifBox("iloc", []byte{1, 0, 0, 0, 0x44, 0, 0, 3}, place(1, at, len(pixels)),
				place(2, at+len(pixels), len(exif)), place(3, at+len(pixels)+len(exif), len(xmp)))
			return heifBox("meta", make([]byte, 4), heifBox("hdlr", make([]byte, 24), []byte(planted)),
				heifBox("pitm", make([]byte, 4), []byte{0, 1}),
				heifBox("iinf", []byte{0, 0, 0, 0, 0, 3}, infe(1, coding), infe(2, "Exif"), infe(3, "mime")), iloc,
				heifBox("iprp", heifBox("ipco", heifBox("ispe", make([]byte, 4), u32(400), u32(300)),
					heifBox("udes", []byte(planted)))))
		}
		offset := len(ftyp) + len(meta(0)) + 8
		return slices.Concat(append([][]byte{ftyp, meta(offset), heifBox("mdat", pixels, exif, xmp, []byte(planted))},
			more...)...)
	}
	return map[string][]byte{
		"heic of an iPhone":        file("heic", "hvc1"),
		"heic of Samsung":          file("heic", "hvc1", heifBox("sefd", []byte(planted))),
		"heic of a motion photo":   file("heic", "hvc1", heifBox("mpvd", []byte(planted))),
		"heif with a uuid box":     file("mif1", "hvc1", heifBox("uuid", make([]byte, 16), []byte(planted))),
		"avif of an Android phone": file("avif", "av01"),
		"avif with a free box":     file("avif", "av01", heifBox("free", []byte(planted))),
	}
}
