package storage

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/storage/backend"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
)

// fakeS3 is an S3 server in memory with one bucket.
func fakeS3(t testing.TB) *backend.S3 { return clientsOfS3(t, 1)[0] }

// clientsOfS3 are the backends of n servers that share one such bucket.
func clientsOfS3(t testing.TB, n int) []*backend.S3 {
	t.Helper()
	store := s3mem.New()
	if err := store.CreateBucket("internal"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	clients := make([]*backend.S3, n)
	for i := range clients {
		var err error
		clients[i], err = backend.OpenS3(backend.S3Config{Endpoint: server.URL, Region: "us-east-1", Bucket: "internal", Tenant: "stub",
			AccessKey: "id", SecretKey: "secret", PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	return clients
}

func disk(t testing.TB) *backend.Disk {
	t.Helper()
	d, err := backend.OpenDisk(backend.DiskConfig{Path: t.TempDir(), Bucket: "stub", Tenant: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// eachBackend runs the same test on both.
func eachBackend(t *testing.T, fn func(*testing.T, backend.Backend)) {
	t.Run("disk", func(t *testing.T) { t.Parallel(); fn(t, disk(t)) })
	t.Run("s3", func(t *testing.T) { t.Parallel(); fn(t, fakeS3(t)) }) // in memory: it keeps no Cache-Control, and ETags of its own
}

func TestBackends(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b backend.Backend) {
		ctx := t.Context()
		key := backend.Key{Bucket: "b", Name: "folder/a b.txt", Version: "v1"}
		read := func(k backend.Key, offset, length int64) string {
			t.Helper()
			body, err := b.Open(ctx, k, offset, length)
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
		if _, err := b.Open(ctx, key, 0, -1); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("open of nothing: %v", err)
		}
		meta, err := b.Put(ctx, key, strings.NewReader("0123456789"), backend.Options{ContentType: "text/plain", CacheControl: "max-age=1"})
		if err != nil {
			t.Fatal(err)
		}
		sum := md5.Sum([]byte("0123456789"))
		if meta.Size != 10 || meta.ETag != `"`+hex.EncodeToString(sum[:])+`"` || meta.ContentType != "text/plain" || time.Since(meta.Modified) > time.Minute {
			t.Errorf("put: %+v", meta)
		}
		head, err := b.Head(ctx, key)
		if err != nil || head.Size != 10 || head.ETag != meta.ETag || head.ContentType != "text/plain" || onDisk(b) && head.CacheControl != "max-age=1" {
			t.Errorf("head: %+v, %v", head, err)
		}
		for _, r := range []struct {
			offset, length int64
			want           string
		}{{0, -1, "0123456789"}, {3, 4, "3456"}, {8, -1, "89"}, {0, 1, "0"}, {4, 0, ""}} {
			if got := read(key, r.offset, r.length); got != r.want {
				t.Errorf("range %d+%d: %q", r.offset, r.length, got)
			}
		}
		broken := io.MultiReader(strings.NewReader("half"), failing{})
		half := backend.Key{Bucket: "b", Name: "half", Version: "v"}
		if _, err := b.Put(ctx, half, broken, backend.Options{}); err == nil {
			t.Error("a broken body was stored")
		}
		if _, err := b.Head(ctx, half); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("a half object is visible: %v", err)
		}
		other := backend.Key{Bucket: "b", Name: "copy", Version: "v2"}
		if _, err := b.Copy(ctx, key, other, nil); err != nil {
			t.Fatal(err)
		}
		if m, err := b.Head(ctx, other); err != nil || m.ContentType != "text/plain" || read(other, 0, -1) != "0123456789" {
			t.Errorf("copy: %+v, %v", m, err)
		}
		changed := backend.Key{Bucket: "b", Name: "changed", Version: "v3"}
		if m, err := b.Copy(ctx, key, changed, &backend.Options{ContentType: "text/x"}); err != nil || m.ContentType != "text/x" {
			t.Errorf("copy with other options: %+v, %v", m, err)
		}
		seen := map[string]bool{}
		if err := b.Walk(ctx, func(e backend.Entry) error { seen[e.Key.Name+"@"+e.Key.Version] = true; return nil }); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 3 || !seen["folder/a b.txt@v1"] {
			t.Errorf("walk: %v", seen)
		}
		if err := b.Delete(ctx, key, other, changed, half); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Head(ctx, key); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("head after delete: %v", err)
		}
		for _, name := range []string{"../x", "a/../../x", "a\x00b", strings.Repeat("x", 2000), "."} {
			if _, err := b.Put(ctx, backend.Key{Bucket: "b", Name: name, Version: "v"}, strings.NewReader("x"), backend.Options{}); !errors.Is(err, backend.ErrInvalidKey) {
				t.Errorf("name %.20q: %v", name, err)
			}
		}
	})
}

func onDisk(b backend.Backend) bool {
	_, ok := b.(*backend.Disk)
	return ok
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the client has gone") }

func TestBackendMultipart(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b backend.Backend) {
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
		if head, err := b.Head(ctx, key); err != nil || onDisk(b) && head.ETag != meta.ETag || head.ContentType != "text/plain" {
			t.Errorf("head: %+v, %v", head, err)
		}
		if _, err := b.PutPart(ctx, key, "no-such-upload", 1, strings.NewReader("x"), 1); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("part of nothing: %v", err)
		}
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
				t.Errorf("part of %q, aborted: %v", name, err)
			}
		}
	})
}

