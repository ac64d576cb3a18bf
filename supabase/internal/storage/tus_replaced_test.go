package storage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/backend/backendtest"
	"daawo/supabase/internal/storage/objects"
)

// keeping is a backend whose deletions fail, as after a crash between a row and its bytes.
type keeping struct{ backend.Backend }

func (keeping) Delete(context.Context, ...backend.Key) error { return errors.New("the store is away") }

// TestTUSCompletesOnce: an upload that was the object and is it no more stays so, whatever is asked about it while its
// bytes wait for the sweeper; one that never was the object becomes it.
func TestTUSCompletesOnce(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, b backend.Backend) {
		s := newStack(t, func(o *Options) { o.Backend = keeping{b} })
		s.bucket("b", false)
		key := s.demo.ServiceRole
		begin := func(name string) string { return s.tusPath(s.tusCreate(key, "b", name, 5, "", "X-Upsert", "true")) }
		send := func(path string) {
			t.Helper()
			s.tus(key, "PATCH", path, "first", "Upload-Offset", "0", "X-Upsert", "true").want(t, 204, "")
		}
		// unmarked does what a server did that died behind the row.
		unmarked := func(path string, complete bool) {
			t.Helper()
			k := keyOf(t, path)
			if _, err := b.Append(t.Context(), k, 0, strings.NewReader("first"), func(int64) bool { return true }); err != nil {
				t.Fatal(err)
			}
			if !complete {
				return
			}
			meta, err := b.Finish(t.Context(), k)
			if err == nil {
				_, err = s.engine.store.Complete(t.Context(), objects.Caller{}.Service(), k, "", objects.MetadataOf(meta), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		replace := func(name string) {
			t.Helper()
			s.do(key, "POST", "/object/b/"+name, "second", "X-Upsert", "true").want(t, 200, "Key")
		}
		gone := func(path, name string, status int, content string) {
			t.Helper()
			if head := s.tus("", "HEAD", path, nil); head.StatusCode != 404 {
				t.Errorf("HEAD of %s: %d", name, head.StatusCode)
			}
			s.do(key, "GET", "/object/b/"+name, nil).want(t, status, content)
		}
		// again is a PATCH that has no more to say.
		again := func(path string, status int) {
			t.Helper()
			s.tus(key, "PATCH", path, "", "Upload-Offset", "5", "X-Upsert", "true").want(t, status, "")
		}

		replaced := begin("replaced")
		send(replaced)
		s.tus("", "HEAD", replaced, nil).want(t, 200, "")
		again(replaced, 204)
		replace("replaced")
		gone(replaced, "replaced", 200, "second")
		again(replaced, 404)
		gone(replaced, "replaced", 200, "second")

		deleted := begin("deleted")
		send(deleted)
		s.do(key, "DELETE", "/object/b/deleted", nil).want(t, 200, "")
		gone(deleted, "deleted", 400, "not_found")
		again(deleted, 404)

		moved := begin("moved")
		send(moved)
		s.do(key, "POST", "/object/move", map[string]any{"bucketId": "b", "sourceKey": "moved", "destinationKey": "new"}).want(t, 200, "moved")
		gone(moved, "moved", 400, "not_found")
		s.do(key, "GET", "/object/b/new", nil).want(t, 200, "first")

		died := begin("died")
		unmarked(died, true)
		if !backendtest.OnDisk(b) {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // the store may round its times
		}
		replace("died")
		gone(died, "died", 200, "second")

		asked := begin("asked") // and marked thereby
		unmarked(asked, true)
		s.tus("", "HEAD", asked, nil).want(t, 200, "")
		s.do(key, "DELETE", "/object/b/asked", nil).want(t, 200, "")
		gone(asked, "asked", 400, "not_found")

		s.do(key, "POST", "/object/b/late", "before").want(t, 200, "Key")
		late := begin("late")
		time.Sleep(20 * time.Millisecond) // a file's time may lag behind by a tick of the kernel
		unmarked(late, false)
		s.tus("", "HEAD", late, nil).want(t, 200, "")
		s.do(key, "GET", "/object/b/late", nil).want(t, 200, "first")
	})
}
