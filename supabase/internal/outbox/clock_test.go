package outbox

import (
	"testing"
	"time"

	"daawo/supabase/internal/testdb"
)

// TestClockThatWasAhead: jobs and the leader's lease of a clock that was ahead do not wait until it is as late as it was.
func TestClockThatWasAhead(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	for state, when := range map[string]string{"available": "1 year", "retryable": "1 year", "scheduled": "3 hours"} {
		tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
			values ('x', 'x', '{}', 9, '` + state + `', now() + interval '` + when + `')`)
	}
	tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
		values ('later', 'x', '{}', 9, 'retryable', now() + interval '1 hour')`)
	for kind, when := range map[string]string{"cut off": "now() + interval '1 hour'", "at work": "now() - interval '90 seconds'"} {
		tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, attempted_at)
			values ('` + kind + `', 'x', '{}', 9, 'running', ` + when + `)`)
	}
	tdb.Exec(`insert into river.river_leader (leader_id, elected_at, expires_at) values ('gone', now() + interval '1 hour', now() + interval '1 hour')`)
	if err := b.straighten(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'x' and scheduled_at <= now()`); n != 3 {
		t.Errorf("%d of 3 jobs are due", n)
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'later' and scheduled_at > now() + interval '50 minutes'`); n != 1 {
		t.Error("a job that waits for its time was hurried")
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'cut off' and attempted_at <= now()`); n != 1 {
		t.Error("a job that a crash cut off is not found before its hour")
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'at work' and attempted_at < now() - interval '80 seconds'`); n != 1 {
		t.Error("a job at work has more time than it had")
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_leader`); n != 0 {
		t.Error("the lease of the future holds")
	}
}

// TestSchedulesGoOnWhenTheClockIsSet: River sleeps until the next times as the clock had them. An installation that was made
// while the clock was ahead has schedules, too.
func TestSchedulesGoOnWhenTheClockIsSet(t *testing.T) {
	tdb := testdb.New(t)
	newOutbox(t, tdb, Options{}, nil, false)
	tdb.Exec(`update river.river_migration set created_at = now() + interval '1 year'`)
	f := &fake{crons: map[string]string{"weekly": "0 6 * * 1"}}
	b := newOutbox(t, tdb, Options{}, f, true)
	turn := func() bool { return testdb.Value[int](tdb, `select count(*) from river.river_job`) == 1 }
	waitFor(t, "the turn that was due last", turn)
	tdb.Exec(`delete from river.river_job`) // as if the clock had never come by it

	before := readClocks()
	for _, steady := range []moment{
		{wall: before.wall.Add(time.Hour), runs: before.runs + time.Hour},
		{wall: before.wall.Add(30 * time.Second), runs: before.runs + time.Minute},
	} {
		if next := b.heedClock(t.Context(), before, steady); next != steady {
			t.Errorf("compared with %v next, want %v", next, steady)
		}
	}
	time.Sleep(200 * time.Millisecond)
	if turn() {
		t.Fatal("it is due again while the clock is right")
	}
	set := moment{wall: before.wall.Add(-365 * 24 * time.Hour), runs: before.runs + time.Minute}
	if next := b.heedClock(t.Context(), before, set); next != set {
		t.Errorf("compared with %v next, want %v", next, set)
	}
	waitFor(t, "the turn after the clock was set", turn)
}

func TestMoments(t *testing.T) {
	first := readClocks()
	for by, want := range map[time.Duration]bool{
		0: false, 59 * time.Second: false, -59 * time.Second: false, 2 * time.Minute: true, -2 * time.Minute: true, -365 * 24 * time.Hour: true,
	} {
		later := moment{wall: first.wall.Add(time.Minute + by), runs: first.runs + time.Minute}
		if got := later.setSince(first); got != want {
			t.Errorf("set by %s: %v", by, got)
		}
	}
	if readClocks().setSince(first) {
		t.Error("this machine's clock was set")
	}
}
