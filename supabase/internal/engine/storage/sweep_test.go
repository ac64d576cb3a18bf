package storage

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

// TestSweepsDaily checks that the engine sweeps shortly after its start and then once a day, until
// it is closed.
func TestSweepsDaily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		marked := &failingMark{}
		logged := &logCounter{}
		e := &Engine{store: objects.New(objects.Config{Backend: marked}), log: slog.New(logged)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.sweepDaily(ctx)
		}()
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if marked.n.Load() != 0 {
			t.Errorf("swept %d times during the start", marked.n.Load())
		}
		time.Sleep(2 * time.Minute)
		time.Sleep(3 * 24 * time.Hour)
		synctest.Wait()
		if marked.n.Load() != 4 {
			t.Errorf("swept %d times in three days", marked.n.Load())
		}
		if logged.n.Load() != 4 {
			t.Errorf("%d failures logged", logged.n.Load())
		}
		cancel()
		<-done
	})
}

// failingMark is a backend that counts sweeps and fails them before they need the database.
type failingMark struct {
	backend.Backend
	n atomic.Int32
}

// logCounter is a log handler that counts records.
type logCounter struct{ n atomic.Int32 }

func (f *logCounter) Enabled(context.Context, slog.Level) bool  { return true }
func (f *logCounter) Handle(context.Context, slog.Record) error { f.n.Add(1); return nil }
func (f *logCounter) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f *logCounter) WithGroup(string) slog.Handler             { return f }

func (c *failingMark) Mark(context.Context) ([]byte, error) {
	c.n.Add(1)
	return nil, os.ErrPermission
}

// TestDeleteRemovesEmptyFolders checks that deleting the last object of a folder removes the
// folder.
func TestDeleteRemovesEmptyFolders(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.do(s.demo.ServiceRole, "POST", "/object/b/deep/deeper/file", "x").want(t, 200, "Key")
	s.do(s.demo.ServiceRole, "DELETE", "/object/b/deep/deeper/file", nil).want(t, 200, "deleted")
	if left, err := os.ReadDir(filepath.Join(s.dir, "stub", "stub")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestSweepKeepsReferencedBytes sweeps a folder with objects, an unfinished upload, a file without
// a row and a temporary file.
func TestSweepKeepsReferencedBytes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	for i := range 20 {
		s.do(key, "POST", fmt.Sprintf("/object/b/dir//file %d.txt", i), fmt.Sprint(i)).want(t, 200, "Key")
	}
	created := s.tusCreate(key, "b", "pending", 10, "")
	upload := s.tusPath(created)
	s.tus(key, "PATCH", upload, "12345", "Upload-Offset", "0").want(t, 204, "")
	orphan := filepath.Join(s.dir, "stub", "stub", "b", "gone", "11111111-1111-4111-8111-111111111111")
	if err := os.MkdirAll(filepath.Dir(orphan), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{orphan, filepath.Join(s.dir, ".incoming", "left")} {
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	swept, err := s.engine.store.Sweep(t.Context(), time.Hour)
	if err != nil || swept.Orphans != 0 || swept.Temporary != 0 {
		t.Fatalf("recent files were swept: %+v, %v", swept, err)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, file := range filesIn(t, s.dir) {
		if !strings.Contains(file, "pending") {
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	swept, err = s.engine.store.Sweep(t.Context(), time.Hour)
	if err != nil || swept.Orphans != 1 || swept.Temporary != 1 {
		t.Fatalf("%+v, %v", swept, err)
	}
	for i := range 20 {
		s.do(key, "GET", fmt.Sprintf("/object/b/dir//file %d.txt", i), nil).want(t, 200, fmt.Sprint(i))
	}
	s.tus(key, "PATCH", upload, "67890", "Upload-Offset", "5").want(t, 204, "")
	r := s.do(key, "GET", "/object/b/pending", nil).want(t, 200, "1234567890")
	if sha256.Sum256(r.body) != sha256.Sum256([]byte("1234567890")) {
		t.Error("upload changed")
	}
}
