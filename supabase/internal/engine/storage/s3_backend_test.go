package storage

import (
	"context"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/backend/backendtest"

	"github.com/minio/minio-go/v7"
)

// TestProtocolsOnS3Backend stores, changes and deletes objects with all three protocols on an S3
// backend.
func TestProtocolsOnS3Backend(t *testing.T) {
	t.Parallel()
	store := backendtest.S3(t)
	s := newStack(t, func(o *Options) { o.Backend = store })
	key := s.demo.ServiceRole
	s.bucket("box", true)
	s.do(key, "POST", "/object/box/a.txt", "first", "Content-Type", "text/plain").want(t, 200, "Key")
	s.do(key, "POST", "/object/box/a.txt", "x").want(t, 400, "KeyAlreadyExists")
	s.do(key, "PUT", "/object/box/a.txt", "second", "Content-Type", "text/plain").want(t, 200, "Key")
	r := s.do("", "GET", "/object/public/box/a.txt", nil, "Range", "bytes=0-2").want(t, 206, "sec")
	s.do("", "GET", "/object/public/box/a.txt", nil, "If-None-Match", r.Header.Get("Etag")).want(t, 304, "")
	s.do(key, "POST", "/object/copy",
		map[string]any{"bucketId": "box", "sourceKey": "a.txt", "destinationKey": "b.txt"}).want(t, 200, "box/b.txt")
	s.do(key, "POST", "/object/move", map[string]any{"bucketId": "box", "sourceKey": "b.txt",
		"destinationKey": "c.txt"}).want(t, 200, "Successfully moved")
	s.do("", "GET", "/object/public/box/c.txt", nil).want(t, 200, "second")

	path := s.tusPath(s.tusCreate(key, "box", "tus", 10, ""))
	s.tus(key, "PATCH", path, "01234", "Upload-Offset", "0").want(t, 204, "")
	s.tus(key, "PATCH", path, "56789", "Upload-Offset", "5").want(t, 204, "")
	s.do("", "GET", "/object/public/box/tus", nil).want(t, 200, "0123456789")

	c := s.s3Client("access", "secret-of-the-test", "")
	if _, err := c.Client.PutObject(t.Context(), "box", "s3.txt", strings.NewReader("s3"), 2,
		minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	s.do("", "GET", "/object/public/box/s3.txt", nil).want(t, 200, "s3")
	swept, err := s.engine.store.Sweep(context.Background(), -time.Hour)
	if err != nil || swept.Orphans != 0 {
		t.Errorf("swept referenced objects: %+v, %v", swept, err)
	}
	s.do(key, "DELETE", "/object/box", map[string]any{"prefixes": []string{"a.txt", "c.txt", "tus", "s3.txt"}}).want(t,
		200, "tus")
	left := 0
	if err := store.Walk(t.Context(), func(backend.Entry) error { left++; return nil }); err != nil || left != 0 {
		t.Errorf("%d objects left, %v", left, err)
	}
}
