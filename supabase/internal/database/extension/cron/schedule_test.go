package cron

import (
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// schedules lists texts with what pg_cron 1.6 says about them.
var schedules = []struct {
	text  string
	valid bool
}{
	{"* * * * *", true}, {"*/5 * * * *", true}, {"0 0 1 1 0", true}, {"59 23 31 12 7", true}, {" 5 4 * * * ", true},
	{"1,2,30-40/3 1-5 * jan-mar mon-fri", true}, {"0 0 * * Sun", true}, {"0 0 $ * *", true}, {"0 0 * DEC *", true},
	{"5\t4 * * *", true}, {"0 0 * * * and more", true}, {"30-20 * * * *", true}, {"*/90 * * * *", true},
	{"@daily", true}, {"@reboot", true}, {"@restart", true}, {"@midnight", true}, {"@annually", true},
	{"@hourly", true}, {"1 second", true}, {"59 seconds", true}, {" 30 SECONDS ", true}, {"5seconds", true},
	{"030 seconds", true}, {"", false}, {"* * * *", false}, {"60 * * * *", false}, {"* 24 * * *", false},
	{"* * 0 * *", false}, {"* * 32 * *", false}, {"* * * 13 *", false}, {"* * * 0 *", false}, {"* * * * 8", false},
	{"* * * * monday", false}, {"x * * * *", false}, {"5/10 * * * *", false}, {"*/0 * * * *", false},
	{"*/x * * * *", false}, {"1- * * * *", false}, {"-1 * * * *", false}, {"1,,2 * * * *", false}, {", * * * *", false},
	{"1-2-3 * * * *", false}, {"*/2/2 * * * *", false}, {"jan * * * *", false}, {"$ * * * *", false},
	{"* * $,1 * *", false}, {"@weeky", false}, {"@Daily", false}, {"@", false}, {"0 seconds", false},
	{"60 seconds", false}, {"1000000000000000000000 seconds", false}, {"1.5 seconds", false}, {"-1 seconds", false},
	{"5 minutes", false}, {"5 sec", false}, {"seconds", false}, {"１ * * * *", false}, {"* * * * *;", false},
}

// The scheduler and the check in the database must accept the same schedules, or a job would never
// run.
func TestParseAgreesWithDatabase(t *testing.T) {
	db := testdb.New(t)
	db.ExecAs("supabase_admin", `alter database `+db.Name+` set cron.database_name = `+db.Name)
	db.Exec(`create extension pg_cron`)
	for _, s := range schedules {
		_, err := parse(s.text)
		if (err == nil) != s.valid {
			t.Errorf("parse(%q): %v", s.text, err)
		}
		if got := testdb.Value[bool](db, `select cron._valid($1)`, s.text); got != s.valid {
			t.Errorf("cron._valid(%q) = %v", s.text, got)
		}
	}
}

func at(t *testing.T, text string, zone *time.Location) time.Time {
	t.Helper()
	v, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		schedule, time string
		both, want     bool
	}{
		{"* * * * *", "2026-03-01 10:00", false, true},
		{"30 9 * * *", "2026-03-01 09:30", false, true},
		{"30 9 * * *", "2026-03-01 09:31", false, false},
		{"0 0 $ * *", "2026-02-28 00:00", false, true},
		{"0 0 $ * *", "2028-02-28 00:00", false, false},
		{"0 0 $ * *", "2028-02-29 00:00", false, true},
		{"0 0 $ * *", "2026-12-31 00:00", false, true},
		{"0 0 $ * mon", "2026-03-02 00:00", false, true}, // a Monday: day or weekday
		{"0 0 13 * 5", "2026-03-13 00:00", false, true},
		{"0 0 13 * 5", "2026-03-20 00:00", false, true},
		{"0 0 13 * 5", "2026-03-20 00:00", true, false},
		{"0 0 */2 * 5", "2026-03-06 00:00", false, false}, // a field that begins with * must match too
		{"0 0 * * 7", "2026-03-01 00:00", false, true},
		{"0 0 * * 0", "2026-03-01 00:00", false, true},
		{"0 0 * feb *", "2026-03-01 00:00", false, false},
		{"@monthly", "2026-03-01 00:00", false, true},
		{"@weekly", "2026-03-01 00:00", false, true},
		{"*/7 * * * *", "2026-03-01 00:56", false, true},
		{"2-10/4 * * * *", "2026-03-01 00:06", false, true},
		{"2-10/4 * * * *", "2026-03-01 00:08", false, false},
	} {
		s, err := parse(c.schedule)
		if err != nil {
			t.Fatal(c.schedule, err)
		}
		if got := s.matches(at(t, c.time, time.UTC), c.both); got != c.want {
			t.Errorf("%q at %s: %v", c.schedule, c.time, got)
		}
	}
}

