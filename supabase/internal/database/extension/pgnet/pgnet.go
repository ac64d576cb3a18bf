// Package pgnet sends the HTTP requests of the database. A Worker does it for the extension pg_net:
// it reads net.http_request_queue and writes net._http_response. A Server does it for the extension
// http.
//
// Only app imports it.
package pgnet

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"daawo/supabase/internal/database/extension/lead"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// Options configure a Worker.
type Options struct {
	DB      *pool.Pool // as a superuser, to the database with the queue
	Targets Targets
	Log     *slog.Logger
}

// Worker implements lead.Worker.
type Worker struct {
	o    Options
	http *client
}

// New returns a worker.
func New(o Options) *Worker { return &Worker{o: o, http: newClient(o.Targets)} }

// Channel returns the channel that net.wake notifies.
func (w *Worker) Channel() string { return "daawo_pg_net" }

const (
	maxBatch = 64 // requests at the same time
	sweep    = time.Minute
	retry    = 5 * time.Second
	keepFor  = "6 hours" // pg_net's default of pg_net.ttl
)

// sender is the state of Run.
type sender struct {
	*Worker
	installed bool
	batch     int
	ttl       string
	inFlight  map[int64]bool
	ended     chan int64
	ready     bool
}

// Run sends requests until ctx ends. A request leaves the queue when its response
// is stored, so a crash repeats it and never loses it.
func (w *Worker) Run(ctx context.Context, wake <-chan lead.Wake) {
	s := &sender{Worker: w, inFlight: map[int64]bool{}, ended: make(chan int64)}
	defer w.http.close()
	defer func() {
		for len(s.inFlight) > 0 {
			delete(s.inFlight, <-s.ended)
		}
	}()
	s.work(ctx, true, true)
	for {
		wait := sweep
		if !s.ready {
			wait = retry
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case id := <-s.ended:
			delete(s.inFlight, id)
			s.work(ctx, false, false)
		case wake := <-wake:
			s.work(ctx, wake.Changed, false)
		case <-timer.C:
			s.work(ctx, !s.ready, true)
			if len(s.inFlight) == 0 { // an idle server needs no connection
				s.o.DB.CloseIdle(ctx)
			}
		}
		timer.Stop()
	}
}

// work starts requests of the queue. changed means that the settings may have
// changed, tidy that old responses are deleted.
func (s *sender) work(ctx context.Context, changed, tidy bool) {
	err := s.try(ctx, changed, tidy)
	s.ready = err == nil
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("pg_net: reading the queue failed; retrying", "error", err)
	}
}

func (s *sender) try(ctx context.Context, changed, tidy bool) error {
	if changed {
		if err := s.readSettings(ctx); err != nil {
			return err
		}
	}
	if !s.installed {
		return nil
	}
	if tidy {
		if _, err := s.o.DB.Pgx().Exec(ctx, `delete from net._http_response where created < now() - $1::text::interval`,
			s.ttl); err != nil {
			return err
		}
	}
	for len(s.inFlight) < s.batch {
		all, err := s.next(ctx, s.batch-len(s.inFlight))
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return nil
		}
		for _, r := range all {
			s.inFlight[r.ID] = true
			go func() {
				s.send(ctx, r)
				s.ended <- r.ID
			}()
		}
	}
	return nil
}

func (s *sender) readSettings(ctx context.Context) (err error) {
	s.batch, s.ttl = maxBatch, keepFor
	if s.installed, err = lead.Installed(ctx, s.o.DB, "pg_net", "net.wake()"); err != nil || !s.installed {
		return err
	}
	all, err := lead.Settings(ctx, s.o.DB, "pg_net")
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(all["pg_net.batch_size"]); err == nil && n > 0 {
		s.batch = min(n, maxBatch)
	}
	if ttl := all["pg_net.ttl"]; ttl != "" {
		var valid bool
		if err := s.o.DB.Pgx().QueryRow(ctx, `select pg_input_is_valid($1, 'interval')`,
			ttl).Scan(&valid); err == nil && valid {
			s.ttl = ttl
		} else {
			s.o.Log.Warn("pg_net: the setting pg_net.ttl is not an interval; using the default", "default", keepFor)
		}
	}
	return nil
}

// request is a row of the queue.
type request struct {
	ID      int64
	Method  string
	URL     string
	Headers map[string]string
	Body    []byte
	Timeout int // milliseconds
}

// next returns the oldest requests that are not being sent.
func (s *sender) next(ctx context.Context, limit int) ([]request, error) {
	busy := make([]int64, 0, len(s.inFlight))
	for id := range s.inFlight {
		busy = append(busy, id)
	}
	rows, err := s.o.DB.Pgx().Query(ctx, `
		select id, method::text as method, url, timeout_milliseconds as timeout, body,
		       (select jsonb_object_agg(key, coalesce(value, ''))
		           from jsonb_each_text(case jsonb_typeof(headers) when 'object' then headers end)) as headers
		from net.http_request_queue where id <> all ($1) order by id limit $2`, busy, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[request])
}

// storeTimeout limits storing a response while the process stops.
const storeTimeout = 3 * time.Second

// send sends a request and stores the response.
func (s *sender) send(ctx context.Context, r request) {
	response := s.http.do(ctx, r)
	if ctx.Err() != nil {
		return // the request stays in the queue
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	_, err := s.o.DB.Pgx().Exec(ctx, `
		with sent as (delete from net.http_request_queue where id = $1)
		insert into net._http_response (id, status_code, content_type, headers, content, timed_out, error_msg)
		values ($1, $2, $3, $4, $5, $6, $7)`,
		r.ID, response.status, response.contentType, response.headers, response.content, response.timedOut,
		response.failure)
	if err != nil {
		s.o.Log.Warn("pg_net: storing a response failed; the request is repeated", "id", r.ID, "error", err)
		select { // do not repeat it at once
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
}
