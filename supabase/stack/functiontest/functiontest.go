// Package functiontest runs functions on a real Postgres in tests. edgetest.DB is its API for tests of functions; no other
// package should import it.
package functiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/fnhost"
	"daawo/supabase/internal/outbox"
	"daawo/supabase/internal/photo"

	"github.com/jackc/pgx/v5"
)

// Database is a database with the platform's schema and the project's migrations, for one test.
type Database struct {
	t      testing.TB
	urls   map[string]string // by role
	pool   *db.Pool
	outbox *outbox.Outbox
}

// Open makes a database with the migrations of the project around the working folder: the nearest folder above that has a go.mod.
// The first call of a test binary starts Postgres and applies the migrations; further calls copy the result. The database is
// dropped when the test ends.
func Open(t testing.TB) *Database {
	t.Helper()
	root, err := projectRoot()
	if err != nil {
		t.Fatalf("edgetest: %v", err)
	}
	s := serverOf(t, root)
	m, err := s.make()
	if err != nil {
		t.Fatalf("edgetest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.drop(m.Name); err != nil {
			t.Errorf("edgetest: %v", err)
		}
	})
	d := &Database{t: t, urls: m.URLs}
	if d.pool, err = db.Open(t.Context(), db.Config{URL: m.URLs["postgres"], MaxConns: 8, ApplicationName: "edgetest"}); err != nil {
		t.Fatalf("edgetest: %v", err)
	}
	t.Cleanup(d.pool.Close)
	if d.outbox, err = outbox.New(outbox.Options{DB: d.pool, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatalf("edgetest: %v", err)
	}
	return d
}

func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no folder above %s has a go.mod", start)
		}
	}
}

// Begin starts a transaction as role postgres, for the test itself.
func (d *Database) Begin(ctx context.Context) (pgx.Tx, error) { return d.pool.Pgx().Begin(ctx) }

// Exec runs statements as role postgres.
func (d *Database) Exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.pool.Pgx().Exec(context.Background(), sql, args...); err != nil {
		d.t.Fatalf("edgetest: %s: %v", sql, err)
	}
}

// Query reads one value as a superuser into a pointer.
func (d *Database) Query(into any, sql string, args ...any) {
	d.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.urls["supabase_admin"])
	if err != nil {
		d.t.Fatalf("edgetest: %v", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, sql, args...).Scan(into); err != nil {
		d.t.Fatalf("edgetest: %s: %v", sql, err)
	}
}

// Host returns a host of one function on the database.
func (d *Database) Host(name string, f edge.Func, now func() time.Time, getenv func(string) string) *Host {
	d.t.Helper()
	h, err := fnhost.New(fnhost.Options{
		Functions: map[string]edge.Func{name: f}, DB: d.pool, Outbox: d.outbox, CleanImage: photo.Strip, Getenv: getenv, Now: now,
		Log: slog.New(slog.NewTextHandler(d.t.Output(), nil)),
	})
	if err != nil {
		d.t.Fatalf("edgetest: %v", err)
	}
	d.t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			d.t.Error(err)
		}
	})
	return &Host{Host: h.Services(), host: h, db: d, name: name}
}

// Host is the host of one function. Its edge.Host works as on the stack.
type Host struct {
	edge.Host
	host *fnhost.Host
	db   *Database
	name string
}

// RunSchedule runs the scheduled work of the function.
func (h *Host) RunSchedule(ctx context.Context) error { return h.host.RunSchedule(ctx, h.name) }

// Pass moves the times in the database into the past: limits and waiting jobs are that much older.
func (d *Database) Pass(ctx context.Context, by time.Duration) error {
	for _, q := range []string{
		`update edge_functions.request_limits set started_at = started_at - $1::interval`,
		`update river.river_job set scheduled_at = scheduled_at - $1::interval, created_at = created_at - $1::interval where finalized_at is null`,
	} {
		if _, err := d.pool.Pgx().Exec(ctx, q, by); err != nil {
			return err
		}
	}
	return nil
}

// Result is the result of one attempt of a job.
type Result struct {
	Job string // its name
	Err error  // nil for a completed one; an edge.SnoozeError for a snoozed one
}

// RunJobs runs the jobs of the function that are due, the most important and oldest first, until none is due. A failed or snoozed
// job waits for its next time, as on the stack.
func (h *Host) RunJobs(ctx context.Context) (results []Result, err error) {
	for {
		job, ok, err := h.next(ctx)
		if err != nil || !ok {
			return results, err
		}
		failure := h.host.RunJob(ctx, h.name, job.Job, job.Args)
		results = append(results, Result{job.Job, failure})
		if err := h.finish(ctx, job, failure); err != nil {
			return results, err
		}
	}
}

// dueJob is a row of river.river_job.
type dueJob struct {
	id      int64
	attempt int
	Job     string          `json:"job"`
	Args    json.RawMessage `json:"args"`
}

// next takes the next job that is due.
func (h *Host) next(ctx context.Context) (job dueJob, ok bool, err error) {
	const q = `
update river.river_job set state = 'running', attempt = attempt + 1, attempted_at = now()
 where id = (select id from river.river_job
              where kind = 'function_job' and args->>'function' = $1 and state in ('available', 'scheduled', 'retryable') and scheduled_at <= now()
              order by priority, scheduled_at, id limit 1)
returning id, attempt, args`
	var args []byte
	err = h.db.pool.Pgx().QueryRow(ctx, q, h.name).Scan(&job.id, &job.attempt, &args)
	if errors.Is(err, pgx.ErrNoRows) {
		return job, false, nil
	}
	if err != nil {
		return job, false, err
	}
	return job, true, json.Unmarshal(args, &job)
}

// finish records the result of an attempt as River does.
func (h *Host) finish(ctx context.Context, job dueJob, failure error) error {
	pool := h.db.pool.Pgx()
	if snooze, ok := errors.AsType[edge.SnoozeError](failure); ok {
		_, err := pool.Exec(ctx, `update river.river_job set state = 'scheduled', attempt = attempt - 1, scheduled_at = now() + $2::interval where id = $1`,
			job.id, snooze.After)
		return err
	}
	if failure == nil {
		_, err := pool.Exec(ctx, `update river.river_job set state = 'completed', finalized_at = now() where id = $1`, job.id)
		return err
	}
	const q = `
update river.river_job
   set state = case when attempt >= max_attempts then 'discarded' else 'retryable' end::river.river_job_state,
       finalized_at = case when attempt >= max_attempts then now() end,
       errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', $3::text, 'trace', '')),
       scheduled_at = now() + $2::interval
 where id = $1`
	_, err := pool.Exec(ctx, q, job.id, outbox.RetryPause(job.attempt), failure.Error())
	return err
}
