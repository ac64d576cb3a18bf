// Package rest answers HTTP requests in PostgREST's dialect over the schemas of a database.
//
// A request passes these steps: grammar parses the URL and headers into an ast, plan resolves the
// ast against the schema, sql writes one statement, and the engine runs the statement under the
// caller's role in one round trip. The bytes that Postgres returns are the reply. The gateway, or
// the stand-alone server of package pgrst, serves it on a port.
package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/schema"
)

// Options configure an Engine.
type Options struct {
	Pool   *pool.Pool // logs in as the authenticator role
	Config Config
	// Replica answers plain reads of ReplicaTables, which tolerate replica lag, and nothing else;
	// nil for none.
	Replica       *pool.Replica
	ReplicaTables []string // schema.name
	// Configure reads the configuration again when a notification asks for it; nil keeps the
	// configuration.
	Configure func(context.Context) (Config, error)
	// Report is called after each request. The engine then leaves the log of requests, error
	// replies and SQL to it. nil is none.
	Report func(*http.Request, *Report)
	// Failed is told why the schema could not be loaded or the connection that listens is lost. The
	// engine tries again either way. nil is none.
	Failed func(error)
	// BodyTimeout is how long a request may send nothing of its body; 0 means 30 s.
	BodyTimeout time.Duration
	Log         *slog.Logger     // nil means slog.Default()
	Now         func() time.Time // nil means time.Now
}

// Engine is an http.Handler with the paths of PostgREST. Start loads the schema; until then every
// request gets 503.
type Engine struct {
	pool         *pool.Pool
	replicaReads replicaReads
	log          *slog.Logger
	now          func() time.Time
	failed       func(error)
	report       func(*http.Request, *Report)
	bodyTimeout  time.Duration
	state        atomic.Pointer[state]
	loader       loader
	counts       counts
	buffers      bufferPool
}

// counts are counters for metrics.
type counts struct {
	loads, failedLoads              atomic.Int64
	loadTime                        atomic.Int64 // duration of the last load, in nanoseconds
	tokens, tokenHits, tokenEvicted atomic.Int64
}

// Stats are counters since New.
type Stats struct {
	Loads, FailedLoads                     int64         // loads of the schema
	LoadTime                               time.Duration // duration of the last load
	TokenLookups, TokenHits, TokensEvicted int64         // uses of the cache of verified tokens
}

// Stats returns the counters.
func (e *Engine) Stats() Stats {
	c := &e.counts
	return Stats{c.loads.Load(), c.failedLoads.Load(), time.Duration(c.loadTime.Load()),
		c.tokens.Load(), c.tokenHits.Load(), c.tokenEvicted.Load()}
}

// state is everything that a request depends on and that can be reloaded. A reload replaces the
// whole state.
type state struct {
	config      Config
	schemaCache *schema.Cache // nil until the first load
	loads       uint64        // the number of loads so far
	roles       map[string]roleSettings

	tokens   tokenCache // replaced with the configuration
	plans    planCache
	settings *lru.Cache[settingsKey, *sessionSettings]

	unconvertible *lru.Cache[string, struct{}] // statements of the form columns that ended with errNotColumns
}

// newState returns a state without a schema and with empty caches.
func newState(c Config) *state {
	return &state{config: c, tokens: newTokenCache(c.CacheSize), plans: newPlanCache(),
		settings:      newLRU[settingsKey, *sessionSettings](maxSessionSettings),
		unconvertible: newLRU[string, struct{}](maxPlans)}
}

// newLRU returns a cache of at most size entries. The size must be positive.
func newLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err)
	}
	return c
}

// New returns an engine. It does not connect to the database.
func New(o Options) (*Engine, error) {
	if o.Pool == nil {
		return nil, errors.New("rest: Options.Pool is nil")
	}
	if len(o.Config.Schemas) == 0 {
		return nil, errors.New("rest: Config.Schemas is empty; expose at least one schema")
	}
	e := &Engine{pool: o.Pool, replicaReads: replicaReads{o.Replica, o.ReplicaTables}, log: o.Log, now: o.Now,
		failed: o.Failed, report: o.Report, bodyTimeout: o.BodyTimeout}
	if e.failed == nil {
		e.failed = func(error) {}
	}
	e.bodyTimeout = cmp.Or(e.bodyTimeout, 30*time.Second)
	e.log = cmp.Or(e.log, slog.Default())
	if e.now == nil {
		e.now = time.Now
	}
	e.state.Store(newState(o.Config))
	e.loader.init(e, o.Configure)
	return e, nil
}

