package backend_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/backend/backendtest"
)

// content is what put stores.
const content = "0123456789"

// put stores content with the type text/plain.
func put(t *testing.T, b backend.Backend, key backend.Key) backend.Meta {
	t.Helper()
	meta, err := b.Put(t.Context(), key, strings.NewReader(content),
		backend.Options{ContentType: "text/plain", CacheControl: "max-age=1"})
	if err != nil {
		t.Fatal(err)
	}
	return meta
}

func read(t *testing.T, b backend.Backend, key backend.Key, offset, length int64) string {
	t.Helper()
	body, err := b.Open(t.Context(), key, offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// failing is a request body that fails because the client disconnected.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("client disconnected") }

func TestPutAndOpen(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		key := backend.Key{Bucket: "b", Name: "folder/a b.txt", Version: "v1"}
		if _, err := b.Open(t.Context(), key, 0, -1); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("open of missing version: %v", err)
		}
		meta := put(t, b, key)
		sum := md5.Sum([]byte(content))
		if meta.Size != 10 || meta.ETag != `"`+hex.EncodeToString(sum[:])+`"` || meta.ContentType != "text/plain" ||
			time.Since(meta.Modified) > time.Minute {
			t.Errorf("put: %+v", meta)
		}
		head, err := b.Head(t.Context(), key)
		if err != nil || head.Size != 10 || head.ETag != meta.ETag || head.ContentType != "text/plain" ||
			backendtest.OnDisk(b) && head.CacheControl != "max-age=1" {
			t.Errorf("head: %+v, %v", head, err)
		}
		for _, r := range []struct {
			offset, length int64
			want           string
		}{{0, -1, content}, {3, 4, "3456"}, {8, -1, "89"}, {0, 1, "0"}, {4, 0, ""}} {
			if got := read(t, b, key, r.offset, r.length); got != r.want {
				t.Errorf("range %d+%d: %q", r.offset, r.length, got)
			}
		}
	})
}

func TestFailedPutStoresNothing(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		key := backend.Key{Bucket: "b", Name: "half", Version: "v"}
		if _, err := b.Put(t.Context(), key, io.MultiReader(strings.NewReader("half"), failing{}),
			backend.Options{}); err == nil {
			t.Error("incomplete body was stored")
		}
		if _, err := b.Head(t.Context(), key); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("incomplete object is visible: %v", err)
		}
	})
}

func TestCopy(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		source := backend.Key{Bucket: "b", Name: "source", Version: "v1"}
		put(t, b, source)
		same := backend.Key{Bucket: "b", Name: "copy", Version: "v2"}
		sum := md5.Sum([]byte(content))
		copied, err := b.Copy(t.Context(), source, same, nil)
		if err != nil {
			t.Fatal(err)
		}
		if copied.Size != int64(len(content)) || copied.ETag != `"`+hex.EncodeToString(sum[:])+`"` {
			t.Errorf("reply to the copy: %+v", copied)
		}
		if m, err := b.Head(t.Context(), same); err != nil || m.ContentType != "text/plain" ||
			read(t, b, same, 0, -1) != content {
			t.Errorf("copy: %+v, %v", m, err)
		}
		changed := backend.Key{Bucket: "b", Name: "changed", Version: "v3"}
		if m, err := b.Copy(t.Context(), source, changed, &backend.Options{ContentType: "text/x"}); err != nil ||
			m.ContentType != "text/x" {
			t.Errorf("copy with other options: %+v, %v", m, err)
		}
	})
}

// TestDiskCopy copies an object of more than one piece, with its checksum as stored, lost, and of a
// multipart upload.
func TestDiskCopy(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		if !backendtest.OnDisk(b) {
			t.Skip("an S3 store copies by itself")
		}
		ctx := t.Context()
		half := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16)
		sum := md5.Sum(append(bytes.Clone(half), half...))
		want := `"` + hex.EncodeToString(sum[:]) + `"`
		whole := backend.Key{Bucket: "b", Name: "whole", Version: "v"}
		if _, err := b.Put(ctx, whole, io.MultiReader(bytes.NewReader(half), bytes.NewReader(half)),
			backend.Options{}); err != nil {
			t.Fatal(err)
		}
		parts := backend.Key{Bucket: "b", Name: "parts", Version: "v"}
		id, err := b.CreateMultipart(ctx, parts, backend.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var sent []backend.Part
		for n := range 2 {
			p, err := b.PutPart(ctx, parts, id, n+1, bytes.NewReader(half), int64(len(half)))
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, p)
		}
		if _, err := b.CompleteMultipart(ctx, parts, id, sent); err != nil {
			t.Fatal(err)
		}
		for _, source := range []backend.Key{whole, parts} {
			target := backend.Key{Bucket: "b", Name: "copy of " + source.Name, Version: "v"}
			meta, err := b.Copy(ctx, source, target, nil)
			if err != nil || meta.ETag != want || meta.Size != int64(2*len(half)) {
				t.Errorf("copy of %s: %+v, %v; want %s", source.Name, meta, err, want)
			}
			if got := md5.Sum([]byte(read(t, b, target, 0, -1))); got != sum {
				t.Errorf("the copy of %s has other bytes", source.Name)
			}
			if head, err := b.Head(ctx, target); err != nil || head.ETag != want {
				t.Errorf("head of the copy of %s: %+v, %v", source.Name, head, err)
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		late := backend.Key{Bucket: "b", Name: "late", Version: "v"}
		if _, err := b.Copy(ended, whole, late, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("copy after the request ended: %v", err)
		}
		if _, err := b.Head(ctx, late); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("head after the request ended: %v", err)
		}
	})
}

