package storage

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/backend/backendtest"
	"daawo/supabase/internal/engine/storage/objects"
)

// FuzzForm checks that no upload form causes a panic and that an accepted form has a file and a
// type.
func FuzzForm(f *testing.F) {
	f.Add("boundary=x", "--x\r\nContent-Disposition: form-data; name=\"cacheControl\"\r\n\r\n3600\r\n--x\r\nContent-Disposition: form-data; name=\"\"; filename=\"blob\"\r\nContent-Type: image/png\r\n\r\nbytes\r\n--x--\r\n")
	f.Add("boundary=x", "--x\r\nContent-Disposition: form-data; name=\"metadata\"\r\n\r\n{\"a\":1}\r\n--x--")
	f.Add("", "--\r\n")
	f.Fuzz(func(t *testing.T, params, body string) {
		r := httptest.NewRequest("POST", "/object/b/x", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; "+strings.Map(printable, params))
		var u objects.Upload
		file, err := readForm(r, &u)
		if err != nil {
			return
		}
		if file == nil || u.ContentType == "" {
			t.Fatalf("form without file accepted: %+v", u)
		}
		if _, err := io.Copy(io.Discard, file); err != nil {
			return
		}
	})
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

// FuzzNames checks that the disk backend can read and delete every object name that it accepts.
func FuzzNames(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(decode(name))
	}
	d := backendtest.Disk(f)
	f.Fuzz(func(t *testing.T, name string) {
		key := backend.Key{Bucket: "b", Name: name, Version: "v"}
		if _, err := d.Put(t.Context(), key, strings.NewReader("x"), backend.Options{}); err != nil {
			return
		}
		if strings.ContainsRune(name, 0) || len(name) > 1024 {
			t.Fatalf("%q was stored", name)
		}
		if m, err := d.Head(t.Context(), key); err != nil || m.Size != 1 {
			t.Fatalf("%q was stored, but cannot be read: %v", name, err)
		}
		if err := d.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzRange checks that an accepted range is inside the object.
func FuzzRange(f *testing.F) {
	f.Add("bytes=0-1", int64(10))
	f.Add("bytes=-5", int64(3))
	f.Add("bytes=9223372036854775807-", int64(1))
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		offset, length, err := objects.ParseRange(header, size)
		if err == nil && (offset < 0 || length <= 0 || offset+length > size) {
			t.Fatalf("%q of %d: %d+%d", header, size, offset, length)
		}
	})
}

// FuzzRouter checks that no path causes a panic and that a route with a bucket does not match a
// path without one, except /bucket/.
func FuzzRouter(f *testing.F) {
	for _, path := range []string{"/object/public/b/x", "/bucket/", "/render/image/sign/b/%2e", "/object//",
		"/upload/resumable/sign", "/s3/b/k?uploads"} {
		f.Add("GET", path)
	}
	e := &Engine{}
	table := e.routes()
	f.Fuzz(func(t *testing.T, _, path string) { // the first argument is the method, which match ignores
		for i := range table {
			bucket, _, ok := table[i].match(path)
			if ok && strings.Contains(table[i].pattern, ":") && bucket == "" && !strings.Contains(path, "%") &&
				path != "/bucket/" {
				t.Fatalf("%s matches %q without a bucket", table[i].pattern, path)
			}
		}
	})
}
