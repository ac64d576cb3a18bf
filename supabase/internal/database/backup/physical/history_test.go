package physical

import (
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/backup/codec"

	"github.com/google/go-cmp/cmp"
)

func TestParseHistory(t *testing.T) {
	got, err := parseHistory("1\t0/2A00148\tbefore 2026-11-21 11:00:00+00\n\n# a comment\n2\t1/500000\tno recovery target specified\n", 4)
	want := history{{1, 0, 0x2a00148}, {2, 0x2a00148, 1<<32 + 0x500000}, {4, 1<<32 + 0x500000, math.MaxUint64}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []string{"1\n", "one\t0/1\n", "1\tnowhere\n"} {
		if _, err := parseHistory(bad, 2); !errors.Is(err, codec.ErrDamaged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	backups := []struct {
		timeline, stop string
		ok             bool
	}{
		{"1", "0/2A00148", true}, {"1", "0/2B00000", false}, {"2", "0/2B00000", true}, {"2", "1/600000", false},
		{"3", "0/1", false}, {"4", "1/600000", true}, {"5", "2/0", true},
	}
	for _, b := range backups {
		m := Manifest{baseInfo: baseInfo{Timeline: b.timeline, StopLSN: b.stop}}
		if _, ok := got.of(m); ok != b.ok {
			t.Errorf("a backup of timeline %s at %s: %v", b.timeline, b.stop, ok)
		}
	}
}

// backupIfDue reports whether the service makes a base backup now.
func (s *site) backupIfDue(service *Service) bool {
	s.t.Helper()
	newest := func() string {
		all, err := List(s.t.Context(), s.options.Store)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(all) == 0 {
			return ""
		}
		return all[len(all)-1].ID
	}
	before := newest()
	if before != "" {
		time.Sleep(1100 * time.Millisecond) // IDs have a resolution of one second
	}
	if err := service.backupIfDue(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return newest() != before
}

// A backup that was made while the clock was ahead does not hide later ones, and
// a new backup is due at once.
func TestBackupAfterClockWasAhead(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	now := time.Now()
	put := func(id, stop string, end time.Time) {
		t.Helper()
		m := Manifest{Format: format, ID: id, End: end,
			baseInfo: baseInfo{StartLSN: stop, StopLSN: stop, Timeline: "1"}}
		if err := putManifest(t.Context(), store, m); err != nil {
			t.Fatal(err)
		}
	}
	put("first", "0/100000", now.Add(-3*time.Hour))
	put("ahead", "0/A00000", now.Add(time.Hour))
	s := &Service{opt: Options{Every: 24 * time.Hour, Log: slog.New(slog.DiscardHandler)}, timeline: 1}
	due := func() bool {
		t.Helper()
		all, err := List(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		due, err := s.due(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	if !due() {
		t.Error("no backup is due after the clock was set back")
	}
	put("right", "0/10000000", now.Add(30*time.Second)) // a small difference of clocks
	if due() {
		t.Error("a backup is due although the newest has the right time")
	}
	s.latest = now.Add(time.Hour) // the clock was ahead without a backup
	if !due() {
		t.Error("no backup is due after the clock was ahead")
	}
	all, err := List(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		to         time.Time
		base, next string
	}{{time.Time{}, "right", ""}, {now.Add(time.Minute), "right", ""}, {now.Add(-time.Hour), "first", "ahead"}} {
		base, next, err := choose(all, history{{1, 0, math.MaxUint64}}, r.to)
		if err != nil || base.ID != r.base || (next == nil) != (r.next == "") || next != nil && next.ID != r.next {
			t.Errorf("to %v: %s, %+v, %v", r.to, base.ID, next, err)
		}
	}
}

// After a restore to a moment before a base backup, restores work at once and a
// new base backup is due at once.
func TestBackupAfterTimelineSwitch(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	service := open(t, s.options)
	if !s.backupIfDue(service) || s.backupIfDue(service) {
		t.Fatal("not exactly one backup at the beginning")
	}
	s.addNote(1)
	s.shipped(service)
	fork := s.now()
	s.addNote(2)
	s.shipped(service)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.addNote(3)
	s.shipped(service)
	s.stop()

	restore := func(to time.Time) {
		t.Helper()
		if err := os.RemoveAll(s.options.Archive); err != nil { // as on another machine
			t.Fatal(err)
		}
		data := filepath.Join(tempDir(t), "data")
		if _, err := Restore(t.Context(),
			RestoreOptions{Store: store, To: to, Data: data, Package: s.pkg}); err != nil {
			t.Fatalf("restore to %v: %v", to, err)
		}
		s.serve(data)
	}
	restore(fork)
	service = open(t, s.options)
	s.addNote(4)
	s.shipped(service)
	s.stop() // before a base backup on the new timeline
	restore(time.Time{})
	if ids := s.ids(); ids != "1 4" {
		t.Errorf("newest state without a base backup on its timeline: %q", ids)
	}
	s.options.Keep = 2 // the abandoned and the new one
	service = open(t, s.options)
	if !s.backupIfDue(service) || s.backupIfDue(service) {
		t.Error("not exactly one backup at once on the new timeline")
	}
	s.addNote(5)
	s.shipped(service)
	s.stop()
	if _, err := Verify(t.Context(), store, nil); err != nil {
		t.Error(err)
	}
	restore(time.Time{})
	if ids := s.ids(); ids != "1 4 5" {
		t.Errorf("after pruning: %q", ids)
	}
}

// A server that ran without archiving leaves a gap in the WAL.
func TestWALGap(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	data := filepath.Join(s.dir, "postgres")
	service := open(t, s.options)
	if !s.backupIfDue(service) {
		t.Fatal("no backup at the beginning")
	}
	s.addNote(1)
	s.shipped(service)
	s.stop()
	s.serve(data)
	if service = open(t, s.options); s.backupIfDue(service) {
		t.Error("a backup is due after a restart")
	}
	moment := s.now()
	s.addNote(2)
	s.shipped(service)
	s.stop()
	s.start(data, "")
	s.addNote(3)
	for range 3 {
		s.sql(`select pg_switch_wal(); create temp table t(); checkpoint`)
	}
	s.stop()
	s.serve(data)
	service = open(t, s.options)
	s.addNote(4)
	s.shipped(service)

	if _, err := Verify(t.Context(), store, nil); !errors.Is(err, codec.ErrDamaged) ||
		!strings.Contains(err.Error(), "is missing: moments between it") {
		t.Errorf("verify: %v", err)
	}
	for _, r := range []struct {
		to   time.Time
		want string
	}{{time.Time{}, "use --to"}, {s.now(), "choose an earlier moment"}, {moment, ""}} {
		o := RestoreOptions{Store: store, To: r.to, Data: filepath.Join(tempDir(t), "data"), Package: s.pkg}
		_, err := Restore(t.Context(), o)
		if r.want == "" && err != nil || r.want != "" &&
			(!errors.Is(err, codec.ErrDamaged) || !strings.Contains(err.Error(), r.want)) {
			t.Errorf("restore to %v: %v", r.to, err)
		}
		if _, err := os.Stat(o.Data); r.want != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("left behind: %v", err)
		}
	}
	if !s.backupIfDue(service) || s.backupIfDue(service) {
		t.Error("not exactly one backup at once")
	}
}

// A damaged manifest stops neither restores nor new backups.
func TestDamagedManifest(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	service := open(t, s.options)
	if !s.backupIfDue(service) {
		t.Fatal("no backup at the beginning")
	}
	const name = "base/20260101T000000Z/manifest-0123456789abcdef.json" // wrong checksum
	replace(t, store, name, []byte("{}"))
	all, err := List(t.Context(), store)
	if !errors.Is(err, codec.ErrDamaged) || !strings.Contains(err.Error(), name) || len(all) != 1 {
		t.Errorf("%d backups, %v", len(all), err)
	}
	if v, err := Verify(t.Context(), store, nil); !errors.Is(err, codec.ErrDamaged) || v.Backups != 1 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	if _, err := Restore(t.Context(),
		RestoreOptions{Store: store, Data: filepath.Join(tempDir(t), "data"), Package: s.pkg}); err != nil {
		t.Errorf("restore: %v", err)
	}
	s.options.Every, s.options.Keep = time.Nanosecond, 1
	time.Sleep(1100 * time.Millisecond)
	service = open(t, s.options)
	if err := errors.Join(service.backupIfDue(t.Context()), service.pruneIfDue(t.Context())); err != nil {
		t.Errorf("new backup: %v", err)
	}
	if all, err := List(t.Context(), store); err != nil || len(all) != 1 {
		t.Errorf("after pruning: %d backups, %v", len(all), err)
	}
}
