package jobs

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// newIdle returns a started outbox that stops its client soon after its last work.
func newIdle(t *testing.T, tdb *testdb.DB, o Options, f Functions, poll time.Duration) *Outbox {
	t.Helper()
	b := newOutbox(t, tdb, o, nil, false)
	b.idleAfter, b.idlePoll, b.maintenance = 90*time.Millisecond, poll, nil
	if err := b.Start(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// awaitStop waits until the client has stopped and given up its leadership.
func awaitStop(t *testing.T, tdb *testdb.DB, b *Outbox) {
	t.Helper()
	waitFor(t, "the stop of the client", func() bool {
		return b.running() == nil && testdb.Value[int](tdb, `select count(*) from river.river_leader`) == 0
	})
}

// TestIdleClientStops checks that River's client stops without work, and that a notification starts
// it.
func TestIdleClientStops(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newIdle(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, time.Hour)
	for n := range 3 {
		awaitStop(t, tdb, b)
		send(t, b, b.addNotice)
		waitFor(t, "the mail", func() bool { return len(out.mails()) == n+1 })
	}
}

// TestJobBesideAnother checks that a job that wakes no worker, because another one just did, does
// not wait for the next poll.
func TestJobBesideAnother(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newIdle(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, time.Hour)
	for range 20 {
		send(t, b, b.addNotice)
	}
	waitFor(t, "the mails", func() bool { return len(out.mails()) == 20 })
}

// TestIdleClientPolls checks that a job without a notification starts the client, and so does a
// lost connection.
func TestIdleClientPolls(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newIdle(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, 20*time.Millisecond)
	awaitStop(t, tdb, b)
	send(t, b, func(batch *pgx.Batch) error { // as b.addNotice without its notification
		args, err := json.Marshal(notice)
		batch.Queue(`insert into river.river_job (args, kind, max_attempts, queue) values ($1, 'notify_by_mail', 9, 'mail')`, args)
		return err
	})
	waitFor(t, "the mail", func() bool { return len(out.mails()) == 1 })
	awaitStop(t, tdb, b)
	tdb.Exec(`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`) // not autovacuum
	waitFor(t, "the start after the lost connection", func() bool { return b.running() != nil })
	awaitStop(t, tdb, b)
	send(t, b, b.addNotice)
	waitFor(t, "the mail after the lost connection", func() bool { return len(out.mails()) == 2 })
	awaitStop(t, tdb, b)
}

// TestIdleClientReschedules checks that a new schedule and a change of the clock start the client.
func TestIdleClientReschedules(t *testing.T) {
	tdb := testdb.New(t)
	f := &changing{crons: map[string]string{}, ran: map[string]int{}}
	b := newIdle(t, tdb, Options{}, f, time.Hour)
	tdb.Exec(`update river.river_migration set created_at = now() - interval '9 days'`)
	awaitStop(t, tdb, b)
	f.set(map[string]string{"weekly": "0 6 * * 1"})
	if err := b.Reschedule(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the missed due time", func() bool { return f.runs("weekly") == 1 })
	awaitStop(t, tdb, b)
	tdb.Exec(`delete from river.river_job`) // as if the due time had never passed
	before := readClocks()
	set := clockReading{wall: before.wall.Add(-time.Hour), monotonic: before.monotonic}
	if next := b.checkClock(t.Context(), before, set); next != set {
		t.Errorf("compared with %v next, want %v", next, set)
	}
	waitFor(t, "the due time after the clock was set", func() bool { return f.runs("weekly") == 2 })
}

// TestUntilWork checks which jobs keep a client running, and for how long others let it stop.
func TestUntilWork(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	for _, c := range []struct {
		name, state, queue, at string
		want                   time.Duration
	}{
		{"waits in a queue of this process", "available", "mail", "now()", 0},
		{"waits in another queue", "available", "other", "now()", longestIdle},
		{"runs anywhere", "running", "other", "now()", 0},
		{"is to be repeated", "retryable", "other", "now() + interval '10 minutes'", 10 * time.Minute},
		{"is due", "retryable", "mail", "now() - interval '10 minutes'", 0},
		{"has a later time", "scheduled", "mail", "now() + interval '2 days'", longestIdle},
	} {
		tdb.Exec(`delete from river.river_job`)
		tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at) values ('x', '` +
			c.queue + `', '{}', 9, '` + c.state + `', ` + c.at + `)`)
		got, err := (onDemand{b}).untilWork(t.Context(), b.DB.Pgx())
		if err != nil || got > c.want || got < c.want-5*time.Minute && c.want > 0 {
			t.Errorf("a job that %s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
	tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
		select 'x', 'mail', '{}', 9, 'retryable', now() + interval '1 hour' from generate_series(1, 100)`)
	if got, err := (onDemand{b}).untilWork(t.Context(), b.DB.Pgx()); got != 0 || err != nil {
		t.Errorf("many waiting jobs: %s %v", got, err)
	}
}

func TestUntilSchedule(t *testing.T) {
	b := &Outbox{maintenance: maintenanceTimes, chores: []Chore{{Cron: "7 * * * *"}, {Cron: "wrong"}},
		functions: &fake{crons: map[string]string{"x": "30 12 * * *"}}}
	for at, want := range map[string]time.Duration{"12:06:59": time.Second, "12:10:00": 20 * time.Minute,
		"13:07:01": 59*time.Minute + 59*time.Second, "23:58:00": time.Minute, "23:59:30": 30 * time.Second,
		"00:04:59": time.Second} {
		now, err := time.Parse(time.TimeOnly, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := (onDemand{b}).untilSchedule(now); got != want {
			t.Errorf("at %s: %s, want %s", at, got, want)
		}
	}
}

// slow runs the job "slow" until it is released, and others at once.
type slow struct {
	fake
	began, release chan struct{}
	quick          chan struct{}
}

func (s *slow) RunJob(ctx context.Context, _, job string, _ []byte) error {
	if job != "slow" {
		s.quick <- struct{}{}
		return nil
	}
	close(s.began)
	select {
	case <-s.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestStopKeepsJobs checks that a job which began during the stop of a client runs to its end,
// while the next client runs other jobs.
func TestStopKeepsJobs(t *testing.T) {
	tdb := testdb.New(t)
	f := &slow{began: make(chan struct{}), release: make(chan struct{}), quick: make(chan struct{}, 1)}
	b := newOutbox(t, tdb, Options{}, f, true)
	add := func(job string) {
		send(t, b, func(batch *pgx.Batch) error { return b.Add(batch, edge.JobCall{Function: "x", Job: job}) })
	}
	add("slow")
	<-f.began
	b.stopClient(t.Context())
	add("quick")
	if !(onDemand{b}).beginAgain(t.Context(), nil) {
		t.Fatal("the next client did not start")
	}
	<-f.quick
	close(f.release)
	waitFor(t, "the end of both jobs", func() bool {
		return testdb.Value[int](tdb,
			`select count(*) from river.river_job where state = 'completed' and attempt = 1`) == 2
	})
}
