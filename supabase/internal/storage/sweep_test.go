package storage

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/objects"
)

// TestSweepsDaily: the engine sweeps by itself, soon after its start and then each day, until it is closed.
func TestSweepsDaily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		walked := &counting{}
		logged := &failures{}
		e := &Engine{store: objects.New(objects.Config{Backend: walked}), log: slog.New(logged)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.sweepDaily(ctx)
		}()
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if walked.n.Load() != 0 {
			t.Errorf("swept %d times while starting", walked.n.Load())
		}
		time.Sleep(2 * time.Minute)
		time.Sleep(3 * 24 * time.Hour)
		synctest.Wait()
		if walked.n.Load() != 4 {
			t.Errorf("swept %d times in three days", walked.n.Load())
		}
		if logged.n.Load() != 4 {
			t.Errorf("%d failures were logged", logged.n.Load())
		}
		cancel()
		<-done
	})
}

// counting counts walks and fails them, so that no database is needed.
type counting struct {
	backend.Backend
	n atomic.Int32
}

// failures counts what is logged.
type failures struct{ n atomic.Int32 }

func (f *failures) Enabled(context.Context, slog.Level) bool  { return true }
func (f *failures) Handle(context.Context, slog.Record) error { f.n.Add(1); return nil }
func (f *failures) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f *failures) WithGroup(string) slog.Handler             { return f }

func (c *counting) Walk(context.Context, func(backend.Entry) error) error {
	c.n.Add(1)
	return os.ErrPermission
}

// TestDirectoriesGoWithTheirLastFile: deleting leaves no empty folders behind.
func TestDirectoriesGoWithTheirLastFile(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.do(s.demo.ServiceRole, "POST", "/object/b/deep/deeper/file", "x").want(t, 200, "Key")
	s.do(s.demo.ServiceRole, "DELETE", "/object/b/deep/deeper/file", nil).want(t, 200, "deleted")
	if left, err := os.ReadDir(filepath.Join(s.dir, "stub", "stub")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
