package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// TestCompressedForms checks the compressed forms that the build wrote: each decodes to its file
// and is smaller, only files below assets/ have any, and no large script or stylesheet there is
// without.
func TestCompressedForms(t *testing.T) {
	for name, files := range map[string]fs.FS{"site": Files(), "desk": Desk()} {
		t.Run(name, func(t *testing.T) {
			if _, err := fs.Stat(files, "index.html"); errors.Is(err, fs.ErrNotExist) {
				t.Skip("not built: npm run build -w web")
			}
			err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				if of, encoding := formOf(name); encoding != "" {
					checkForm(t, files, name, of, encoding)
				} else if ext := path.Ext(name); path.Dir(name) == "assets" && (ext == ".js" || ext == ".css") {
					checkHasForms(t, files, name)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func formOf(name string) (of, encoding string) {
	switch ext := path.Ext(name); ext {
	case ".br", ".gz":
		return strings.TrimSuffix(name, ext), ext
	}
	return "", ""
}

func checkForm(t *testing.T, files fs.FS, name, of, encoding string) {
	t.Helper()
	if path.Dir(name) != "assets" {
		t.Errorf("%s: the server fills values into files outside assets/, so it compresses them itself", name)
		return
	}
	form, whole := read(t, files, name), read(t, files, of)
	var in io.Reader = brotli.NewReader(bytes.NewReader(form))
	if encoding == ".gz" {
		unzipped, err := gzip.NewReader(bytes.NewReader(form))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		in = unzipped
	}
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%s: decodes to %d other bytes than %s: %v", name, len(got), of, err)
	}
	if len(form) >= len(whole) {
		t.Errorf("%s: %d bytes, the file has %d", name, len(form), len(whole))
	}
}

// checkHasForms allows small files without forms: theirs would not be smaller.
func checkHasForms(t *testing.T, files fs.FS, name string) {
	t.Helper()
	const small = 200 // bytes
	if len(read(t, files, name)) < small {
		return
	}
	for _, ext := range []string{".br", ".gz"} {
		if _, err := fs.Stat(files, name+ext); err != nil {
			t.Error(err)
		}
	}
}

func read(t *testing.T, files fs.FS, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(files, name)
	if err != nil {
		t.Error(err)
	}
	return data
}
