package storage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/backend/backendtest"
	"daawo/supabase/internal/engine/storage/objects"
)

// noDelete is a backend whose deletions fail, as if the server crashed between a row and its bytes.
type noDelete struct{ backend.Backend }

func (noDelete) Delete(context.Context, ...backend.Key) error { return errors.New("store unavailable") }

// tusBucket is a stack with the bucket b. Its backend cannot delete.
type tusBucket struct {
	*stack
	backend backend.Backend
	key     string
}

// eachTUSBucket runs a test with a tusBucket on each backend.
func eachTUSBucket(t *testing.T, test func(*testing.T, *tusBucket)) {
	t.Helper()
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		s := newStack(t, func(o *Options) { o.Backend = noDelete{b} })
		s.bucket("b", false)
		test(t, &tusBucket{s, b, s.demo.ServiceRole})
	})
}

// begin creates an upload of five bytes.
func (s *tusBucket) begin(name string) (path string) {
	return s.tusPath(s.tusCreate(s.key, "b", name, 5, "", "X-Upsert", "true"))
}

// upload creates an upload and sends its bytes.
func (s *tusBucket) upload(name string) (path string) {
	path = s.begin(name)
	s.tus(s.key, "PATCH", path, "first", "Upload-Offset", "0", "X-Upsert", "true").want(s.t, 204, "")
	return path
}

// appendOnly stores the bytes of an upload, as if the server crashed before it wrote the row.
func (s *tusBucket) appendOnly(path string) backend.Key {
	s.t.Helper()
	key := keyOf(s.t, path)
	if _, err := s.backend.Append(s.t.Context(), key, 0, strings.NewReader("first"),
		func(int64) bool { return true }); err != nil {
		s.t.Fatal(err)
	}
	return key
}

// uploadUnmarked creates an upload and writes its row, as if the server crashed before it marked
// the upload as completed.
func (s *tusBucket) uploadUnmarked(name string) (path string) {
	s.t.Helper()
	path = s.begin(name)
	key := s.appendOnly(path)
	meta, err := s.backend.Finish(s.t.Context(), key)
	if err == nil {
		_, err = s.engine.store.Complete(s.t.Context(), objects.Caller{}.Service(), key,
			objects.Upload{Upsert: true}, objects.MetadataOf(meta), nil)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *tusBucket) replace(name string) {
	s.t.Helper()
	s.do(s.key, "POST", "/object/b/"+name, "second", "X-Upsert", "true").want(s.t, 200, "Key")
}

// wantGone checks that the upload no longer exists and that the object has not changed.
func (s *tusBucket) wantGone(path, name string, status int, content string) {
	s.t.Helper()
	if head := s.tus(s.demo.ServiceRole, "HEAD", path, nil); head.StatusCode != 404 {
		s.t.Errorf("HEAD of %s: %d", name, head.StatusCode)
	}
	s.do(s.key, "GET", "/object/b/"+name, nil).want(s.t, status, content)
}

// patchNothing sends an empty PATCH at the end of an upload.
func (s *tusBucket) patchNothing(path string, status int) {
	s.t.Helper()
	s.tus(s.key, "PATCH", path, "", "Upload-Offset", "5", "X-Upsert", "true").want(s.t, status, "")
}

// TestTUSCompletesOnce replaces, deletes or moves the object of a completed upload while its bytes
// still exist. The upload must not become the object again.
func TestTUSCompletesOnce(t *testing.T) {
	eachTUSBucket(t, func(t *testing.T, s *tusBucket) {
		replaced := s.upload("replaced")
		s.tus(s.demo.ServiceRole, "HEAD", replaced, nil).want(t, 200, "")
		s.patchNothing(replaced, 204)
		s.replace("replaced")
		s.wantGone(replaced, "replaced", 200, "second")
		s.patchNothing(replaced, 404)
		s.wantGone(replaced, "replaced", 200, "second")

		deleted := s.upload("deleted")
		s.do(s.key, "DELETE", "/object/b/deleted", nil).want(t, 200, "")
		s.wantGone(deleted, "deleted", 400, "not_found")
		s.patchNothing(deleted, 404)

		moved := s.upload("moved")
		s.do(s.key, "POST", "/object/move",
			map[string]any{"bucketId": "b", "sourceKey": "moved", "destinationKey": "new"}).want(t, 200, "moved")
		s.wantGone(moved, "moved", 400, "not_found")
		s.do(s.key, "GET", "/object/b/new", nil).want(t, 200, "first")
	})
}

// TestTUSUnmarkedUpload replaces or deletes the object of an upload that was not marked as
// completed. The upload must not become the object again.
func TestTUSUnmarkedUpload(t *testing.T) {
	eachTUSBucket(t, func(t *testing.T, s *tusBucket) {
		replaced := s.uploadUnmarked("replaced")
		if !backendtest.OnDisk(s.backend) {
			// the S3 server may round times to seconds
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		s.replace("replaced")
		s.wantGone(replaced, "replaced", 200, "second")

		deleted := s.uploadUnmarked("deleted")
		s.tus(s.demo.ServiceRole, "HEAD", deleted, nil).want(t, 200, "") // marks the upload
		s.do(s.key, "DELETE", "/object/b/deleted", nil).want(t, 200, "")
		s.wantGone(deleted, "deleted", 400, "not_found")
	})
}

// TestTUSCompletesOverOlderObject completes an upload whose bytes are newer than the existing
// object.
func TestTUSCompletesOverOlderObject(t *testing.T) {
	eachTUSBucket(t, func(t *testing.T, s *tusBucket) {
		s.do(s.key, "POST", "/object/b/late", "before").want(t, 200, "Key")
		late := s.begin("late")
		time.Sleep(20 * time.Millisecond) // file times are only as precise as the tick of the kernel
		s.appendOnly(late)
		s.tus(s.demo.ServiceRole, "HEAD", late, nil).want(t, 200, "")
		s.do(s.key, "GET", "/object/b/late", nil).want(t, 200, "first")
	})
}
