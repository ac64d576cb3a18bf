// Package edgetest runs an edge function in a test without a server:
//
//	f := edgetest.New(t, Func)
//	reply := f.Call(http.MethodPost, "/hello", `{"name":"Amina"}`)
//	if reply.Code != http.StatusOK { … }
//
// A Run records the notices and jobs that the function adds. Work for WaitUntil is done before Call
// returns. Env.Now returns Run.Time, Env.Get reads Run.Env, and Env.Limit fails if Run.Refuse is
// set.
//
// Env.Tx and Env.Batch need a database. DB gives the test a real one, with the project's
// migrations; row level security, limits, jobs and keys then work as in the stack, and
// Run.RunJobs, Run.RunSchedule and Run.Advance run what waits at the time that the test sets. With
// a connection or a pool of pgx as Run.DB, transactions have the role of the connection.
// Env.CleanImage returns the content unchanged.
//
// A schedule or a job runs with an environment of its own:
//
//	f.Caller = edge.Service
//	err := Func.Jobs["remind"].Run(t.Context(), f.NewEnv(), []byte(`{"clinic":"north"}`))
//
// Only tests import it.
package edgetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// Run is a function under test. A test may change its fields between calls.
type Run struct {
	Func   edge.Func
	Caller edge.Caller       // of the next calls; New sets anon
	Env    map[string]string // variables and secrets
	Time   time.Time         // the result of Env.Now; New sets the current time
	Refuse bool              // makes Env.Limit fail with status 429

	// DB runs transactions. Without it, Env.Tx fails. With edgetest.DB(t), limits, jobs and row
	// level security are real too.
	DB interface {
		Begin(context.Context) (pgx.Tx, error)
	}

	Notices []edge.Notice
	Jobs    []Enqueued

	t    testing.TB
	onDB *databaseHost
}

// functionName is the name of the function in its environment and its jobs.
const functionName = "test"

// Enqueued is a job that the function enqueued.
type Enqueued struct {
	Job  string
	Args any
}

// New returns a Run of a function.
func New(t testing.TB, f edge.Func) *Run {
	return &Run{Func: f.WithDefaults(), Caller: edge.Caller{Role: "anon"}, Env: map[string]string{}, Time: time.Now(),
		t: t}
}

// NewEnv returns the environment of a call by Caller. Set Caller to edge.Service for a schedule or
// a job.
func (r *Run) NewEnv() *edge.Env { return r.envOf(r.Caller) }

func (r *Run) envOf(caller edge.Caller) *edge.Env {
	return edge.NewEnv(recorder{r}, edge.Env{
		Function: functionName, ExecutionID: "00000000-0000-7000-8000-000000000000", Region: "local", Caller: caller,
		Log: slog.New(slog.NewTextHandler(r.t.Output(), nil)),
	}, "192.0.2.1")
}

// Call makes a request with a JSON body ("" for none) and returns the reply.
func (r *Run) Call(method, target, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return r.Do(req)
}

// Do runs the handler. Like the host, it sends an *edge.Error as a reply and any other error as
// status 500.
func (r *Run) Do(req *http.Request) *httptest.ResponseRecorder {
	r.t.Helper()
	w := httptest.NewRecorder()
	req.Body = http.MaxBytesReader(w, req.Body, r.Func.MaxBody)
	env := r.NewEnv()
	env.Traceparent = req.Header.Get("Traceparent")
	if err := r.Func.Handler(w, req, env); err != nil {
		if e, ok := edge.AsError(err); ok {
			e.Write(w)
		} else {
			r.t.Logf("the function failed: %v", err)
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	return w
}

// recorder implements edge.Host and records the work of the function.
type recorder struct{ run *Run }

var _ edge.Host = recorder{}

func (r recorder) Now() time.Time            { return r.run.Time }
func (r recorder) Secret(name string) string { return r.run.Env[name] }

func (r recorder) Tx(ctx context.Context, as edge.Caller, fn func(pgx.Tx) error) error {
	if real := r.run.real(); real != nil {
		return real.Tx(ctx, as, fn)
	}
	if r.run.DB == nil {
		return errors.New("edgetest: this test has no database")
	}
	return pgx.BeginFunc(ctx, r.run.DB, fn)
}

func (r recorder) Batch(ctx context.Context, as edge.Caller, b *pgx.Batch) error {
	if real := r.run.real(); real != nil {
		return real.Batch(ctx, as, b)
	}
	if b.Len() == 0 {
		return nil // the host has recorded its notices and jobs
	}
	return r.Tx(ctx, edge.Service, func(tx pgx.Tx) error { return tx.SendBatch(ctx, b).Close() })
}

func (r recorder) Add(b *pgx.Batch, w edge.Durable) error {
	switch w := w.(type) {
	case edge.Notice:
		r.run.Notices = append(r.run.Notices, w)
	case edge.JobCall:
		if r.run.Func.Jobs[w.Job].Run == nil {
			return errors.New("edgetest: the function has no job " + w.Job)
		}
		r.run.Jobs = append(r.run.Jobs, Enqueued{w.Job, w.Args})
	default:
		return fmt.Errorf("edgetest: unknown work %T", w)
	}
	if real := r.run.real(); real != nil {
		return real.Add(b, w)
	}
	return nil
}

// CleanImage returns the content unchanged.
func (r recorder) CleanImage(content []byte) (clean []byte, contentType string, ok bool) {
	return content, http.DetectContentType(content), true
}

// Span makes no span.
func (r recorder) Span(ctx context.Context, _ string, _ bool) (inside context.Context, traceparent string,
	end func(error)) {
	return ctx, "", func(error) {}
}

// Network returns the address itself, without a Database.
func (r recorder) Network(ctx context.Context, client string) (string, error) {
	if real := r.run.real(); real != nil {
		return real.Network(ctx, client)
	}
	return client, nil
}

func (r recorder) WaitUntil(_ *edge.Env, work func(context.Context) error) {
	if err := work(context.Background()); err != nil {
		r.run.t.Logf("background work failed: %v", err)
	}
}

func (r recorder) Key(ctx context.Context, name string) ([]byte, error) {
	if real := r.run.real(); real != nil {
		return real.Key(ctx, name)
	}
	key := sha256.Sum256([]byte(name))
	return key[:], nil
}

func (r recorder) Limit(ctx context.Context, b *pgx.Batch, client, name string, most int, per time.Duration) error {
	if r.run.Refuse {
		return edge.TooMany(per)
	}
	if real := r.run.real(); real != nil {
		return real.Limit(ctx, b, client, name, most, per)
	}
	return nil
}
