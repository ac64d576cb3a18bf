package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// TestChoreRunsOnceAcrossReplicas checks that one of two replicas runs a due chore, and retries it
// after a failure.
func TestChoreRunsOnceAcrossReplicas(t *testing.T) {
	tdb := testdb.New(t)
	var done atomic.Int32
	daily := Chore{Name: "daily", Cron: "0 3 * * *", Do: func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a chore has no deadline")
		}
		if done.Add(1) == 1 {
			return errors.New("the first attempt fails")
		}
		return nil
	}}
	boxes := []*Outbox{newOutbox(t, tdb, Options{}, nil, false), newOutbox(t, tdb, Options{}, nil, false)}
	tdb.Exec(`update river.river_migration set created_at = now() - interval '2 days'`) // so that a due time was missed
	for _, b := range boxes {
		b.Chores(daily)
		if err := b.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close(context.Background()) })
	}
	waitFor(t, "the first attempt", func() bool {
		return testdb.Value[int](tdb,
			`select count(*) from river.river_job where kind = 'chore' and state = 'retryable'`) == 1
	})
	tdb.Exec(`update river.river_job set scheduled_at = now(), state = 'available' where kind = 'chore'`)
	tdb.Exec(`select pg_notify('river.river_insert', '{"queue":"chore"}')`) // as an insert sends
	waitFor(t, "the end", func() bool {
		return testdb.Value[int](tdb,
			`select count(*) from river.river_job where kind = 'chore' and state = 'completed'`) == 1
	})
	if n := done.Load(); n != 2 {
		t.Errorf("it ran %d times", n)
	}
}
