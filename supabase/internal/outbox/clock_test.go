package outbox

import (
	"testing"

	"daawo/supabase/internal/testdb"
)

// TestClockThatWasAhead: jobs and the leader's lease of a clock that was a year ahead do not wait for that year.
func TestClockThatWasAhead(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	for state, when := range map[string]string{"available": "1 year", "retryable": "1 year", "scheduled": "40 days"} {
		tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
			values ('x', 'x', '{}', 9, '` + state + `', now() + interval '` + when + `')`)
	}
	tdb.Exec(`insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at)
		values ('later', 'x', '{}', 9, 'retryable', now() + interval '1 hour')`)
	tdb.Exec(`insert into river.river_leader (leader_id, elected_at, expires_at) values ('gone', now() + interval '1 year', now() + interval '1 year')`)
	if err := b.straighten(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'x' and scheduled_at <= now()`); n != 3 {
		t.Errorf("%d of 3 jobs are due", n)
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'later' and scheduled_at > now() + interval '50 minutes'`); n != 1 {
		t.Error("a job that waits for its time was hurried")
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_leader`); n != 0 {
		t.Error("the lease of the future holds")
	}
}