func TestDue(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, schedule, last, now string
		zone                      *time.Location
		want                      int
	}{
		{"same minute", "* * * * *", "2026-03-01 10:00", "2026-03-01 10:00", time.UTC, 0},
		{"next minute", "* * * * *", "2026-03-01 10:00", "2026-03-01 10:01", time.UTC, 1},
		{"late by some minutes", "* * * * *", "2026-03-01 10:00", "2026-03-01 10:04", time.UTC, 4},
		{"late, fixed time", "2 10 * * *", "2026-03-01 10:00", "2026-03-01 10:04", time.UTC, 1},
		{"jump, wildcard once", "* * * * *", "2026-03-01 10:00", "2026-03-01 11:00", time.UTC, 1},
		{"jump, fixed time not lost", "30 10 * * *", "2026-03-01 10:00", "2026-03-01 11:00", time.UTC, 1},
		{"change of the clock skips", "30 10 * * *", "2026-03-01 10:00", "2026-03-01 20:00", time.UTC, 0},
		{"backward, fixed time not again", "30 10 * * *", "2026-03-01 10:40", "2026-03-01 10:30", time.UTC, 0},
		{"backward, wildcard goes on", "* * * * *", "2026-03-01 10:40", "2026-03-01 10:30", time.UTC, 1},
		{"local time", "30 10 * * *", "2026-07-01 10:29", "2026-07-01 10:30", berlin, 1},
		// 2026-03-29 02:00 to 03:00 does not exist in Berlin.
		{"hour that does not exist", "30 2 * * *", "2026-03-29 01:58", "2026-03-29 03:01", berlin, 0},
	} {
		s, err := parse(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		last, now := at(t, c.last, c.zone), at(t, c.now, c.zone)
		runs, next := s.due(last, now.Add(20*time.Second), false)
		if runs != c.want {
			t.Errorf("%s: %d runs, want %d", c.name, runs, c.want)
		}
		if backward := now.Before(last); backward != next.Equal(last) && c.want > 0 && !backward {
			t.Errorf("%s: next is %v", c.name, next)
		}
	}
}

// TestClockSetBack looks several times in one minute after the clock was set back, as after each
// end of a job: the job is due once.
func TestClockSetBack(t *testing.T) {
	now := at(t, "2026-03-01 10:30", time.UTC)
	every, err := parse("* * * * *")
	if err != nil {
		t.Fatal(err)
	}
	due := &task{schedule: every, last: at(t, "2026-03-01 10:40", time.UTC)}
	s := &scheduler{Worker: New(Options{Now: func() time.Time { return now }}), tasks: map[int64]*task{1: due},
		settings: settings{paused: true}}
	for minute := range 3 {
		for range 5 {
			now = now.Add(time.Second)
			s.startDue(t.Context())
		}
		if due.pending != minute+1 {
			t.Errorf("%d runs in %d minutes", due.pending, minute+1)
		}
		now = now.Add(time.Minute)
	}
}

// A parsed schedule must not panic or match times outside of its fields.
func FuzzParse(f *testing.F) {
	for _, s := range schedules {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			return
		}
		if s.seconds < 0 || s.seconds > 59 {
			t.Errorf("%q: %d seconds", text, s.seconds)
		}
		s.due(time.Unix(1e9, 0).Truncate(time.Minute), time.Unix(1e9+600, 0), strings.Contains(text, "$"))
	})
}
