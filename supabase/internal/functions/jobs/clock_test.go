package jobs

import (
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// TestFutureTimesAreCorrected checks that jobs and the leader's lease which were written while the
// clock was ahead do not wait until that time.
func TestFutureTimesAreCorrected(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	for state, when := range map[string]string{"available": "1 year", "retryable": "1 year", "scheduled": "3 hours"} {
		tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
			values ('x', 'x', '{}', 9, '` + state + `', now() + interval '` + when + `')`)
	}
	tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
		values ('later', 'x', '{}', 9, 'retryable', now() + interval '1 hour')`)
	for kind, when := range map[string]string{"interrupted": "now() + interval '1 hour'",
		"running": "now() - interval '90 seconds'"} {
		tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, attempted_at)
			values ('` + kind + `', 'x', '{}', 9, 'running', ` + when + `)`)
	}
	tdb.Exec(`insert into river.river_leader (leader_id, elected_at, expires_at) values ('old', now() + interval '1 hour', now() + interval '1 hour')`)
	if err := b.correctFutureTimes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb,
		`select count(*) from river.river_job where kind = 'x' and scheduled_at <= now()`); n != 3 {
		t.Errorf("%d of 3 jobs are due", n)
	}
	if n := testdb.Value[int](tdb,
		`select count(*) from river.river_job where kind = 'later' and scheduled_at > now() + interval '50 minutes'`); n != 1 {
		t.Error("a job that waits for a valid time was rescheduled")
	}
	if n := testdb.Value[int](tdb,
		`select count(*) from river.river_job where kind = 'interrupted' and attempted_at <= now()`); n != 1 {
		t.Error("River would find the interrupted job only after an hour")
	}
	if n := testdb.Value[int](tdb,
		`select count(*) from river.river_job where kind = 'running' and attempted_at < now() - interval '80 seconds'`); n != 1 {
		t.Error("the timeout of a running job was extended")
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_leader`); n != 0 {
		t.Error("the lease of the future was kept")
	}
}

// TestSchedulesAfterClockChange checks that schedules run after the clock was set back, also in an
// installation that was made while the clock was ahead.
func TestSchedulesAfterClockChange(t *testing.T) {
	tdb := testdb.New(t)
	newOutbox(t, tdb, Options{}, nil, false)
	tdb.Exec(`update river.river_migration set created_at = now() + interval '1 year'`)
	f := &fake{crons: map[string]string{"weekly": "0 6 * * 1"}}
	b := newOutbox(t, tdb, Options{}, f, true)
	added := func() bool { return testdb.Value[int](tdb, `select count(*) from river.river_job`) == 1 }
	waitFor(t, "the job of the latest due time", added)
	tdb.Exec(`delete from river.river_job`) // as if the due time had never passed

	before := readClocks()
	for _, steady := range []clockReading{
		{wall: before.wall.Add(time.Hour), monotonic: before.monotonic + time.Hour},
		{wall: before.wall.Add(30 * time.Second), monotonic: before.monotonic + time.Minute},
	} {
		if next := b.checkClock(t.Context(), before, steady); next != steady {
			t.Errorf("compared with %v next, want %v", next, steady)
		}
	}
	time.Sleep(200 * time.Millisecond)
	if added() {
		t.Fatal("the job was added again although the clock was not set")
	}
	set := clockReading{wall: before.wall.Add(-365 * 24 * time.Hour), monotonic: before.monotonic + time.Minute}
	if next := b.checkClock(t.Context(), before, set); next != set {
		t.Errorf("compared with %v next, want %v", next, set)
	}
	waitFor(t, "the job after the clock was set", added)
}

func TestClockChangedSince(t *testing.T) {
	first := readClocks()
	for by, want := range map[time.Duration]bool{
		0: false, 59 * time.Second: false, -59 * time.Second: false, 2 * time.Minute: true, -2 * time.Minute: true,
		-365 * 24 * time.Hour: true,
	} {
		later := clockReading{wall: first.wall.Add(time.Minute + by), monotonic: first.monotonic + time.Minute}
		if got := later.changedSince(first); got != want {
			t.Errorf("set by %s: %v", by, got)
		}
	}
	if readClocks().changedSince(first) {
		t.Error("this machine's clock was set")
	}
}