// SetConfig replaces the configuration and reloads the schema in the background.
func (e *Engine) SetConfig(c Config) {
	e.replaceConfig(c)
	e.Reload()
}

func (e *Engine) replaceConfig(c Config) {
	for {
		old := e.state.Load()
		next := newState(c)
		next.schemaCache, next.loads, next.roles = old.schemaCache, old.loads, old.roles
		if e.state.CompareAndSwap(old, next) {
			return
		}
	}
}

// replaceSchema replaces the schema and the settings of roles. Verified tokens stay in their cache.
func (e *Engine) replaceSchema(c *schema.Cache, roles map[string]roleSettings) {
	for {
		old := e.state.Load()
		next := newState(old.config)
		next.schemaCache, next.loads, next.roles, next.tokens = c, old.loads+1, roles, old.tokens
		if e.state.CompareAndSwap(old, next) {
			return
		}
	}
}

// Config returns the configuration in use.
func (e *Engine) Config() Config { return e.state.Load().config }

// Schema returns the schema of the last load, nil before the first.
func (e *Engine) Schema() *schema.Cache { return e.state.Load().schemaCache }

// ServeHTTP answers one request.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := e.state.Load()
	if s.config.TraceHeader != "" {
		w.Header().Set(s.config.TraceHeader, r.Header.Get(s.config.TraceHeader))
	}
	if !s.config.NoCORS && s.cors(w, r) {
		return
	}
	var report *Report
	if e.report != nil {
		rec := &recorder{ResponseWriter: w, report: Report{Status: http.StatusOK}}
		w, report = rec, &rec.report
		defer func() { e.report(r, report) }()
	}
	if r.ContentLength != 0 {
		r.Body = &timedBody{ReadCloser: r.Body, conn: http.NewResponseController(w), timeout: e.bodyTimeout}
	}
	if err := e.serve(r.Context(), s, w, r, report); err != nil {
		e.fail(s, w, r, err, report)
	}
}

// fail answers with an error. An error that is not a apierror.Error is an internal one: it is
// logged and not shown. Nothing is logged about a request that the client cancelled.
func (e *Engine) fail(s *state, w http.ResponseWriter, r *http.Request, err error, report *Report) {
	left := r.Context().Err() != nil && (errors.Is(err, context.Canceled) || pool.IsCode(err, "57014"))
	we, ok := apierror.AsError(err)
	if !ok {
		if !left {
			e.log.ErrorContext(r.Context(), "rest: request failed", "method", r.Method, "error", err)
		}
		we = apierror.Errorf(http.StatusInternalServerError, "PGRSTX00", "Internal error")
	}
	if we.Status == http.StatusServiceUnavailable && we.Header.Get("Retry-After") == "" {
		we = we.WithHeader("Retry-After", e.loader.retryAfter())
	}
	if report != nil {
		report.Err = we
	} else if we.Status >= 500 && !left {
		e.log.WarnContext(r.Context(), "rest: error reply", "method", r.Method, "status", we.Status, "code", we.Code,
			"error", err)
	}
	if r.Method == http.MethodHead {
		w = headWriter{w}
	}
	writeError(w, we, s.config.MinimalErrors)
}

// headWriter drops bodies. net/http drops them too, but keeps their Content-Length.
type headWriter struct{ http.ResponseWriter }

func (headWriter) Write(b []byte) (int, error) { return len(b), nil }

// Start loads the schema and keeps it up to date until ctx ends or Close is called. It returns
// after the first attempt, with its error.
func (e *Engine) Start(ctx context.Context) error { return e.loader.start(ctx) }

// Close stops the background work. The pool stays open; the caller of New closes it.
func (e *Engine) Close(ctx context.Context) error { return e.loader.stop(ctx) }

// Reload requests a reload of the schema in the background. Until it is done, requests use the old
// schema.
func (e *Engine) Reload() { e.loader.request(false) }

// ReloadConfig requests a reload of the configuration with Options.Configure, and then of the
// schema.
func (e *Engine) ReloadConfig() { e.loader.request(true) }

// Loading reports whether the last load of the schema failed and another attempt follows.
func (e *Engine) Loading() bool { return e.loader.delay.Load() > 0 }

// Reachable reports whether the database takes connections: the listener has one or, without a
// channel, the pool has one that answers.
func (e *Engine) Reachable(ctx context.Context) bool {
	if e.Config().Channel != "" {
		return e.loader.connected.Load()
	}
	return e.pool.Ping(ctx) == nil
}
