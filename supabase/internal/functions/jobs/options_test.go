package jobs

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// TestJobOptions checks unique jobs, priorities, attempts, times and the trace context of jobs.
func TestJobOptions(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	add := func(call edge.JobCall) {
		t.Helper()
		call.Function, call.Job = "f", "j"
		send(t, b, func(batch *pgx.Batch) error { return b.Add(batch, call) })
	}
	add(edge.JobCall{Unique: "a"})
	add(edge.JobCall{Unique: "a"}) // no second one
	add(edge.JobCall{Unique: "b", Priority: 3})
	add(edge.JobCall{MaxAttempts: 2, At: time.Now().Add(time.Hour)})
	add(edge.JobCall{At: time.Now().Add(-time.Hour), Traceparent: "00-x"})
	const shown = `select string_agg(concat_ws(' ', priority, max_attempts, state, metadata->>'traceparent'), ', ' order by id) from river.river_job`
	const want = "1 200 available, 3 200 available, 1 2 scheduled, 1 200 available 00-x"
	if got := testdb.Value[string](tdb, shown); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tdb.Exec(`update river.river_job set state = 'completed', finalized_at = now() where unique_key is not null`)
	add(edge.JobCall{Unique: "a"}) // the first one has ended
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job`); n != 5 {
		t.Errorf("%d jobs, want 5", n)
	}
	var batch pgx.Batch
	if err := b.Add(&batch, edge.JobCall{Function: "f", Job: "j", Priority: 5}); err == nil {
		t.Error("accepts priority 5")
	}
}

// changing has schedules that change.
type changing struct {
	mu    sync.Mutex
	crons map[string]string
	ran   map[string]int
	fail  bool
}

func (c *changing) set(crons map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crons = crons
}

func (c *changing) Schedules() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crons
}

func (c *changing) RunSchedule(_ context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran[name]++
	if c.fail {
		return errors.New("does not work")
	}
	return nil
}

func (c *changing) RunJob(context.Context, string, string, []byte) error { return nil }

func (c *changing) runs(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran[name]
}

// TestReschedule checks that a schedule that is added while the outbox runs is served, and a
// removed one is not.
func TestReschedule(t *testing.T) {
	f := &changing{crons: map[string]string{"old": "* * * * *"}, ran: map[string]int{}}
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	// due times before the installation are skipped
	tdb.Exec(`update river.river_migration set created_at = now() - interval '2 days'`)
	if err := b.Start(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	waitFor(t, "the first schedule", func() bool { return f.runs("old") > 0 })
	f.set(map[string]string{"new": "0 * * * *"})
	if err := b.Reschedule(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the added schedule", func() bool { return f.runs("new") == 1 })
	for range 2 { // the same id can be added again only if the old one was removed
		f.set(map[string]string{"new": "30 * * * *", "old": "0 * * * *"})
		if err := b.Reschedule(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.set(map[string]string{})
		if err := b.Reschedule(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.set(map[string]string{"new": "wrong"})
	if err := b.Reschedule(t.Context()); err == nil || !strings.Contains(err.Error(), "new") {
		t.Errorf("a wrong schedule: %v", err)
	}
}

// TestOperator lists, shows, retries, cancels and runs jobs.
func TestOperator(t *testing.T) {
	f := &changing{crons: map[string]string{}, ran: map[string]int{}, fail: true}
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, f, true)
	o := Operator{DB: b.DB}
	id, err := o.RunSchedule(t.Context(), "nightly")
	if err != nil {
		t.Fatal(err)
	}
	j, err := o.Await(t.Context(), id, 0)
	if err != nil || j.State != "discarded" || j.Name != "nightly" || len(j.Errors) != 1 ||
		j.Errors[0].Error != "does not work" {
		t.Fatalf("a failing run: %+v %v", j, err)
	}
	list, err := o.List(t.Context(), JobFilter{Limit: 10, Name: "nightly"})
	if err != nil || len(list) != 1 || list[0].Error != "does not work" || list[0].Args != nil {
		t.Errorf("list: %+v %v", list, err)
	}
	f.mu.Lock()
	f.fail = false
	f.mu.Unlock()
	if err := o.Retry(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if j, err := o.Await(t.Context(), id, 1); err != nil || j.State != "completed" {
		t.Errorf("retried: %+v %v", j, err)
	}
	if err := o.Cancel(t.Context(), id); err == nil {
		t.Error("cancels a completed job")
	}
}

// TestOperatorCancels cancels a job that waits, and checks the errors of wrong ids and states.
func TestOperatorCancels(t *testing.T) {
	b := newOutbox(t, testdb.New(t), Options{}, nil, false)
	o := Operator{DB: b.DB}
	send(t, b, func(batch *pgx.Batch) error {
		return b.Add(batch, edge.JobCall{Function: "f", Job: "later", At: time.Now().Add(time.Hour)})
	})
	list, err := o.List(t.Context(), JobFilter{Limit: 10, Name: "f", States: []string{"scheduled"}})
	if err != nil || len(list) != 1 || list[0].Name != "f/later" {
		t.Fatalf("list: %+v %v", list, err)
	}
	if err := o.Cancel(t.Context(), list[0].ID); err != nil {
		t.Error(err)
	}
	if j, err := o.Get(t.Context(), list[0].ID); err != nil || j.State != "cancelled" {
		t.Errorf("cancelled: %+v %v", j, err)
	}
	if _, err := o.Get(t.Context(), 999999); !errors.Is(err, ErrNoJob) {
		t.Errorf("an unknown job: %v", err)
	}
	if _, err := o.List(t.Context(), JobFilter{States: []string{"done"}}); err == nil {
		t.Error("an unknown state is accepted")
	}
}
