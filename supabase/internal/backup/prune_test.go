package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPruneKeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	kept := errors.New("nothing is deleted here")
	s := newSite(t, keeping{store, &kept})
	var log strings.Builder
	s.options.Keep, s.options.Log = 2, slog.New(slog.NewTextHandler(&log, nil))
	service := open(t, s.options)
	s.write("storage/old", "deleted before the second backup")
	s.write("storage/stays", "in all of them")
	for i := range 3 {
		if i > 0 {
			time.Sleep(1100 * time.Millisecond) // their names count seconds
		}
		if _, err := service.Backup(t.Context()); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(s.files, "old"))
		s.report(i)
		s.shipped(service)
	}
	before, err := store.List(t.Context(), "wal/")
	if err != nil {
		t.Fatal(err)
	}
	var retry time.Time
	prune := func() { service.try(t.Context(), &retry, "not pruned", service.pruneDue) }
	service.unpruned = true
	for range 2 { // it fails once and waits
		prune()
	}
	if n := strings.Count(log.String(), kept.Error()); n != 1 || !service.unpruned || retry.IsZero() {
		t.Errorf("pruning is to be tried again; the log: %s", &log)
	}
	kept, retry = nil, time.Time{}
	if prune(); service.unpruned {
		t.Fatal(&log)
	}
	all, err := List(t.Context(), store)
	if err != nil || len(all) != 2 {
		t.Fatalf("backups %v, %v", all, err)
	}
	if after, _ := store.List(t.Context(), "wal/"); len(after) >= len(before) || len(after) == 0 {
		t.Errorf("log: %d segments before, %d after", len(before), len(after))
	}
	if v, err := Verify(t.Context(), store, nil); err != nil || v.Files != 2 { // stays and keys.json
		t.Errorf("after pruning: %+v, %v", v, err)
	}
	// A file that comes back after its copy was deleted is stored again.
	s.write("storage/again", "deleted before the second backup")
	if err := service.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.stop()
	dir := tempDir(t)
	for _, to := range []time.Time{all[0].End, {}} {
		o := RestoreOptions{Store: store, To: to, Data: filepath.Join(dir, fmt.Sprint("data", to.Unix())), Package: s.pkg, Trees: []Tree{{"storage", filepath.Join(dir, "storage")}}}
		if _, err := Restore(t.Context(), o); err != nil {
			t.Errorf("restore to %v: %v", to, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "storage/again"))
	if diff := cmp.Diff("deleted before the second backup", string(text)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// keeping is a store that deletes nothing while there is an error.
type keeping struct {
	Store
	err *error
}

func (k keeping) Delete(ctx context.Context, name string) error {
	if *k.err != nil {
		return *k.err
	}
	return k.Store.Delete(ctx, name)
}

// leavings leaves what processes leave that are killed at a backup. It returns
// what the next one removes, and what it must not.
func leavings(t *testing.T, s *Service) (left []string, kept string) {
	t.Helper()
	place := string(s.repo.Store.(folder))
	old := filepath.Join(place, "wal", unfinished+"old")
	kept = filepath.Join(place, "wal", unfinished+"new")
	files := []string{
		filepath.Join(s.opt.StateDir, proofPrefix+"killed", "data", "PG_VERSION"),
		filepath.Join(place, "base", "20200101T000000Z", "base.tar-0123456789abcdef.zst"),
		filepath.Join(place, "base", "20200102T000000Z", unfinished+"1"),
		old, kept,
	}
	for _, path := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("17"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join(s.opt.StateDir, proofPrefix+"killed"), filepath.Dir(files[1]), filepath.Dir(files[2]), old}, kept
}
