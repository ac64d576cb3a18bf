package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/backend/backendtest"
	"daawo/supabase/internal/engine/storage/objects"
)

// restart closes the engine, which writes the mark that waits, and starts one with other options.
func (s *stack) restart(change ...func(*Options)) *Engine {
	s.t.Helper()
	s.engine.Close(context.Background())
	o := s.options
	for _, fn := range change {
		fn(&o)
	}
	engine, err := New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	engine.Claim(s.t.Context())
	s.engine = engine
	s.serve(engine)
	return engine
}

// age makes all files two hours old.
func (s *stack) age() {
	s.t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	for _, file := range filesIn(s.t, filepath.Join(s.dir, "stub")) {
		if err := os.Chtimes(file, old, old); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestSweepKeepsFilesOfAnotherDatabase starts a server with the files of one database and with
// another database, and sweeps.
func TestSweepKeepsFilesOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/object/b/photo", "x").want(t, 200, "Key")
	s.age()
	other := newStack(t)
	wrong := s.restart(func(o *Options) { o.Pool = other.options.Pool })
	for range 2 {
		if swept, err := wrong.store.Sweep(t.Context(), time.Hour); !errors.Is(err, objects.ErrForeignFiles) ||
			swept.Orphans != 0 {
			t.Errorf("%+v, %v", swept, err)
		}
	}
	right := s.restart()
	if _, err := right.store.Sweep(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	s.do(key, "GET", "/object/b/photo", nil).want(t, 200, "x")
}

// TestSweepKeepsFilesOfLaterState restores the database to a state before an upload.
func TestSweepKeepsFilesOfLaterState(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/object/b/early", "1").want(t, 200, "Key")
	s.restart()
	s.db.Exec(`create table marks as table storage.file_marks`)
	s.do(key, "POST", "/object/b/late", "2").want(t, 200, "Key")
	s.restart() // writes the mark after the upload
	s.db.Exec(`set storage.allow_delete_query = true; delete from storage.objects where name = 'late'`)
	s.db.Exec(`delete from storage.file_marks where id > (select max(id) from marks)`)
	s.age()
	older := s.restart()
	if swept, err := older.store.Sweep(t.Context(), time.Hour); !errors.Is(err, objects.ErrForeignFiles) ||
		swept.Orphans != 0 {
		t.Errorf("%+v, %v", swept, err)
	}
	// Deleting an object deletes its row, but not the bytes that the later state may need.
	s.do(key, "DELETE", "/object/b/early", nil).want(t, 200, "deleted")
	if n := len(filesIn(t, filepath.Join(s.dir, "stub"))); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	s.do(key, "POST", "/object/b/new", "3").want(t, 200, "Key")
	older.Close(t.Context()) // does not mark the files as its own
	if _, err := older.store.Sweep(t.Context(), time.Hour); !errors.Is(err, objects.ErrForeignFiles) {
		t.Error(err)
	}
	// The operator gives the files to this state.
	if err := os.Truncate(s.options.Backend.MarkPlace(), 0); err != nil {
		t.Fatal(err)
	}
	s.age()
	if swept, err := s.restart().store.Sweep(t.Context(), time.Hour); err != nil || swept.Orphans != 2 {
		t.Errorf("%+v, %v", swept, err)
	}
	s.do(key, "GET", "/object/b/new", nil).want(t, 200, "3")
}

// TestSweepKeepsFilesOfCopiedCluster gives the mark another system identifier, as if the database
// had been copied with pg_dump.
func TestSweepKeepsFilesOfCopiedCluster(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	place := s.options.Backend.MarkPlace()
	text, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	var token string
	if _, err := fmt.Sscan(string(text), &token); err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{token + " 1\n", token + "\n", "damaged\n"} {
		if err := os.WriteFile(place, []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.engine.store.Sweep(t.Context(), time.Hour); !errors.Is(err, objects.ErrForeignFiles) {
			t.Errorf("%q: %v", mark, err)
		}
	}
}

// TestSweepAdoptsUnmarkedFiles sweeps files from before there were marks, with their database and
// with another one.
func TestSweepAdoptsUnmarkedFiles(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	for i := range 3 {
		s.do(key, "POST", fmt.Sprintf("/object/b/%d", i), "x").want(t, 200, "Key")
	}
	s.engine.Close(t.Context())
	unmark := func() {
		t.Helper()
		if err := os.Remove(s.options.Backend.MarkPlace()); err != nil {
			t.Fatal(err)
		}
	}
	unmark()
	orphan := filepath.Join(s.dir, "stub", "stub", "b", "gone", "11111111-1111-4111-8111-111111111111")
	if err := os.MkdirAll(filepath.Dir(orphan), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(orphan, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.age()
	other := newStack(t)
	wrong := s.restart(func(o *Options) { o.Pool = other.options.Pool })
	for range 2 {
		if swept, err := wrong.store.Sweep(t.Context(), time.Hour); !errors.Is(err, objects.ErrForeignFiles) ||
			swept.Orphans != 0 {
			t.Errorf("%+v, %v", swept, err)
		}
	}
	right := s.restart()
	for _, want := range []int{0, 1} { // the first sweep marks them
		if swept, err := right.store.Sweep(t.Context(), time.Hour); err != nil || swept.Orphans != want {
			t.Errorf("%+v, %v; want %d", swept, err, want)
		}
	}
	s.do(key, "GET", "/object/b/1", nil).want(t, 200, "x")
}

// TestMarkOfReplicas uploads through two engines, which write their marks at the same time.
func TestMarkOfReplicas(t *testing.T) {
	t.Parallel()
	backendtest.Each(t, func(t *testing.T, store backend.Backend) {
		s := newStack(t, func(o *Options) { o.Backend = store })
		s.bucket("b", false)
		db, err := pool.Open(t.Context(), pool.Config{URL: s.db.URL("supabase_storage_admin"), MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for i := range 5 {
			engines := make([]*Engine, 3)
			for j := range engines {
				o := s.options
				o.Pool = db
				if engines[j], err = New(o); err != nil {
					t.Fatal(err)
				}
				s.serve(engines[j])
				s.do(s.demo.ServiceRole, "POST", fmt.Sprintf("/object/b/%d-%d", i, j), "x").want(t, 200, "Key")
			}
			done := make(chan error)
			for _, e := range engines {
				go func() { done <- e.Close(context.Background()) }()
			}
			for range engines {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if err := s.engine.store.Claim(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if n := testdb.Value[int](s.db, `select count(*) from storage.file_marks`); n != 16 {
			t.Errorf("%d marks, want 16", n)
		}
	})
}