func TestWalkAndDelete(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		key, other := backend.Key{Bucket: "b", Name: "folder/a b.txt", Version: "v1"},
			backend.Key{Bucket: "b", Name: "other", Version: "v2"}
		put(t, b, key)
		put(t, b, other)
		seen := map[string]bool{}
		if err := b.Walk(t.Context(),
			func(e backend.Entry) error { seen[e.Key.Name+"@"+e.Key.Version] = true; return nil }); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 2 || !seen["folder/a b.txt@v1"] {
			t.Errorf("walk: %v", seen)
		}
		if err := b.Delete(t.Context(), key, other,
			backend.Key{Bucket: "b", Name: "missing", Version: "v"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Head(t.Context(), key); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("head after delete: %v", err)
		}
	})
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		for _, name := range []string{"../x", "a/../../x", "a\x00b", strings.Repeat("x", 2000), "."} {
			if _, err := b.Put(t.Context(), backend.Key{Bucket: "b", Name: name, Version: "v"}, strings.NewReader("x"),
				backend.Options{}); !errors.Is(err, backend.ErrInvalidKey) {
				t.Errorf("name %.20q: %v", name, err)
			}
		}
	})
}

// TestDiskPutDuringPrune stores versions while other goroutines delete the last version of the same
// folders.
func TestDiskPutDuringPrune(t *testing.T) {
	t.Parallel()
	d := backendtest.Disk(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 100 {
				key := backend.Key{Bucket: "b", Name: "a/b/c/d", Version: fmt.Sprintf("v%d-%d", w, i)}
				if _, err := d.Put(t.Context(), key, strings.NewReader("x"), backend.Options{}); err != nil {
					t.Errorf("put: %v", err)
					return
				}
				if err := d.Delete(t.Context(), key); err != nil {
					t.Errorf("delete: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestMultipart(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		ctx := t.Context()
		key := backend.Key{Bucket: "b", Name: "parts", Version: "v"}
		id, err := b.CreateMultipart(ctx, key, backend.Options{ContentType: "text/plain"})
		if err != nil {
			t.Fatal(err)
		}
		first := strings.Repeat("a", 5<<20)
		var parts []backend.Part
		for i, text := range []string{first, "end"} {
			p, err := b.PutPart(ctx, key, id, i+1, strings.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, p)
		}
		meta, err := b.CompleteMultipart(ctx, key, id, parts)
		if err != nil || meta.Size != 5<<20+3 || !strings.HasSuffix(meta.ETag, `-2"`) {
			t.Errorf("complete: %+v, %v", meta, err)
		}
		if head, err := b.Head(ctx, key); err != nil || backendtest.OnDisk(b) && head.ETag != meta.ETag ||
			head.ContentType != "text/plain" {
			t.Errorf("head: %+v, %v", head, err)
		}
		if _, err := b.PutPart(ctx, key, "no-such-upload", 1, strings.NewReader("x"), 1); !errors.Is(err,
			backend.ErrNotFound) {
			t.Errorf("part of missing upload: %v", err)
		}
	})
}

func TestAbortMultipart(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		ctx := t.Context()
		for _, name := range []string{"abandoned", "a//b", "/a", "dir/"} {
			key := backend.Key{Bucket: "b", Name: name, Version: "v"}
			id, err := b.CreateMultipart(ctx, key, backend.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.PutPart(ctx, key, id, 1, strings.NewReader("x"), 1); err != nil {
				t.Fatal(err)
			}
			if err := b.AbortMultipart(ctx, key, id); err != nil {
				t.Errorf("abort of %q: %v", name, err)
			}
			if _, err := b.PutPart(ctx, key, id, 1, strings.NewReader("x"), 1); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("part of aborted upload %q: %v", name, err)
			}
		}
	})
}

