package storage

import (
	"bytes"
	"context"
	"image/png"
	"io"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/engine/storage/backend"

	"github.com/minio/minio-go/v7"
)

// racing is a backend that calls a function between the query for a row and the read of its bytes.
type racing struct {
	backend.Backend
	before atomic.Pointer[func()] // called once, before a read or a copy
	after  atomic.Pointer[func()] // called once, after a copy
}

func callOnce(once *atomic.Pointer[func()]) {
	if fn := once.Swap(nil); fn != nil {
		(*fn)()
	}
}

func (r *racing) Open(ctx context.Context, key backend.Key, offset, length int64) (io.ReadCloser, error) {
	callOnce(&r.before)
	return r.Backend.Open(ctx, key, offset, length)
}

func (r *racing) Copy(ctx context.Context, from, to backend.Key, o *backend.Options) (backend.Meta, error) {
	callOnce(&r.before)
	defer callOnce(&r.after)
	return r.Backend.Copy(ctx, from, to, o)
}

// replaced is a stack with the object open/p.png and two versions of its content.
type replaced struct {
	*stack
	racing     *racing
	key        string
	first, new []byte
}

func newReplaced(t *testing.T) *replaced {
	t.Helper()
	b := &racing{}
	s := newStack(t, func(o *Options) { b.Backend, o.Backend = o.Backend, b })
	s.bucket("open", true)
	picture := func(side int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, testPicture(side, side)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	return &replaced{s, b, s.demo.ServiceRole, picture(8), picture(9)}
}

func (r *replaced) put(t *testing.T, body []byte) {
	t.Helper()
	r.do(r.key, "POST", "/object/open/p.png", body, "Content-Type", "image/png", "X-Upsert", "true").want(t, 200, "Key")
}

func (r *replaced) sign(t *testing.T, body map[string]any) string {
	t.Helper()
	return r.do(r.key, "POST", "/object/sign/open/p.png", body).want(t, 200, "token").field("signedURL")
}

// get returns a function that requests path.
func (r *replaced) get(path string) func(*testing.T) (int, []byte) {
	return func(*testing.T) (int, []byte) {
		res := r.do(r.key, "GET", path, nil)
		return res.StatusCode, res.body
	}
}

func (r *replaced) getS3(t *testing.T) (int, []byte) {
	client := r.s3Client("access", "secret-of-the-test", "")
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
}

func (r *replaced) copy(*testing.T) (int, []byte) {
	res := r.do(r.key, "POST", "/object/copy",
		map[string]any{"bucketId": "open", "sourceKey": "p.png", "destinationKey": "copy.png"}, "X-Upsert", "true")
	if res.StatusCode == 200 {
		res = r.do(r.key, "GET", "/object/open/copy.png", nil)
	}
	return res.StatusCode, res.body
}

func (r *replaced) move(t *testing.T) (int, []byte) {
	res := r.do(r.key, "POST", "/object/move",
		map[string]any{"bucketId": "open", "sourceKey": "p.png", "destinationKey": "moved.png"})
	if res.StatusCode == 200 {
		res = r.do(r.key, "GET", "/object/open/moved.png", nil)
		r.do(r.key, "DELETE", "/object/open/moved.png", nil).want(t, 200, "")
		r.put(t, r.first)
	}
	return res.StatusCode, res.body
}

// TestReadWhileReplaced replaces or deletes an object after a request has read its row and before
// it reads the bytes. The request must then use the new version, or fail with not found.
func TestReadWhileReplaced(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	r.put(t, r.first)
	signed := r.sign(t, map[string]any{"expiresIn": 60})
	rendered := r.sign(t, map[string]any{"expiresIn": 60, "transform": map[string]any{"width": 4}})
	for name, c := range map[string]struct {
		read  func(*testing.T) (int, []byte)
		whole bool // the reply is the object itself
	}{
		"public":               {r.get("/object/public/open/p.png"), true},
		"authenticated":        {r.get("/object/authenticated/open/p.png"), true},
		"signed":               {r.get(signed), true},
		"render public":        {r.get("/render/image/public/open/p.png?width=4"), false},
		"render authenticated": {r.get("/render/image/authenticated/open/p.png?width=4"), false},
		"render signed":        {r.get(rendered), false},
		"S3":                   {r.getS3, true},
		"copy":                 {r.copy, true},
		"move":                 {r.move, true},
	} {
		r.put(t, r.first)
		replace := func() { r.put(t, r.new) }
		r.racing.before.Store(&replace)
		if status, body := c.read(t); status != 200 || c.whole && !bytes.Equal(body, r.new) {
			t.Errorf("%s, replaced: %d, %d bytes", name, status, len(body))
		}
		remove := func() { r.do(r.key, "DELETE", "/object/open/p.png", nil).want(t, 200, "") }
		r.racing.before.Store(&remove)
		if status, _ := c.read(t); status != 404 && status != 400 {
			t.Errorf("%s, deleted: %d", name, status)
		}
	}
}

// TestMoveWhileReplaced replaces an object after a move has copied its bytes. The move must copy
// the new version.
func TestMoveWhileReplaced(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	r.put(t, r.first)
	replace := func() { r.put(t, r.new) }
	r.racing.after.Store(&replace)
	r.do(r.key, "POST", "/object/move",
		map[string]any{"bucketId": "open", "sourceKey": "p.png", "destinationKey": "moved.png"}).want(t, 200, "moved")
	r.do(r.key, "GET", "/object/open/moved.png", nil).want(t, 200, string(r.new))
	r.do(r.key, "GET", "/object/open/p.png", nil).want(t, 400, "not_found")
}
