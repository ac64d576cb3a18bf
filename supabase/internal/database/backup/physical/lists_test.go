package physical

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// listing is a folder with lists that were made at chosen times.
type listing struct {
	t     *testing.T
	dir   string
	trees *trees
	base  string // the first list
}

// noon is the time of the first list.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newListing(t *testing.T, names ...string) *listing {
	t.Helper()
	s := &listing{t: t, dir: tempDir(t)}
	s.put(names...)
	all, err := openTrees(t.Context(), repository{Store: newFolder(t)}, tempDir(t),
		[]Tree{{Name: "storage", Path: s.dir}})
	if err != nil {
		t.Fatal(err)
	}
	s.trees = all
	s.base = s.list(0, 0)
	return s
}

func (s *listing) put(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(name), 0o640); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *listing) remove(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// list stores a list of the files. Making it began at the given time after noon
// and took the given duration.
func (s *listing) list(after, took time.Duration) string {
	s.t.Helper()
	s.trees.clock = func() time.Time { return noon.Add(after + took) }
	files, _, err := s.trees.copy(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	name, err := s.trees.putList(s.t.Context(), noon.Add(after), files, true)
	if err != nil {
		s.t.Fatal(err)
	}
	return name
}

// at returns the files of a restore to a time after noon, or of a full restore if
// newest is set.
func (s *listing) at(after time.Duration, newest bool) string {
	s.t.Helper()
	files, err := s.trees.repo.filesAt(s.t.Context(), s.base, noon.Add(after), newest)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

const second = time.Second

// A restore brings back every file that existed at the moment, even if it was
// deleted before the next list or written after the last.
func TestFilesAt(t *testing.T) {
	s := newListing(t, "always", "early")
	s.list(10*second, 0)
	s.remove("early")
	s.put("late")
	s.list(20*second, 0)
	s.list(30*second, 0)
	got := map[string]string{
		"between two lists": s.at(15*second, false), "at the list before": s.at(10*second, false),
		"after them": s.at(25*second, false), "at the end": s.at(time.Hour, false),
		"the newest": s.at(40*second, true), "newest, WAL ends before a deletion": s.at(12*second, true),
	}
	want := map[string]string{
		"between two lists": "always early late", "at the list before": "always early late",
		"after them": "always late", "at the end": "always late",
		"the newest": "always late", "newest, WAL ends before a deletion": "always early late",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A list that was being made at the moment may lack a file of that moment.
func TestFilesAtDuringList(t *testing.T) {
	s := newListing(t, "always", "early")
	s.list(10*second, 0)
	s.remove("early") // at 22 s, before the list reached it
	s.list(20*second, 5*second)
	s.list(30*second, 0)
	if got := s.at(21*second, false); got != "always early" {
		t.Errorf("while the list was being made: %q", got)
	}
	if got := s.at(26*second, false); got != "always" {
		t.Errorf("after the list: %q", got)
	}
}

// If a file has changed, the restore takes it from the later list.
func TestLaterFileWins(t *testing.T) {
	s := newListing(t, "keys")
	if err := os.WriteFile(filepath.Join(s.dir, "keys"), []byte("rotated"), 0o640); err != nil {
		t.Fatal(err)
	}
	s.list(10*second, 0)
	files, err := s.trees.repo.filesAt(t.Context(), s.base, noon.Add(5*second), false)
	if err != nil || len(files) != 1 || files[0].Size != int64(len("rotated")) {
		t.Errorf("%+v, %v", files, err)
	}
}

// A clock that was ahead for a while hides no file, neither from full restores
// nor from restores to a moment.
func TestFilesAtAfterClockWasAhead(t *testing.T) {
	s := newListing(t, "before")
	const year = 365 * 24 * time.Hour
	s.put("made-ahead")
	s.list(year, 0)
	s.remove("made-ahead")
	s.list(year+10*second, 0)
	s.put("right")
	s.list(10*second, 0)
	other, err := openTrees(t.Context(), s.trees.repo, tempDir(t), s.trees.all) // as after a restart
	if err != nil {
		t.Fatal(err)
	}
	s.trees, other = other, s.trees
	s.put("later")
	s.list(20*second, 0)
	s.trees = other // another process
	s.remove("right")
	last := s.list(30*second, 0)
	got := map[string]string{
		"all": s.at(40*second, true), "after the clock was set back": s.at(15*second, false),
		"while the clock was ahead": s.at(year+5*second, false),
	}
	want := map[string]string{
		"all": "before later made-ahead", "after the clock was set back": "before later made-ahead right",
		"while the clock was ahead": "before later made-ahead",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	names, err := s.trees.repo.List(t.Context(), "lists/")
	if err != nil || len(names) != 6 || names[5] != last {
		t.Errorf("lists are not in the order of their creation: %q, %v", names, err)
	}
	// Pruning deletes the lists before a backup's list, in this order.
	first, _ := plainName(strings.TrimPrefix(last, "lists/"))
	needed, err := neededFiles(t.Context(), s.trees.repo, first)
	if err != nil || len(needed) != 2 {
		t.Errorf("the last list needs %v, %v", needed, err)
	}
}

// A missing list is an error, not a restore without files.
func TestMissingList(t *testing.T) {
	s := newListing(t, "always")
	if err := s.trees.repo.Delete(t.Context(), s.base); err != nil {
		t.Fatal(err)
	}
	if _, err := s.trees.repo.filesAt(t.Context(), s.base, noon, true); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), s.base) {
		t.Errorf("got error %v", err)
	}
}
