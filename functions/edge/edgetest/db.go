package edgetest

import (
	"context"
	"testing"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/stack/functiontest"

	"github.com/jackc/pgx/v5"
)

// Database is a real Postgres database with the schema of the platform and the project's migrations.
type Database struct {
	db *functiontest.Database
}

// DB makes a database for one test. Set it as Run.DB:
//
//	f := edgetest.New(t, Func)
//	f.DB = edgetest.DB(t)
//
// Transactions then have the role and claims of their caller, so row level security holds; Env.Limit counts, Env.Enqueue stores,
// and Run.RunJobs runs the stored jobs. The first call in a test binary starts Postgres, which takes a second or two. Further
// calls copy the migrated database in milliseconds. Seeds are not loaded. Postgres comes from the program daawo, which must be in
// PATH or named by the variable DAAWO, except in a module that has the source of the stack.
func DB(t testing.TB) *Database {
	t.Helper()
	return &Database{functiontest.Open(t)}
}

// Begin starts a transaction as role postgres, which owns the project's tables.
func (d *Database) Begin(ctx context.Context) (pgx.Tx, error) { return d.db.Begin(ctx) }

// Exec runs statements as role postgres. An error ends the test.
func (d *Database) Exec(sql string, args ...any) { d.db.Exec(sql, args...) }

// Value runs a query as a superuser and returns its only value. An error ends the test.
func Value[T any](d *Database, sql string, args ...any) (v T) {
	d.db.Query(&v, sql, args...)
	return v
}

// Ran is the result of one attempt of a job.
type Ran struct {
	Job string // its name
	Err error  // nil for a completed one
}

// real returns the host on Run.DB, nil if Run.DB is not a Database.
func (r *Run) real() *functiontest.Host {
	d, ok := r.DB.(*Database)
	if !ok {
		return nil
	}
	if r.onDB == nil {
		r.onDB = d.db.Host(functionName, r.Func, func() time.Time { return r.Time }, func(name string) string { return r.Env[name] })
	}
	return r.onDB
}

// RunJobs runs the jobs that are due, and those that they add, until none is due. A failed job waits for its next time, see Advance.
// It needs a Database.
func (r *Run) RunJobs() []Ran {
	r.t.Helper()
	h := r.real()
	if h == nil {
		r.t.Fatal("edgetest: RunJobs needs Run.DB = edgetest.DB(t)")
	}
	results, err := h.RunJobs(r.t.Context())
	if err != nil {
		r.t.Fatalf("edgetest: %v", err)
	}
	var ran []Ran
	for _, result := range results {
		ran = append(ran, Ran(result))
	}
	return ran
}

// RunSchedule runs Func.Run once as the service.
func (r *Run) RunSchedule() error {
	r.t.Helper()
	if r.Func.Run == nil {
		r.t.Fatal("edgetest: the function has no schedule")
	}
	if h := r.real(); h != nil {
		return h.RunSchedule(r.t.Context())
	}
	return r.Func.Run(r.t.Context(), r.envOf(edge.Service))
}

// Advance moves the clock of the function forward. With a Database, waiting jobs and counted limits become that much older.
// now() of SQL stays the real time.
func (r *Run) Advance(by time.Duration) {
	r.t.Helper()
	r.Time = r.Time.Add(by)
	if d, ok := r.DB.(*Database); ok {
		if err := d.db.Pass(r.t.Context(), by); err != nil {
			r.t.Fatalf("edgetest: %v", err)
		}
	}
}
