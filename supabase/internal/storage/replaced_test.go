package storage

import (
	"bytes"
	"context"
	"image/png"
	"io"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/storage/backend"

	"github.com/minio/minio-go/v7"
)

// racing is a backend before whose reads something else happens.
type racing struct {
	backend.Backend
	first atomic.Pointer[func()] // called once, before a read
	last  atomic.Pointer[func()] // called once, behind a copy
}

func race(once *atomic.Pointer[func()]) {
	if fn := once.Swap(nil); fn != nil {
		(*fn)()
	}
}

func (r *racing) Open(ctx context.Context, key backend.Key, offset, length int64) (io.ReadCloser, error) {
	race(&r.first)
	return r.Backend.Open(ctx, key, offset, length)
}

func (r *racing) Copy(ctx context.Context, from, to backend.Key, o *backend.Options) (backend.Meta, error) {
	race(&r.first)
	defer race(&r.last)
	return r.Backend.Copy(ctx, from, to, o)
}

// TestReadWhileReplaced: an object that is replaced between its row and its bytes is there all the same; one that is
// deleted there is gone.
func TestReadWhileReplaced(t *testing.T) {
	t.Parallel()
	between := &racing{}
	s := newStack(t, func(o *Options) { between.Backend, o.Backend = o.Backend, between })
	s.bucket("open", true)
	key := s.demo.ServiceRole
	picture := func(side int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, testPicture(side, side)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	before, after := picture(8), picture(9)
	put := func(body []byte) {
		s.do(key, "POST", "/object/open/p.png", body, "Content-Type", "image/png", "X-Upsert", "true").want(t, 200, "Key")
	}
	put(before)
	link := s.do(key, "POST", "/object/sign/open/p.png", map[string]any{"expiresIn": 60}).want(t, 200, "token").field("signedURL")
	rendered := s.do(key, "POST", "/object/sign/open/p.png", map[string]any{"expiresIn": 60, "transform": map[string]any{"width": 4}}).want(t, 200, "token").field("signedURL")
	client := s.s3Client("access", "secret-of-the-test", "")
	get := func(path string) func() (int, []byte) {
		return func() (int, []byte) {
			r := s.do(key, "GET", path, nil)
			return r.StatusCode, r.body
		}
	}
	for name, c := range map[string]struct {
		read  func() (int, []byte)
		whole bool // the reply is the object itself
	}{
		"public":               {get("/object/public/open/p.png"), true},
		"authenticated":        {get("/object/authenticated/open/p.png"), true},
		"signed":               {get(link), true},
		"render public":        {get("/render/image/public/open/p.png?width=4"), false},
		"render authenticated": {get("/render/image/authenticated/open/p.png?width=4"), false},
		"render signed":        {get(rendered), false},
		"S3": {func() (int, []byte) {
			body, _, _, err := client.GetObject(t.Context(), "open", "p.png", minio.GetObjectOptions{})
			if err != nil {
				return minio.ToErrorResponse(err).StatusCode, nil
			}
			defer body.Close()
			data, err := io.ReadAll(body)
			if err != nil {
				t.Error(err)
			}
			return 200, data
		}, true},
		"copy": {func() (int, []byte) {
			r := s.do(key, "POST", "/object/copy", map[string]any{"bucketId": "open", "sourceKey": "p.png", "destinationKey": "copy.png"}, "X-Upsert", "true")
			if r.StatusCode == 200 {
				r = s.do(key, "GET", "/object/open/copy.png", nil)
			}
			return r.StatusCode, r.body
		}, true},
		"move": {func() (int, []byte) {
			r := s.do(key, "POST", "/object/move", map[string]any{"bucketId": "open", "sourceKey": "p.png", "destinationKey": "moved.png"})
			if r.StatusCode == 200 {
				r = s.do(key, "GET", "/object/open/moved.png", nil)
				s.do(key, "DELETE", "/object/open/moved.png", nil).want(t, 200, "")
				put(before)
			}
			return r.StatusCode, r.body
		}, true},
	} {
		put(before)
		replace := func() { put(after) }
		between.first.Store(&replace)
		if status, body := c.read(); status != 200 || c.whole && !bytes.Equal(body, after) {
			t.Errorf("%s, replaced: %d, %d bytes", name, status, len(body))
		}
		remove := func() { s.do(key, "DELETE", "/object/open/p.png", nil).want(t, 200, "") }
		between.first.Store(&remove)
		if status, _ := c.read(); status != 404 && status != 400 {
			t.Errorf("%s, deleted: %d", name, status)
		}
	}
	put(before)
	replace := func() { put(after) }
	between.last.Store(&replace)
	s.do(key, "POST", "/object/move", map[string]any{"bucketId": "open", "sourceKey": "p.png", "destinationKey": "moved.png"}).want(t, 200, "moved")
	s.do(key, "GET", "/object/open/moved.png", nil).want(t, 200, string(after))
	s.do(key, "GET", "/object/open/p.png", nil).want(t, 400, "not_found")
}
