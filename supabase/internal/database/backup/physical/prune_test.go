package physical

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

func TestPrune(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	refusal := errors.New("delete refused")
	s := newSite(t, undeletable{store, &refusal})
	var log strings.Builder
	s.options.Keep, s.options.Log = 2, slog.New(slog.NewTextHandler(&log, nil))
	service := open(t, s.options)
	s.threeBackups(service)
	before, err := store.List(t.Context(), "wal/")
	if err != nil {
		t.Fatal(err)
	}
	var retry attempts
	prune := func() { service.attempt(t.Context(), &retry, "not pruned", service.pruneIfDue) }
	service.unpruned = true
	for range 2 { // the first fails, the second waits
		prune()
	}
	if n := strings.Count(log.String(), refusal.Error()); n != 1 || !service.unpruned || retry.next.IsZero() {
		t.Errorf("failed pruning is not retried; log: %s", &log)
	}
	refusal, retry = nil, attempts{}
	if prune(); service.unpruned {
		t.Fatal(&log)
	}
	all := s.checkPruned(store, len(before))
	// A file that is created again after its copy was pruned is stored again.
	s.write("storage/again", "deleted before the second backup")
	if err := service.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.stop()
	dir := tempDir(t)
	for _, to := range []time.Time{all[0].End, {}} {
		o := RestoreOptions{Store: store, To: to, Data: filepath.Join(dir, fmt.Sprint("data", to.Unix())),
			Package: s.pkg, Trees: []Tree{{Name: "storage", Path: filepath.Join(dir, "storage")}}}
		if _, err := Restore(t.Context(), o); err != nil {
			t.Errorf("restore to %v: %v", to, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "storage/again"))
	if diff := cmp.Diff("deleted before the second backup", string(text)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// threeBackups makes three backups. The file storage/old exists only in the first.
func (s *site) threeBackups(service *Service) {
	s.t.Helper()
	s.write("storage/old", "deleted before the second backup")
	s.write("storage/stays", "in all backups")
	for i := range 3 {
		if i > 0 {
			time.Sleep(1100 * time.Millisecond) // IDs have a resolution of one second
		}
		if _, err := service.Backup(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		os.Remove(filepath.Join(s.files, "old"))
		s.addNote(i)
		s.shipped(service)
	}
}

// checkPruned checks that two good backups, their WAL and their files are left.
func (s *site) checkPruned(store Store, segmentsBefore int) []Manifest {
	t := s.t
	t.Helper()
	all, err := List(t.Context(), store)
	if err != nil || len(all) != 2 {
		t.Fatalf("backups %v, %v", all, err)
	}
	if after, _ := store.List(t.Context(), "wal/"); len(after) >= segmentsBefore || len(after) == 0 {
		t.Errorf("WAL: %d segments before, %d after", segmentsBefore, len(after))
	}
	if v, err := Verify(t.Context(), store, nil); err != nil || v.Files != 2 { // stays and keys.json
		t.Errorf("after pruning: %+v, %v", v, err)
	}
	return all
}

// undeletable is a store that deletes nothing while *err is set.
type undeletable struct {
	Store
	err *error
}

func (k undeletable) Delete(ctx context.Context, name string) error {
	if *k.err != nil {
		return *k.err
	}
	return k.Store.Delete(ctx, name)
}

// leftovers creates the data that processes leave when they are killed during a
// backup. It returns the paths that the next backup must remove and one that it
// must keep.
func leftovers(t *testing.T, s *Service) (left []string, kept string) {
	t.Helper()
	place := string(s.repo.Store.(folder))
	old := filepath.Join(place, "wal", unfinished+"old")
	kept = filepath.Join(place, "wal", unfinished+"new")
	files := []string{
		filepath.Join(s.opt.StateDir, testRestorePrefix+"killed", "data", "PG_VERSION"),
		filepath.Join(place, "base", "20200101T000000Z", "base.tar-0123456789abcdef.zst"),
		filepath.Join(place, "base", "20200102T000000Z", unfinished+"1"),
		old, kept,
	}
	for _, path := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte("17"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join(s.opt.StateDir, testRestorePrefix+"killed"), filepath.Dir(files[1]),
		filepath.Dir(files[2]), old}, kept
}
