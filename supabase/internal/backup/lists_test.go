package backup

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

// shelf is a folder whose files are listed at times of a test's choice.
type shelf struct {
	t     *testing.T
	dir   string
	trees *trees
	base  string // the first list
}

// noon is the time of the first list.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newShelf(t *testing.T, names ...string) *shelf {
	t.Helper()
	s := &shelf{t: t, dir: tempDir(t)}
	s.put(names...)
	all, err := openTrees(t.Context(), repository{Store: newFolder(t)}, tempDir(t), []Tree{{"storage", s.dir}})
	if err != nil {
		t.Fatal(err)
	}
	s.trees = all
	s.base = s.list(0, 0)
	return s
}

func (s *shelf) put(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(name), 0o640); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *shelf) remove(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// list stores a list of the files that was made from some time after noon on and
// took as long.
func (s *shelf) list(after, took time.Duration) string {
	s.t.Helper()
	s.trees.clock = func() time.Time { return noon.Add(after + took) }
	files, err := s.trees.copy(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	name, err := s.trees.putList(s.t.Context(), noon.Add(after), files, true)
	if err != nil {
		s.t.Fatal(err)
	}
	return name
}

// at returns what a restore to some time after noon brings, or, with newest, one
// to all that there is.
func (s *shelf) at(after time.Duration, newest bool) string {
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

// Whatever there was at a moment is brought back, also when it was deleted before
// the next list, or had been written after the last.
func TestFilesOfAMoment(t *testing.T) {
	s := newShelf(t, "always", "early")
	s.list(10*second, 0)
	s.remove("early")
	s.put("late")
	s.list(20*second, 0)
	s.list(30*second, 0)
	got := map[string]string{
		"between two lists": s.at(15*second, false), "at the list before": s.at(10*second, false),
		"after them": s.at(25*second, false), "at the end": s.at(time.Hour, false),
		"the newest": s.at(40*second, true), "all, of which the log before a deletion": s.at(12*second, true),
	}
	want := map[string]string{
		"between two lists": "always early late", "at the list before": "always early late",
		"after them": "always late", "at the end": "always late",
		"the newest": "always late", "all, of which the log before a deletion": "always early late",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A list that was being made at the moment may have come too late for a file.
func TestFilesOfAMomentWithinAList(t *testing.T) {
	s := newShelf(t, "always", "early")
	s.list(10*second, 0)
	s.remove("early") // at 22 s, before its place was looked at
	s.list(20*second, 5*second)
	s.list(30*second, 0)
	if got := s.at(21*second, false); got != "always early" {
		t.Errorf("while the list was made: %q", got)
	}
	if got := s.at(26*second, false); got != "always" {
		t.Errorf("after it: %q", got)
	}
}

// Of a file that was changed, the later list has the right one.
func TestALaterFileWins(t *testing.T) {
	s := newShelf(t, "keys")
	if err := os.WriteFile(filepath.Join(s.dir, "keys"), []byte("rotated"), 0o640); err != nil {
		t.Fatal(err)
	}
	s.list(10*second, 0)
	files, err := s.trees.repo.filesAt(t.Context(), s.base, noon.Add(5*second), false)
	if err != nil || len(files) != 1 || files[0].Size != int64(len("rotated")) {
		t.Errorf("%+v, %v", files, err)
	}
}

// A clock that was ahead for a while hides no file of later, from a restore to all
// there is or to a moment, and none of its time.
func TestFilesAfterTheClockWasAhead(t *testing.T) {
	s := newShelf(t, "before")
	const year = 365 * 24 * time.Hour
	s.put("meanwhile")
	s.list(year, 0)
	s.remove("meanwhile")
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
		"all": s.at(40*second, true), "a moment after": s.at(15*second, false), "one of the time": s.at(year+5*second, false),
	}
	want := map[string]string{
		"all": "before later meanwhile", "a moment after": "before later meanwhile right", "one of the time": "before later meanwhile",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	names, err := s.trees.repo.List(t.Context(), "lists/")
	if err != nil || len(names) != 6 || names[5] != last {
		t.Errorf("in the order of their making: %q, %v", names, err)
	}
	// Pruning takes those before a backup's, in this order.
	first, _ := plainName(strings.TrimPrefix(last, "lists/"))
	needed, err := neededFiles(t.Context(), s.trees.repo, first)
	if err != nil || len(needed) != 2 {
		t.Errorf("the last list needs %v, %v", needed, err)
	}
}

// A list that is gone is damage, and not a restore without files.
func TestTheListOfABackupIsGone(t *testing.T) {
	s := newShelf(t, "always")
	if err := s.trees.repo.Delete(t.Context(), s.base); err != nil {
		t.Fatal(err)
	}
	if _, err := s.trees.repo.filesAt(t.Context(), s.base, noon, true); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), s.base) {
		t.Errorf("got error %v", err)
	}
}
