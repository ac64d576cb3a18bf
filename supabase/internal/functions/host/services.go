package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// services implements edge.Host.
type services struct {
	host *Host
	keys sync.Map // name → []byte
	salt saltCache
}

var _ edge.Host = (*services)(nil)

// Services returns what the environments of calls are made of, for package edgetest.
func (h *Host) Services() edge.Host { return h.services }

func (s *services) Now() time.Time            { return s.host.Now() }
func (s *services) Secret(name string) string { return s.host.Getenv(name) }

// Tx runs fn as the caller. If the database is unavailable or full, it returns an *edge.Error with
// Retry-After.
func (s *services) Tx(ctx context.Context, as edge.Caller, fn func(pgx.Tx) error) error {
	if s.host.DB == nil {
		return errNoDatabase
	}
	caller, options := pool.Caller{Role: as.Role, Claims: string(as.Claims)}, pgx.TxOptions{}
	if as.IsService() && caller.Claims == "" {
		// The most frequent case needs one round trip instead of two.
		caller, options = pool.Caller{}, pgx.TxOptions{BeginQuery: "begin; set local role service_role"}
	}
	return public(s.host.DB.Tx(ctx, caller, options, fn))
}

// public turns errors of an unavailable or full database, and of limits, into an *edge.Error. It
// returns others unchanged.
func public(err error) error {
	if _, ok := edge.AsError(err); ok || err == nil {
		return err
	}
	if e, ok := tooMany(err); ok {
		return e
	}
	e := &edge.Error{Err: err, Header: http.Header{"Retry-After": {"2"}}}
	switch {
	case pool.IsDiskFull(err):
		e.Status, e.Code, e.Message = http.StatusInsufficientStorage, "storage_full",
			"The database is full. Please try again later."
	case pool.IsUnavailable(err):
		e.Status, e.Code, e.Message = http.StatusServiceUnavailable, "unavailable",
			"The database is not available. Please try again."
	default:
		return err
	}
	return e
}

// Batch sends the statements as the caller in one round trip.
func (s *services) Batch(ctx context.Context, as edge.Caller, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if s.host.DB == nil {
		return errNoDatabase
	}
	return public(s.host.DB.Batch(ctx, pool.Caller{Role: as.Role, Claims: string(as.Claims)}, b))
}

var (
	errNoDatabase = errors.New("the host of functions has no database")
	errNoOutbox   = errors.New("the host of functions has no outbox")
)

// Add adds durable work to a batch.
func (s *services) Add(b *pgx.Batch, w edge.Durable) error {
	if call, ok := w.(edge.JobCall); ok {
		f, known := s.host.lookup(call.Function)
		if !known || f.Jobs[call.Job].Run == nil {
			return fmt.Errorf("function %q has no job %q", call.Function, call.Job)
		}
		job := f.Jobs[call.Job]
		call.Priority, call.MaxAttempts = cmp.Or(call.Priority, job.Priority), cmp.Or(call.MaxAttempts, job.MaxAttempts)
		w = call
	}
	if s.host.Outbox == nil {
		return errNoOutbox
	}
	return s.host.Outbox.Add(b, w)
}

// Span begins a span.
func (s *services) Span(ctx context.Context, name string, client bool) (inside context.Context, traceparent string,
	end func(error)) {
	if s.host.Traces == nil {
		return ctx, "", func(error) {}
	}
	kind := tracing.Internal
	if client {
		kind = tracing.Client
	}
	inside, end = s.host.Traces.Start(ctx, name, kind)
	return inside, tracing.Traceparent(inside), end
}

// CleanImage removes the metadata of a picture.
func (s *services) CleanImage(content []byte) (clean []byte, contentType string, ok bool) {
	if s.host.Parent != nil {
		return s.host.Parent.CleanImage(content)
	}
	if s.host.CleanImage == nil {
		return content, "", false
	}
	return s.host.CleanImage(content)
}

// WaitUntil runs work that may continue after the reply. Close waits for it.
func (s *services) WaitUntil(env *edge.Env, work func(context.Context) error) {
	h := s.host
	h.work.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				env.Log.Error("background work panicked", "panic", v)
			}
		}()
		if err := work(h.lifetime); err != nil {
			env.Log.Error("background work failed", "error", err)
		}
	})
}

// Key returns a secret key and creates it at its first use. Concurrent replicas get the same key.
func (s *services) Key(ctx context.Context, name string) ([]byte, error) {
	if key, ok := s.keys.Load(name); ok {
		return key.([]byte), nil
	}
	var key []byte
	err := s.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into edge_functions.secrets (name) values ($1) on conflict do nothing`,
			name); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select value from edge_functions.secrets where name = $1`, name).Scan(&key)
	})
	if err != nil {
		return nil, err
	}
	s.keys.Store(name, key)
	return key, nil
}
