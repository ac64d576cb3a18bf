// Package rest answers HTTP requests in PostgREST's dialect over the schemas of a database.
//
// A request goes one way: grammar reads the URL and headers into an ast, plan resolves that against the schema, sql writes
// one statement, the engine runs it under the caller's role in one round trip, and the bytes that Postgres made are the
// reply. The gateway (or the stand-alone server of package pgrst) puts it behind a port; below it are db and wire.
package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest/schema"
	"daawo/supabase/internal/wire"
)

// Options are what an Engine is made of.
type Options struct {
	Pool   *db.Pool // logs in as the authenticator role
	Config Config
	// Replica answers a GET of one of ReplicaTables and nothing else, when that may be a little old; nil for none.
	Replica       *db.Replica
	ReplicaTables []string // schema.name
	// Configure reads the configuration anew when a notification asks for that; nil keeps it.
	Configure func(context.Context) (Config, error)
	Log       *slog.Logger     // nil means slog.Default()
	Now       func() time.Time // nil means time.Now
}

// Engine is an http.Handler rooted as PostgREST's root. Start loads the schema; until it is loaded every request is
// answered with 503.
type Engine struct {
	pool   *db.Pool
	stale  stale
	log    *slog.Logger
	now    func() time.Time
	state  atomic.Pointer[state]
	tokens tokenCache
	loader loader
	counts counts
	rooms  sync.Pool // of *room
}

// counts are what the engine did, for metrics.
type counts struct {
	loads, failedLoads              atomic.Int64
	loadTime                        atomic.Int64 // of the last load, in nanoseconds
	tokens, tokenHits, tokenEvicted atomic.Int64
}

// Stats are counters since the engine was made.
type Stats struct {
	Loads, FailedLoads                     int64         // of the schema
	LoadTime                               time.Duration // of the last one
	TokenLookups, TokenHits, TokensEvicted int64         // of the cache of verified tokens
}

// Stats reads the counters.
func (e *Engine) Stats() Stats {
	c := &e.counts
	return Stats{c.loads.Load(), c.failedLoads.Load(), time.Duration(c.loadTime.Load()),
		c.tokens.Load(), c.tokenHits.Load(), c.tokenEvicted.Load()}
}

// state is everything a request depends on that can be reloaded, replaced as a whole.
type state struct {
	config Config
	cache  *schema.Cache // nil until it is loaded
	loads  uint64        // how often it was
	roles  map[string]roleSettings
	memory memory
	frames frames
}

// New makes an engine. It does not touch the database.
func New(o Options) (*Engine, error) {
	if o.Pool == nil {
		return nil, errors.New("rest: a pool is needed")
	}
	if len(o.Config.Schemas) == 0 {
		return nil, errors.New("rest: at least one schema has to be exposed")
	}
	e := &Engine{pool: o.Pool, stale: stale{o.Replica, o.ReplicaTables}, log: o.Log, now: o.Now}
	if e.log == nil {
		e.log = slog.Default()
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.state.Store(&state{config: o.Config})
	e.loader.init(e, o.Configure)
	return e, nil
}

// SetConfig replaces the configuration; the schema is read anew in the background when it depends on it.
func (e *Engine) SetConfig(c Config) {
	e.replaceConfig(c)
	e.Reload()
}

func (e *Engine) replaceConfig(c Config) {
	for {
		old := e.state.Load()
		if e.state.CompareAndSwap(old, &state{config: c, cache: old.cache, loads: old.loads, roles: old.roles}) {
			break
		}
	}
	e.tokens.clear()
}

// Config gives the configuration in use.
func (e *Engine) Config() Config { return e.state.Load().config }

// Schema gives the schema as it was last read, nil before that.
func (e *Engine) Schema() *schema.Cache { return e.state.Load().cache }

// ServeHTTP answers one request.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := e.state.Load()
	if s.config.TraceHeader != "" {
		w.Header().Set(s.config.TraceHeader, r.Header.Get(s.config.TraceHeader))
	}
	if !s.config.NoCORS && s.cors(w, r) {
		return
	}
	if err := e.serve(r.Context(), s, w, r); err != nil {
		e.fail(s, w, r, err)
	}
}

// fail answers with an error. What is no wire.Error is a mistake of ours: it is logged and not shown.
func (e *Engine) fail(s *state, w http.ResponseWriter, r *http.Request, err error) {
	we, ok := wire.AsError(err)
	if !ok {
		if r.Context().Err() != nil {
			return // the client is gone
		}
		e.log.ErrorContext(r.Context(), "rest: request failed", "method", r.Method, "error", err)
		we = wire.Errorf(http.StatusInternalServerError, "PGRSTX00", "Internal error")
	}
	if we.Status == http.StatusServiceUnavailable && we.Header.Get("Retry-After") == "" {
		we = we.WithHeader("Retry-After", e.loader.retryAfter())
	}
	if we.Status >= 500 {
		e.log.WarnContext(r.Context(), "rest: error reply", "method", r.Method, "status", we.Status, "code", we.Code, "error", err)
	}
	if r.Method == http.MethodHead {
		w = headWriter{w}
	}
	wire.WriteRest(w, we, s.config.MinimalErrors)
}

// headWriter drops bodies. net/http does that too, but keeps their Content-Length.
type headWriter struct{ http.ResponseWriter }

func (headWriter) Write(b []byte) (int, error) { return len(b), nil }

// Start loads the schema and keeps it up to date until ctx ends or Close is called. It returns when the schema has been
// loaded, or has failed to for the first time.
func (e *Engine) Start(ctx context.Context) error { return e.loader.start(ctx) }

// Close stops the background work. The pool stays open: it is its owner's.
func (e *Engine) Close(ctx context.Context) error { return e.loader.stop(ctx) }

// Reload asks for the schema to be read again. Requests go on with the old one meanwhile.
func (e *Engine) Reload() { e.loader.ask(false) }

// ReloadConfig asks for the configuration to be read again by Options.Configure, and then the schema.
func (e *Engine) ReloadConfig() { e.loader.ask(true) }

// Loading says whether the schema is waited for: it is being read anew because an attempt failed.
func (e *Engine) Loading() bool { return e.loader.delay.Load() > 0 }
