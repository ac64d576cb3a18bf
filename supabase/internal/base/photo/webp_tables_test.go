package photo

import (
	"bytes"
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// lossless writes the bits of a lossless WebP.
type lossless struct {
	out  []byte
	free int // bits in the last byte
}

func (w *lossless) write(value, n int) {
	for i := range n {
		if w.free == 0 {
			w.out, w.free = append(w.out, 0), 8
		}
		w.out[len(w.out)-1] |= byte(value>>i&1) << (8 - w.free)
		w.free--
	}
}

// writeCode writes bits that a code compares from the highest one.
func (w *lossless) writeCode(code, n int) { w.write(int(bits.Reverse16(uint16(code))>>(16-n)), n) }

// single writes a code whose only symbol is 0.
func (w *lossless) single() { w.write(1, 4) }

// equal writes a code for the first 1<<length symbols of an alphabet, each of the same length, in
// few bits: the length once, and then its repetitions.
func (w *lossless) equal(length, alphabet int) {
	w.write(0, 1)
	w.write(19-4, 4)
	for _, symbol := range []int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} {
		used := 0
		if symbol == 16 || symbol == length {
			used = 1
		}
		w.write(used, 3)
	}
	repeat, left := (1<<length-1)/6, (1<<length-1)%6
	symbols := 1 + repeat + left
	w.write(btoi(1<<length < alphabet), 1)
	if 1<<length < alphabet {
		w.write(5-1, 3)
		w.write(symbols-2, 10)
	}
	w.write(0, 1) // the length; it sorts before 16
	for range repeat {
		w.write(1, 1)
		w.write(3, 2)
	}
	for range left {
		w.write(0, 1)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// manyCodes returns a lossless WebP of 256 × 256 pixels with this number of groups of prefix codes.
func manyCodes(groups int) []byte {
	const side, tile = 256, 4
	w := &lossless{}
	w.write(0x2f, 8)
	w.write(side-1, 14)
	w.write(side-1, 14)
	w.write(0, 4)
	w.write(0, 1)  // no transform
	w.write(1, 1)  // a color cache
	w.write(11, 4) // of 2,048 entries
	w.write(1, 1)  // several groups
	w.write(0, 3)  // in tiles of 4 pixels
	w.write(0, 1)  // no color cache for the numbers of the groups
	w.equal(8, 280)
	w.equal(4, 256)
	for range 3 {
		w.single()
	}
	for i := range side / tile * side / tile {
		group := i % groups
		w.writeCode(group&0xff, 8)
		w.writeCode(group>>8, 4)
	}
	for range groups {
		w.equal(11, 280+2048)
		for range 3 {
			w.equal(8, 256)
		}
		w.equal(5, 40)
	}
	for range side * side { // the first pixel of each tile looks up the first color of the cache
		w.writeCode(0, 11)
		for range 3 {
			w.writeCode(0, 8)
		}
	}
	file := appendChunk([]byte("RIFF\x00\x00\x00\x00WEBP"), "VP8L", w.out)
	size := len(file) - 8
	copy(file[4:], []byte{byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)})
	return file
}

// TestWebPTables decodes lossless WebPs whose prefix codes need more memory than their pixels.
func TestWebPTables(t *testing.T) {
	few := manyCodes(100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := Decode(few, Limits{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	tables, allocated := webpTables(few), int64(after.TotalAlloc-before.TotalAlloc)
	if tables < 100*40_000 || tables > allocated {
		t.Errorf("100 groups: %d bytes of tables, %d allocated", tables, allocated)
	}
	many := manyCodes(2600)
	runtime.ReadMemStats(&before)
	if _, _, err := Decode(many, Limits{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("2600 groups: %v", err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("2600 groups in %d bytes: %d bytes were allocated", len(many), allocated)
	}
}

// TestWebPTablesOfPictures reads the codes of the test pictures of the decoder's module.
func TestWebPTablesOfPictures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleFolder(t, "golang.org/x/image"), "testdata", "*lossless*.webp"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := webpTables(data); n < prefixTable || n > 4<<20 {
			t.Errorf("%s: %d bytes", file, n)
		}
		if _, _, err := Decode(data, Limits{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !bytes.HasPrefix(data[12:], []byte("VP8L")) {
			continue
		}
		l := losslessReader{data: data[20:], bit: 40}
		info, err := Probe(data)
		if l.picture(info.Width, info.Height); l.failed || err != nil {
			t.Errorf("%s was not read to its pixels: %v", file, err)
		}
	}
}
