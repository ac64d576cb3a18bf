package parts

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// file returns a regular file of an archive.
func file(name, content string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content)),
		PAXRecords: map[string]string{"test.content": content}}
}

func symlink(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
}

func hardLink(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: target}
}

// tarOf returns a tar file.
func tarOf(t require, entries ...tar.Header) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range entries {
		content := h.PAXRecords["test.content"]
		h.PAXRecords = nil
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type require interface{ Fatal(...any) }

// compress returns content in a format: zst or gz.
func compress(t require, format string, content []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if format == "zst" {
		z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zipOf returns a ZIP file.
func zipOf(t *testing.T, files map[string]string, mode fs.FileMode) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpackBytes unpacks an archive into a new folder and returns it.
func unpackBytes(t *testing.T, archive []byte, strip string, most int64) (string, error) {
	t.Helper()
	dir := t.TempDir()
	name, to := filepath.Join(dir, "archive"), filepath.Join(dir, "to")
	if err := errors.Join(os.WriteFile(name, archive, 0o600), os.Mkdir(to, 0o755)); err != nil {
		t.Fatal(err)
	}
	_, err := Unpack(t.Context(), name, to, strip, most)
	return to, err
}

func TestUnpackFormats(t *testing.T) {
	entries := []tar.Header{
		{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
		file("./bin/studio", "program"),
		{Name: "./app/", Typeflag: tar.TypeDir, Mode: 0o700},
		symlink("./app/current", "../bin/studio"),
		hardLink("./app/same", "./bin/studio"),
	}
	for format, archive := range map[string][]byte{
		"tar.zst": compress(t, "zst", tarOf(t, entries...)),
		"tar.gz":  compress(t, "gz", tarOf(t, entries...)),
		"zip": zipOf(t, map[string]string{"bin/studio": "program", "app/current": "program", "app/same": "program"},
			0o755),
	} {
		dir, err := unpackBytes(t, archive, "", 1<<20)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		for _, name := range []string{"bin/studio", "app/current", "app/same"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "program" {
				t.Errorf("%s: %s: %q, %v", format, name, text, err)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "bin/studio")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v, %v", format, info.Mode(), err)
		}
	}
}

func TestUnpackStrip(t *testing.T) {
	archive := compress(t, "gz", tarOf(t, file("package/deno", "program")))
	dir, err := unpackBytes(t, archive, "package", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "deno")); err != nil {
		t.Error(err)
	}
	other := compress(t, "gz", tarOf(t, file("package/deno", "program"), file("packages", "x")))
	if _, err := unpackBytes(t, other, "package", 1<<20); err == nil {
		t.Error("a file outside the folder was unpacked")
	}
}

func TestUnpackRefuses(t *testing.T) {
	for what, entries := range map[string][]tar.Header{
		"an absolute path":             {file("/etc/passwd", "x")},
		"a path outside":               {file("../evil", "x")},
		"a path that leaves inside":    {file("a/../../evil", "x")},
		"a path with ..":               {file("a/../evil", "x")},
		"a path with a backslash":      {file(`a\..\evil`, "x")},
		"an absolute link":             {symlink("a", "/etc")},
		"a link outside":               {symlink("a", "../evil")},
		"a deep link outside":          {symlink("a/b/c", "../../../evil")},
		"a link with .. after a name":  {symlink("a/b", "c/../../evil")},
		"a file below a link":          {{Name: "d/", Typeflag: tar.TypeDir}, symlink("l", "d"), file("l/x", "x")},
		"a file through a link":        {symlink("l", "x"), file("l", "x")},
		"a hard link outside":          {hardLink("a", "../evil")},
		"a hard link to a link":        {file("x", "x"), symlink("l", "x"), hardLink("a", "l")},
		"a hard link below a link":     {file("d/x", "x"), symlink("l", "d"), hardLink("a", "l/x")},
		"the same file twice":          {file("a", "x"), file("a", "y")},
		"a file that is a folder, too": {file("a", "x"), file("a/b", "y")},
		"a device":                     {{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}},
		"a pipe":                       {{Name: "pipe", Typeflag: tar.TypeFifo}},
		"too many bytes":               {file("a", strings.Repeat("x", 600)), file("b", strings.Repeat("x", 600))},
	} {
		dir, err := unpackBytes(t, compress(t, "gz", tarOf(t, entries...)), "", 1000)
		if err == nil {
			t.Errorf("%s: unpacked", what)
		}
		if _, err := os.Lstat(filepath.Join(dir, "../evil")); err == nil {
			t.Errorf("%s: written outside", what)
		}
	}
	for what, archive := range map[string][]byte{
		"a path outside in a ZIP file": zipOf(t, map[string]string{"../evil": "x"}, 0o644),
		"a link in a ZIP file":         zipOf(t, map[string]string{"a": "/etc"}, fs.ModeSymlink|0o777),
		"too many bytes in a ZIP file": zipOf(t, map[string]string{"a": strings.Repeat("x", 1001)}, 0o644),
		"no archive":                   []byte("<!doctype html>"),
		"an empty file":                nil,
		"half an archive":              compress(t, "zst", tarOf(t, file("a", strings.Repeat("x", 900))))[:40],
	} {
		if _, err := unpackBytes(t, archive, "", 1000); err == nil {
			t.Errorf("%s: unpacked", what)
		}
	}
}

// TestUnpackStaysInside unpacks random entries with few names, so that many lie above, below or at
// links. No file outside the folder may change, and no link may lead there.
func TestUnpackStaysInside(t *testing.T) {
	base := t.TempDir()
	part := rapid.SampledFrom([]string{"a", "b", "c", "..", ".", "secret"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(top, "x", "to")
		if err := errors.Join(os.MkdirAll(to, 0o755),
			os.WriteFile(filepath.Join(top, "secret"), []byte("secret"), 0o600),
			os.WriteFile(filepath.Join(top, "x", "secret"), []byte("secret"), 0o600)); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 8).Draw(t, "entries") { // an archive for each, so that a refused one ends nothing
			entry := file(path.Draw(t, "name"), "new")
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 1:
				entry = symlink(entry.Name, path.Draw(t, "target"))
			case 2:
				entry = hardLink(entry.Name, path.Draw(t, "target"))
			case 3:
				entry = tar.Header{Name: entry.Name + "/", Typeflag: tar.TypeDir, Mode: 0o755}
			}
			archive := filepath.Join(top, "archive")
			if err := os.WriteFile(archive, compress(t, "gz", tarOf(t, entry)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _ = Unpack(context.Background(), archive, to, "", 1000) // most entries are refused
		}
		for _, name := range []string{"secret", "x/secret"} {
			if text, err := os.ReadFile(filepath.Join(top, name)); err != nil || string(text) != "secret" {
				t.Fatalf("%s was changed: %q, %v", name, text, err)
			}
		}
		checkLinks(t, to)
	})
}

// checkLinks fails if a link below dir leads out of it.
func checkLinks(t *rapid.T, dir string) {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() != fs.ModeSymlink {
			return err
		}
		real, err := filepath.EvalSymlinks(name)
		if err == nil && real != dir && !strings.HasPrefix(real, dir+"/") {
			t.Fatalf("%s leads to %s", name, real)
		}
		return nil // a link to nothing
	})
	if err != nil {
		t.Fatal(err)
	}
}