// TestResumable appends pieces of different sizes. The connection fails during every third append.
func TestResumable(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		ctx := t.Context()
		key := backend.Key{Bucket: "b", Name: "resumed", Version: "v"}
		data := make([]byte, 9<<20+17)
		rand.Read(data)
		if err := b.Begin(ctx, key, backend.Options{ContentType: "text/plain"}, []byte(`{"n":1}`)); err != nil {
			t.Fatal(err)
		}
		offset := int64(0)
		for i := 0; offset < int64(len(data)); i++ {
			info, at, err := b.Info(ctx, key)
			if err != nil || string(info) != `{"n":1}` || at != offset {
				t.Fatalf("info: %s at %d of %d, %v", info, at, offset, err)
			}
			offset += appendPiece(t, b, key, data, offset, i)
		}
		if _, err := b.Append(ctx, key, 5, strings.NewReader("x"), func(int64) bool { return false }); err == nil {
			t.Error("append at another offset succeeded")
		}
		meta, err := b.Finish(ctx, key)
		if err != nil || meta.Size != int64(len(data)) || meta.ContentType != "text/plain" {
			t.Fatalf("finish: %+v, %v", meta, err)
		}
		if got := read(t, b, key, 0, -1); got != string(data) {
			t.Errorf("read %d other bytes", len(got))
		}
		if _, at, err := b.Info(ctx, key); err != nil || at != int64(len(data)) {
			t.Errorf("info after finish: %d, %v", at, err)
		}
	})
}

// appendPiece appends the piece of data with this number at offset and returns its size.
func appendPiece(t *testing.T, b backend.Backend, key backend.Key, data []byte, offset int64, number int) int64 {
	t.Helper()
	piece := data[offset:min(offset+1<<20+int64(number)*100_000, int64(len(data)))]
	fails := number%3 == 1
	var body io.Reader = bytes.NewReader(piece)
	if fails {
		body = io.MultiReader(body, failing{})
	}
	n, err := b.Append(t.Context(), key, offset, body, func(n int64) bool { return offset+n == int64(len(data)) })
	if (err != nil) != fails || n != int64(len(piece)) {
		t.Fatalf("append %d of %d: %v", n, len(piece), err)
	}
	return n
}

// TestResumableFinish finishes an upload whose length was not known while its bytes came.
func TestResumableFinish(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		for i, size := range []int{0, 5, 6 << 20} {
			key := backend.Key{Bucket: "b", Name: "deferred", Version: fmt.Sprint("v", i)}
			if err := b.Begin(t.Context(), key, backend.Options{}, []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			at := int64(0)
			for _, piece := range []string{strings.Repeat("a", size), strings.Repeat("b", size)} {
				n, err := b.Append(t.Context(), key, at, strings.NewReader(piece), func(int64) bool { return false })
				if at += n; err != nil {
					t.Fatal(err)
				}
			}
			if meta, err := b.Finish(t.Context(), key); err != nil || meta.Size != at || at != int64(2*size) {
				t.Errorf("%d bytes: %+v, %v", at, meta, err)
			}
			if got := read(t, b, key, 0, -1); got != strings.Repeat("a", size)+strings.Repeat("b", size) {
				t.Errorf("%d bytes: read %d", at, len(got))
			}
		}
	})
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		key := backend.Key{Bucket: "b", Name: "discarded", Version: "v"}
		if err := b.Begin(t.Context(), key, backend.Options{}, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if err := b.Discard(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Info(t.Context(), key); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("info after discard: %v", err)
		}
	})
}

// TestDiskKeepsRemoved checks that deleted versions wait in RemovedDir while a backup takes them
// from there, and that they are deleted without one.
func TestDiskKeepsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := backend.OpenDisk(backend.DiskConfig{Path: dir, Bucket: "stub", Tenant: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	key := backend.Key{Bucket: "b", Name: "folder/photo.jpg", Version: "v1"}
	kept := filepath.Join(backend.RemovedDir(dir), "stub", "stub", "b", "folder", "photo.jpg", "v1")
	if err := backend.KeepRemoved(dir); err != nil {
		t.Fatal(err)
	}
	put(t, d, key)
	for range 2 { // the second finds nothing
		if err := d.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != content {
		t.Errorf("kept: %q, %v", text, err)
	}
	if _, err := d.Open(t.Context(), key, 0, -1); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("open of a deleted version: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "stub", "stub")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := backend.ForgetRemoved(dir); err != nil {
		t.Fatal(err)
	}
	put(t, d, key)
	if err := d.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(backend.RemovedDir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of removed versions: %v", err)
	}
}
