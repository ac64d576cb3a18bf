package edgetest

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

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/photo"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"

	"github.com/jackc/pgx/v5"
)

// Database is a real Postgres database with the schema of the platform and the project's
// migrations, for one test.
type Database struct {
	t      testing.TB
	urls   map[string]string // by role
	pool   *pool.Pool
	outbox *jobs.Outbox
}

// DB makes a database for one test. Set it as Run.DB:
//
//	f := edgetest.New(t, Func)
//	f.DB = edgetest.DB(t)
//
// Transactions then have the role and claims of their caller, so row level security holds;
// Env.Limit counts, Env.Enqueue stores, and Run.RunJobs runs the stored jobs. The project is the
// nearest folder above the working folder that has a go.mod. The first call in a test binary starts
// Postgres, which takes a second or two. Further calls copy the migrated database in milliseconds,
// and the copy is dropped when the test ends. Seeds are not loaded. Postgres comes from the program
// daawo, which must be in PATH or named by the variable DAAWO, except in a module that has the
// source of the stack.
func DB(t testing.TB) *Database {
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
	if d.pool, err = pool.Open(t.Context(),
		pool.Config{URL: m.URLs["postgres"], MaxConns: 8, ApplicationName: "edgetest"}); err != nil {
		t.Fatalf("edgetest: %v", err)
	}
	t.Cleanup(d.pool.Close)
	if d.outbox, err = jobs.New(jobs.Options{DB: d.pool, Log: slog.New(slog.DiscardHandler)}); err != nil {
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

// Begin starts a transaction as role postgres, which owns the project's tables.
func (d *Database) Begin(ctx context.Context) (pgx.Tx, error) { return d.pool.Pgx().Begin(ctx) }

// Exec runs statements as role postgres. An error ends the test.
func (d *Database) Exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.pool.Pgx().Exec(context.Background(), sql, args...); err != nil {
		d.t.Fatalf("edgetest: %s: %v", sql, err)
	}
}

// Value runs a query as a superuser and returns its only value. An error ends the test.
func Value[T any](d *Database, sql string, args ...any) (v T) {
	d.t.Helper()
	d.query(&v, sql, args...)
	return v
}

// query reads one value as a superuser into a pointer.
func (d *Database) query(into any, sql string, args ...any) {
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

// hostOf returns a host of one function on the database.
func (d *Database) hostOf(name string, f edge.Func, now func() time.Time, getenv func(string) string) *databaseHost {
	d.t.Helper()
	h, err := host.New(host.Options{
		Functions: map[string]edge.Func{name: f}, DB: d.pool, Outbox: d.outbox, CleanImage: photo.Strip, Getenv: getenv,
		Now: now, Log: slog.New(slog.NewTextHandler(d.t.Output(), nil)),
	})
	if err != nil {
		d.t.Fatalf("edgetest: %v", err)
	}
	d.t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			d.t.Error(err)
		}
	})
	return &databaseHost{Host: h.Services(), host: h, db: d, name: name}
}

// databaseHost is the host of one function. Its edge.Host works as on the stack.
type databaseHost struct {
	edge.Host
	host *host.Host
	db   *Database
	name string
}

// runSchedule runs the scheduled work of the function.
func (h *databaseHost) runSchedule(ctx context.Context) error { return h.host.RunSchedule(ctx, h.name) }

// age moves the times in the database into the past: limits and waiting jobs are that much older.
func (d *Database) age(ctx context.Context, by time.Duration) error {
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

// Ran is the result of one attempt of a job.
type Ran struct {
	Job string // its name
	Err error  // nil for a completed one; an edge.SnoozeError for a snoozed one
}

// runJobs runs the jobs of the function that are due, the most important and oldest first, until
// none is due. A failed or snoozed job waits for its next time, as on the stack.
func (h *databaseHost) runJobs(ctx context.Context) (results []Ran, err error) {
	for {
		job, ok, err := h.next(ctx)
		if err != nil || !ok {
			return results, err
		}
		failure := h.host.RunJob(ctx, h.name, job.Job, job.Args)
		results = append(results, Ran{job.Job, failure})
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
func (h *databaseHost) next(ctx context.Context) (job dueJob, ok bool, err error) {
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
func (h *databaseHost) finish(ctx context.Context, job dueJob, failure error) error {
	pool := h.db.pool.Pgx()
	if snooze, ok := errors.AsType[edge.SnoozeError](failure); ok {
		_, err := pool.Exec(ctx,
			`update river.river_job set state = 'scheduled', attempt = attempt - 1, scheduled_at = now() + $2::interval where id = $1`, job.id, snooze.After)
		return err
	}
	if failure == nil {
		_, err := pool.Exec(ctx, `update river.river_job set state = 'completed', finalized_at = now() where id = $1`,
			job.id)
		return err
	}
	const q = `
update river.river_job
   set state = case when attempt >= max_attempts then 'discarded' else 'retryable' end::river.river_job_state,
       finalized_at = case when attempt >= max_attempts then now() end,
       errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', $3::text, 'trace', '')),
       scheduled_at = now() + $2::interval
 where id = $1`
	_, err := pool.Exec(ctx, q, job.id, jobs.RetryPause(job.attempt), failure.Error())
	return err
}
