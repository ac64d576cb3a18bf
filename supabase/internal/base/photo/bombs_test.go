package photo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tiledHEIC returns a HEIC of tiles × tiles times the same tile of 512 pixels, each with the given
// number of frames, and a thumbnail. It declares 1346 × 1346 pixels.
func tiledHEIC(t *testing.T, tiles, frames int) []byte {
	const tileAt, tileSize, propertiesAt, grid, thumbnail, firstTile = 0x405, 0x5428, 436, 10, 50, 100
	file := testHEIC(t, "test.heic")
	tile := bytes.Repeat(file[tileAt:tileAt+tileSize], frames)
	n := func(values ...uint16) (out []byte) {
		for _, v := range values {
			out = binary.BigEndian.AppendUint16(out, v)
		}
		return out
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	count := uint16(tiles * tiles)
	info := func(id uint16, kind string) []byte {
		return box("infe", join(n(0x0200, 0, id, 0), []byte(kind), []byte{0}))
	}
	infos, refs := join(info(grid, "grid"), info(thumbnail, "hvc1")), []byte(nil)
	uses := join(n(grid), []byte{2, 4, 6}, n(thumbnail), []byte{3, 0x82, 3, 6})
	for i := range count {
		infos = append(infos, info(firstTile+i, "hvc1")...)
		refs = append(refs, n(firstTile+i)...)
		uses = append(uses, join(n(firstTile+i), []byte{3, 0x82, 3, 6})...)
	}
	head := join(file[44:77], file[113:127], box("iinf", join(n(0, 0, count+2), infos)),
		box("iref", join(n(0, 0), box("dimg", join(n(grid, count), refs)), box("thmb", n(thumbnail, 1, grid)))),
		box("iprp", join(file[propertiesAt:640], box("ipma", join(n(0, 0, 0, count+2), uses)))))
	side := uint16(512 * tiles)
	if tiles == 3 {
		side = 1346 // as declared
	}
	head = join(head, box("idat", join([]byte{0, 0, byte(tiles - 1), byte(tiles - 1)}, n(side, side))))
	whole := func(at int) []byte {
		places := n(grid, 1, 0, 1, 0, 0, 0, 8)
		for i := range count + 1 {
			id := firstTile + i
			if i == count {
				id = thumbnail
			}
			places = binary.BigEndian.AppendUint32(append(places, n(id, 0, 0, 1)...), uint32(at))
			places = binary.BigEndian.AppendUint32(places, uint32(len(tile)))
		}
		return join(file[:32], box("meta", join(n(0, 0), head, box("iloc", join(n(0x0100, 0, 0x4400, count+2), places)))))
	}
	return join(whole(len(whole(0))+8), box("mdat", tile))
}

// TestHEICBombs decodes files whose tiles and frames need more memory and time than their headers
// declare.
func TestHEICBombs(t *testing.T) {
	if _, _, err := Decode(tiledHEIC(t, 3, 1), Limits{}); err != nil {
		t.Fatal(err)
	}
	before := highestMemory(t)
	if _, _, err := Decode(tiledHEIC(t, 20, 1), Limits{}); !errors.Is(err, ErrFormat) {
		t.Errorf("20 × 20 tiles: %v", err)
	}
	if more := highestMemory(t) - before; more > heifMemory+32<<20 {
		t.Errorf("20 × 20 tiles took %d bytes", more)
	}
	d, err := heifDecoder()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(withHEIFMemory(t.Context()), 300*time.Millisecond)
	defer cancel()
	if _, err := d.decode(ctx, tiledHEIC(t, 1, 800), 1<<30); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("800 frames: %v", err)
	}
}

// TestPNGWithTwoHeaders decodes a PNG whose second header, which decoders ignore, is smaller than
// the first one.
func TestPNGWithTwoHeaders(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	small := b.Bytes()
	header := bytes.Clone(small[16:29])
	binary.BigEndian.PutUint32(header, 20_000)
	binary.BigEndian.PutUint32(header[4:], 20_000)
	end := len(small) - 12
	file := bytes.Join([][]byte{appendPNGChunk(bytes.Clone(small[:8]), "IHDR", header), small[33:end], small[8:33],
		small[end:]}, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := Decode(file, Limits{}); err == nil {
		t.Error("it was decoded")
	}
	if _, _, err := Scrub(file); !errors.Is(err, ErrFormat) {
		t.Errorf("it was cleaned: %v", err)
	}
	runtime.ReadMemStats(&after)
	if most := after.TotalAlloc - before.TotalAlloc; most > 1<<20 {
		t.Errorf("%d bytes were allocated for 16 pixels", most)
	}
}

// highestMemory returns the most bytes that were resident since its last call, on Linux.
func highestMemory(t *testing.T) int64 {
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, err := strconv.ParseInt(string(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(status)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets it
		t.Fatal(err)
	}
	return kilobytes << 10
}

// testHEIC returns a test file of the decoder's module, because no encoder is available here.
func testHEIC(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join(moduleFolder(t, "github.com/gen2brain/heic"), "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// moduleFolder returns the folder of a module of go.mod.
func moduleFolder(t testing.TB, module string) string {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(dir))
}
