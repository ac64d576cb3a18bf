package photo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// picturedItem is an item of a test file.
type picturedItem struct {
	id   byte
	kind string
	data string
}

// itemsFile returns an AVIF whose primary item is 1, with these items in mdat and these references,
// each a kind, an item and one other item.
func itemsFile(items []picturedItem, refs ...string) []byte {
	ftyp := box("ftyp", []byte("avif"), make([]byte, 4), []byte("mif1"))
	infos, all, media := []byte{0, 0, 0, 0, 0, byte(len(items))}, make([]byte, 4), []byte(nil)
	for _, item := range items {
		infos = append(infos, box("infe", []byte{2, 0, 0, 0, 0, item.id, 0, 0}, []byte(item.kind), []byte{0})...)
		media = append(media, item.data...)
	}
	for _, r := range refs {
		all = append(all, box(r[:4], []byte{0, r[4] - '0', 0, 1, 0, r[5] - '0'})...)
	}
	ispe := box("ispe", make([]byte, 4), []byte{0, 0, 0, 64, 0, 0, 0, 64})
	head := func(at int) []byte {
		places := []byte{1, 0, 0, 0, 0x44, 0, 0, byte(len(items))}
		for _, item := range items {
			places = append(places, 0, item.id, 0, 0, 0, 0, 0, 1)
			places = binary.BigEndian.AppendUint32(places, uint32(at))
			places = binary.BigEndian.AppendUint32(places, uint32(len(item.data)))
			at += len(item.data)
		}
		return append(bytes.Clone(ftyp), box("meta", make([]byte, 4), box("hdlr", make([]byte, 24)),
			box("pitm", make([]byte, 4), []byte{0, 1}), box("iinf", infos), box("iref", all), box("iloc", places),
			box("iprp", box("ipco", ispe)))...)
	}
	return append(head(len(head(0))+8), box("mdat", media)...)
}

// TestThumbnailsAreRemoved checks that no thumbnail of a HEIF stays, with its tiles and its alpha,
// and that all of the picture does.
func TestThumbnailsAreRemoved(t *testing.T) {
	file := itemsFile([]picturedItem{{1, "grid", "primary"}, {2, "av01", "tile"}, {3, "av01", "alpha"},
		{4, "grid", secret + "4"}, {5, "av01", secret + "5"}, {6, "av01", secret + "6"}, {7, "av01", "shared"}},
		"dimg12", "auxl31", "thmb41", "dimg45", "auxl64", "dimg47", "dimg17")
	out, kind, err := Scrub(file)
	if err != nil || kind != "image/avif" || len(out) != len(file) {
		t.Fatal(kind, len(out), err)
	}
	if bytes.Contains(out, []byte(secret)) {
		t.Error("a part of the thumbnail stays")
	}
	for _, part := range []string{"primary", "tile", "alpha", "shared"} {
		if !bytes.Contains(out, []byte(part)) {
			t.Errorf("the picture lost its part %s", part)
		}
	}
	if n := bytes.Count(out, []byte("av01")); n != 3 {
		t.Errorf("%d items are images beside the grid, want 3", n)
	}
	if again, _, err := Scrub(out); err != nil || !bytes.Equal(again, out) {
		t.Errorf("the second cleaning changes the file: %v", err)
	}
	for name, refs := range map[string][]string{
		"the picture as a thumbnail": {"thmb12"},
		"deeply nested thumbnails":   {"thmb21", "dimg23", "dimg34", "dimg45", "dimg56", "dimg67", "dimg78", "dimg89", "dimg9:", "dimg:;"},
	} {
		if _, _, err := Scrub(itemsFile([]picturedItem{{1, "av01", "primary"}}, refs...)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestScrubbedHEICDecodes checks that a decoder reads a picture without its thumbnail.
func TestScrubbedHEICDecodes(t *testing.T) {
	clean, _, err := Scrub(tiledHEIC(t, 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(clean, []byte("free")); n != 1 {
		t.Errorf("%d items were removed", n)
	}
	if _, _, err := Decode(clean, Limits{}); err != nil {
		t.Error(err)
	}
}
