package host

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/jobs"

	"github.com/jackc/pgx/v5"
)

// TestJobMaxConcurrent checks that a job with MaxConcurrent 1 never runs twice at once, that the
// others are snoozed, and that jobs without a limit are not.
func TestJobMaxConcurrent(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	job := func(context.Context, *edge.Env, []byte) error {
		entered <- struct{}{}
		<-release
		return nil
	}
	h := hosting(t, map[string]edge.Func{"f": {Jobs: map[string]edge.Job{"one": {Run: job, MaxConcurrent: 1},
		"many": {Run: job}}}}, func(o *Options) { o.JobWait = 10 * time.Millisecond })
	results := make(chan error, 4)
	run := func(name string) { results <- h.RunJob(t.Context(), "f", name, nil) }
	go run("one")
	<-entered
	for range 3 {
		var snooze edge.SnoozeError
		if err := h.RunJob(t.Context(), "f", "one", nil); !errors.As(err, &snooze) || snooze.After <= 0 {
			t.Errorf("a second job: %v", err)
		}
	}
	for range 2 {
		go run("many")
		<-entered
	}
	close(release)
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	go run("one")
	<-entered
	if err := <-results; err != nil {
		t.Errorf("after the first one: %v", err)
	}
}

// TestJobSlotAfterFailure checks that a job which fails or panics makes room for the next one.
func TestJobSlotAfterFailure(t *testing.T) {
	h := hosting(t, map[string]edge.Func{"f": {Jobs: map[string]edge.Job{"j": {MaxConcurrent: 1,
		Run: func(_ context.Context, _ *edge.Env, args []byte) error {
			if string(args) == "panic" {
				panic("x")
			}
			return errors.New("fails")
		}}}}})
	for _, args := range []string{"panic", "error", "panic", "error"} {
		if err := h.RunJob(t.Context(), "f", "j", []byte(args)); err == nil ||
			strings.Contains(err.Error(), "snoozed") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestJobsInOutbox checks jobs with MaxConcurrent 1 in a real queue: none overlap, and neither
// waiting nor a snooze counts as an attempt.
func TestJobsInOutbox(t *testing.T) {
	for name, wait := range map[string]time.Duration{"waiting": 5 * time.Second, "snoozed": time.Millisecond} {
		t.Run(name, func(t *testing.T) { jobsInOutbox(t, wait) })
	}
}

func jobsInOutbox(t *testing.T, wait time.Duration) {
	tdb := newDatabase(t)
	var running, most, ran atomic.Int64
	var box *jobs.Outbox
	h := hostingAt(t, tdb, map[string]edge.Func{"f": {
		NoVerifyJWT: true,
		Handler: func(_ http.ResponseWriter, r *http.Request, env *edge.Env) error {
			b := env.Batch(edge.Service)
			for n := range 4 {
				b.Enqueue("j", n)
			}
			return b.Send(r.Context())
		},
		Jobs: map[string]edge.Job{"j": {MaxConcurrent: 1, Run: func(context.Context, *edge.Env, []byte) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(50 * time.Millisecond)
			running.Add(-1)
			ran.Add(1)
			return nil
		}}},
	}}, func(o *Options) {
		var err error
		if box, err = jobs.New(jobs.Options{DB: o.DB, Log: slog.New(slog.DiscardHandler)}); err != nil {
			t.Fatal(err)
		}
		if err := box.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.Outbox, o.JobWait = box, wait
	})
	if w := serve(h, "POST", "/f", nil); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	if err := box.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = box.Close(context.Background()) }()
	for end := time.Now().Add(30 * time.Second); testdb.Value[int](tdb,
		`select count(*) from river.river_job where state = 'completed'`) < 4; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(testdb.Value[string](tdb, `select string_agg(to_jsonb(j)::text, ' ') from river.river_job j`))
		}
	}
	if most.Load() != 1 || ran.Load() != 4 {
		t.Errorf("%d runs, %d at once, want 4 and 1", ran.Load(), most.Load())
	}
	if n := testdb.Value[int](tdb,
		`select count(*) from river.river_job where attempt <> 1 or errors is not null`); n != 0 {
		t.Errorf("waiting counts as an attempt for %d jobs", n)
	}
}

// TestUnknownJob checks that an unknown job is rejected when it is added and when it runs.
func TestUnknownJob(t *testing.T) {
	h := hosting(t, map[string]edge.Func{"f": {NoVerifyJWT: true, Handler: hello}})
	if err := h.services.Add(&pgx.Batch{}, edge.JobCall{Function: "f", Job: "j"}); err == nil ||
		!strings.Contains(err.Error(), `no job "j"`) {
		t.Errorf("adding: %v", err)
	}
	if err := h.RunJob(t.Context(), "f", "j", nil); err == nil || !strings.Contains(err.Error(), `no job "j"`) {
		t.Errorf("running: %v", err)
	}
}