// TestFoldersPrunedMeanwhile: a version is stored also when the folders that it needs become empty and are removed over
// and over.
func TestFoldersPrunedMeanwhile(t *testing.T) {
	t.Parallel()
	d := disk(t)
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

func TestBackendResumable(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b backend.Backend) {
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
			piece := data[offset:min(offset+1<<20+int64(i)*100_000, int64(len(data)))]
			var body io.Reader = bytes.NewReader(piece)
			if i%3 == 1 { // the connection breaks behind these bytes
				body = io.MultiReader(body, failing{})
			}
			n, err := b.Append(ctx, key, offset, body, func(n int64) bool { return offset+n == int64(len(data)) })
			if (err != nil) != (i%3 == 1) || n != int64(len(piece)) {
				t.Fatalf("append %d of %d: %v", n, len(piece), err)
			}
			offset += n
		}
		if _, err := b.Append(ctx, key, 5, strings.NewReader("x"), func(int64) bool { return false }); err == nil {
			t.Error("an append at another offset")
		}
		meta, err := b.Finish(ctx, key)
		if err != nil || meta.Size != int64(len(data)) || meta.ContentType != "text/plain" {
			t.Fatalf("finish: %+v, %v", meta, err)
		}
		body, err := b.Open(ctx, key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back, %v", len(got), err)
		}
		if _, at, err := b.Info(ctx, key); err != nil || at != int64(len(data)) {
			t.Errorf("info after finish: %d, %v", at, err)
		}
		gone := backend.Key{Bucket: "b", Name: "gone", Version: "v"}
		if err := b.Begin(ctx, gone, backend.Options{}, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if err := b.Discard(ctx, gone); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Info(ctx, gone); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("info after discard: %v", err)
		}
	})
}

// TestJourneyOnS3 is the life of objects through all three protocols with the bytes in an S3 store.
func TestJourneyOnS3(t *testing.T) {
	t.Parallel()
	store := fakeS3(t)
	s := newStack(t, func(o *Options) { o.Backend = store })
	key := s.demo.ServiceRole
	s.bucket("box", true)
	s.do(key, "POST", "/object/box/a.txt", "first", "Content-Type", "text/plain").want(t, 200, "Key")
	s.do(key, "POST", "/object/box/a.txt", "x").want(t, 400, "KeyAlreadyExists")
	s.do(key, "PUT", "/object/box/a.txt", "second", "Content-Type", "text/plain").want(t, 200, "Key")
	r := s.do("", "GET", "/object/public/box/a.txt", nil, "Range", "bytes=0-2").want(t, 206, "sec")
	s.do("", "GET", "/object/public/box/a.txt", nil, "If-None-Match", r.Header.Get("Etag")).want(t, 304, "")
	s.do(key, "POST", "/object/copy", map[string]any{"bucketId": "box", "sourceKey": "a.txt", "destinationKey": "b.txt"}).want(t, 200, "box/b.txt")
	s.do(key, "POST", "/object/move", map[string]any{"bucketId": "box", "sourceKey": "b.txt", "destinationKey": "c.txt"}).want(t, 200, "Successfully moved")
	s.do("", "GET", "/object/public/box/c.txt", nil).want(t, 200, "second")

	path := s.tusPath(s.tusCreate(key, "box", "tus", 10, ""))
	s.tus(key, "PATCH", path, "01234", "Upload-Offset", "0").want(t, 204, "")
	s.tus(key, "PATCH", path, "56789", "Upload-Offset", "5").want(t, 204, "")
	s.do("", "GET", "/object/public/box/tus", nil).want(t, 200, "0123456789")

	c := s.s3Client("access", "secret-of-the-test", "")
	if _, err := c.Client.PutObject(t.Context(), "box", "s3.txt", strings.NewReader("s3"), 2, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	s.do("", "GET", "/object/public/box/s3.txt", nil).want(t, 200, "s3")
	swept, err := s.engine.store.Sweep(context.Background(), -time.Hour)
	if err != nil || swept.Orphans != 0 {
		t.Errorf("nothing was to be swept: %+v, %v", swept, err)
	}
	s.do(key, "DELETE", "/object/box", map[string]any{"prefixes": []string{"a.txt", "c.txt", "tus", "s3.txt"}}).want(t, 200, "tus")
	left := 0
	if err := store.Walk(t.Context(), func(backend.Entry) error { left++; return nil }); err != nil || left != 0 {
		t.Errorf("%d objects are left, %v", left, err)
	}
}
