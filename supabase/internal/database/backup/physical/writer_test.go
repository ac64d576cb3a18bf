package physical

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// restored restores the newest state of the store as another installation, as on another machine.
func (s *site) restored() *site {
	s.t.Helper()
	dir := tempDir(s.t)
	o := RestoreOptions{Store: s.options.Store, Data: filepath.Join(dir, "data"), Package: s.pkg}
	if _, err := Restore(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
	other := &site{t: s.t, dir: dir, pkg: s.pkg, files: filepath.Join(dir, "storage"), options: s.options}
	other.options.Trees = []Tree{{Name: "storage", Path: other.files}}
	other.options.Archive, other.options.StateDir = filepath.Join(dir, "archive"), filepath.Join(dir, "backup")
	other.options.Status, other.options.beat = &Status{}, 100*time.Millisecond
	other.serve(o.Data)
	return other
}

// TestRestoreBeginsTimeline restores a backup before later WAL is stored. Copy and original
// must not give one name to different WAL.
func TestRestoreBeginsTimeline(t *testing.T) {
	t.Parallel()
	s := newSite(t, newFolder(t))
	service := open(t, s.options)
	for want := range uint32(2) {
		if _, err := service.Backup(t.Context()); err != nil {
			t.Fatal(err)
		}
		s = s.restored()
		service = open(t, s.options)
		if got, err := service.currentTimeline(t.Context()); err != nil || got != want+2 {
			t.Errorf("timeline %d, %v", got, err)
		}
	}
}

// run runs the continuous backup until stop is called, which returns the error of Run.
func (s *site) run(service *Service) (stop func() error) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	var err error
	running.Go(func() { err = service.Run(ctx) })
	stop = func() error {
		cancel()
		running.Wait()
		return err
	}
	s.t.Cleanup(func() { _ = stop() })
	return stop
}

// TestCopyLeavesStoreAlone starts a restored copy with the store of the running original, as in an
// exercise. Later backups of the original can still be restored. When the original is gone, a copy
// continues in the store, and the original can then not return to it.
func TestCopyLeavesStoreAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, newFolder(t))
	s.options.beat, s.options.Status = 100*time.Millisecond, &Status{}
	service := open(t, s.options)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.addNote(1)
	s.shipped(service)
	stop := s.run(service)
	exercise := s.restored()
	if _, err := Open(t.Context(), exercise.options); !errors.Is(err, ErrInUse) {
		t.Errorf("a copy of a running installation: %v", err)
	}
	if err := CheckWriter(t.Context(), s.options.Store, exercise.options.StateDir); !errors.Is(err, ErrInUse) {
		t.Errorf("the check of the copy: %v", err)
	}
	exercise.stop()
	if err := stop(); err != nil {
		t.Error(err)
	}
	s.addNote(2)
	s.shipped(open(t, s.options)) // at once, after a restart of the same installation
	if err := CheckWriter(t.Context(), s.options.Store, s.options.StateDir); err != nil {
		t.Errorf("the check of the original: %v", err)
	}
	heir := s.restored()
	if ids := heir.ids(); ids != "1 2" {
		t.Fatalf("restored after the exercise: %q", ids)
	}
	heir.addNote(3)
	heir.shipped(open(t, heir.options)) // the original is gone
	if _, err := Open(t.Context(), s.options); !errors.Is(err, ErrOtherBranch) {
		t.Errorf("the original returns: %v", err)
	}
	s.stop()
	if ids := heir.restored().ids(); ids != "1 2 3" {
		t.Errorf("restored after the heir: %q", ids)
	}
}

// TestRunEndsWhenStoreIsTaken lets another installation take the store over, as after the original
// has not reached it for some minutes.
func TestRunEndsWhenStoreIsTaken(t *testing.T) {
	t.Parallel()
	s := newSite(t, newFolder(t))
	s.options.beat, s.options.Status = 50*time.Millisecond, &Status{}
	service := open(t, s.options)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Run(t.Context()) }()
	other := &Service{writer: "another", repo: service.repo}
	if err := other.putMark(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrInUse) {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Run goes on")
	}
	// Keep then looks again, and the status is no longer good.
	s.options.Status.looked.Store(true)
	s.options.Status.backup.Store(time.Now().UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() { defer close(kept); Keep(ctx, s.options) }()
	for mark := 0; s.options.Status.Good(time.Now(), 0); mark++ {
		if err := other.putMark(t.Context()); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(20 * time.Millisecond); mark == 1000 {
			t.Fatal("the status stays good")
		}
	}
	cancel()
	<-kept
}

// TestWriterOfCopy checks that a moved folder keeps its id and that a copied one gets another.
func TestWriterOfCopy(t *testing.T) {
	dir := t.TempDir()
	first, err := loadWriter(filepath.Join(dir, "a"))
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(dir, "b"),
		filepath.Join(dir, "c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	moved, err := loadWriter(filepath.Join(dir, "b"))
	copied, err2 := loadWriter(filepath.Join(dir, "c"))
	if err := errors.Join(err, err2); err != nil || moved != first || copied == first || copied == "" {
		t.Errorf("first %q, moved %q, copied %q, %v", first, moved, copied, err)
	}
	if again, err := loadWriter(filepath.Join(dir, "c")); again != copied || err != nil {
		t.Errorf("the copy gets %q after %q, %v", again, copied, err)
	}
}
