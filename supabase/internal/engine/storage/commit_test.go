package storage

import (
	"strings"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

// TestLostCommitReply loses the reply to the transaction that writes the row. Every row must still
// have its bytes.
func TestLostCommitReply(t *testing.T) {
	st := newStack(t)
	var mute atomic.Bool // drop all replies of the database
	through := testdb.Relay(t, st.db.TCPURL("supabase_storage_admin"), nil, func([]byte) bool { return mute.Load() })
	written := map[string]string{"upload": "new/file", "replace": "old", "resumable": "old", "multipart": "parts/file",
		"copy": "copied", "move": "moved"}
	for name, object := range written {
		t.Run(name, func(t *testing.T) {
			bucket := "lost-" + name
			crashRound(t, st, bucket, func(_, dir, _ string) {
				defer mute.Store(false)
				s, _ := crashStore(t, through, dir,
					func(step string) { mute.Store(mute.Load() || step == "write row") })
				if err := s.Healthy(t.Context()); err != nil { // connects
					t.Fatal(err)
				}
				before := versionOf(st, bucket, object)
				if err := crashActions[name](t.Context(), s, bucket); err == nil {
					t.Error("reply was not lost")
				}
				if versionOf(st, bucket, object) == before {
					t.Error("transaction did not commit")
				}
			})
		})
	}
}

func versionOf(st *stack, bucket, name string) string {
	return testdb.Value[string](st.db,
		`select coalesce(max(version), '') from storage.objects where bucket_id = $1 and name = $2`, bucket, name)
}

// TestRejectedRow makes the database reject rows. The bytes of plain uploads and copies are then
// deleted at once. The bytes of resumable and multipart uploads stay, so that the client can
// complete them later.
func TestRejectedRow(t *testing.T) {
	s := newStack(t)
	s.bucket("b", false)
	key, ctx := s.demo.ServiceRole, t.Context()
	s.do(key, "POST", "/object/b/old", "before").want(t, 200, "Key")
	resumable := s.tusPath(s.tusCreate(key, "b", "resumable", 5, ""))
	service := objects.Caller{}.Service()
	partKey := backend.Key{Bucket: "b", Name: "parts", Version: "22222222-2222-4222-8222-222222222222"}
	id, err := s.engine.store.Multipart.Create(ctx, service, partKey, backend.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	upload, err := s.engine.store.Multipart.Get(ctx, service, id, "b", "parts")
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.engine.store.Multipart.PutPart(ctx, service, upload, 1, strings.NewReader("fresh"), 5)
	if err != nil {
		t.Fatal(err)
	}
	before := len(filesIn(t, s.dir))

	s.db.ExecAs("supabase_admin", `
		create function public.refuse() returns trigger language plpgsql as
			$$ begin raise 'disk full' using errcode = '53100'; end $$;
		create trigger refuse before insert or update on storage.objects for each row when (new.version <> '1') execute function public.refuse()`)
	if full := s.do(key, "POST", "/object/b/new", "fresh").want(t, 507,
		"InsufficientStorage"); full.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.do(key, "PUT", "/object/b/old", "fresh").want(t, 507, "InsufficientStorage")
	s.do(key, "POST", "/object/copy", map[string]any{"bucketId": "b", "sourceKey": "old",
		"destinationKey": "copied"}).want(t, 507, "InsufficientStorage")
	if n := len(filesIn(t, s.dir)); n != before {
		t.Errorf("%d files, want %d", n, before)
	}
	if full := s.tus(key, "PATCH", resumable, "fresh", "Upload-Offset", "0").want(t, 507,
		"no storage space left"); full.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After on a resumable upload")
	}
	for range 2 {
		if _, err := s.engine.store.Multipart.Complete(ctx, service, upload, []backend.Part{part},
			objects.Condition{}); !pool.IsCode(err, "53100") {
			t.Error(err)
		}
	}
	s.db.ExecAs("supabase_admin", `drop function public.refuse() cascade`)

	s.do(key, "GET", "/object/b/old", nil).want(t, 200, "before")
	s.tus(key, "HEAD", resumable, nil).want(t, 200, "")
	s.do(key, "GET", "/object/b/resumable", nil).want(t, 200, "fresh")
	done, err := s.engine.store.Multipart.Complete(ctx, service, upload, []backend.Part{part}, objects.Condition{})
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := done.Meta(); !strings.HasSuffix(m.ETag, `-1"`) {
		t.Errorf("ETag %s is not the ETag of a multipart upload", m.ETag)
	}
	s.do(key, "GET", "/object/b/parts", nil).want(t, 200, "fresh")
}
