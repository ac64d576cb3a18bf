// Package meta is compatible with postgres-meta: it describes and changes the objects of a
// database over HTTP, runs statements of administrators, and writes types for programs.
// https://github.com/supabase/postgres-meta
//
// Each request runs as the role of its connection, which is postgres in a project. The gateway
// serves it below /pg for the secret key only; served alone it asks for no key, as upstream.
package meta

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/database/pool"
)

// Version is the version of postgres-meta that the engine equals.
const Version = "0.99.0"

// Options configures an Engine.
type Options struct {
	Catalog *pool.Pool // reads the catalog of the project's database
	Console *pool.Pool // runs the statements of callers; a pool with Config.Console

	// CryptoKey decrypts the header x-connection-encrypted, with which a request names another
	// database. "" refuses the header.
	CryptoKey      string
	RootCAs        *x509.CertPool // of other databases; nil means the system's
	VerifyTLS      bool           // connect to other databases with TLS unless their URL has another sslmode
	ConnectTimeout time.Duration  // of other databases; 0 means 15 s
	QueryTimeout   time.Duration  // of a statement; 0 means 55 s
	MaxResult      int64          // bytes of the rows of a reply; 0 means 64 MiB
	MaxBody        int64          // bytes of a request body; 0 means 32 MiB
	Log            *slog.Logger
}

// Engine is the HTTP handler.
type Engine struct {
	Options
	router chi.Router
}

// New returns an Engine. The caller closes the pools.
func New(o Options) *Engine {
	setDefault(&o.ConnectTimeout, 15*time.Second)
	setDefault(&o.QueryTimeout, 55*time.Second)
	setDefault(&o.MaxResult, 64<<20)
	setDefault(&o.MaxBody, 32<<20)
	e := &Engine{Options: o}
	e.router = e.routes()
	return e
}

func setDefault[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

// ServeHTTP implements http.Handler.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, e.MaxBody)
	e.router.ServeHTTP(w, r)
}

func (e *Engine) routes() chi.Router {
	r := chi.NewRouter()
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusNotFound, "Not found") })
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusNotFound, "Not found") })
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"status": http.StatusOK, "name": "daawo meta", "version": Version,
			"documentation": "https://github.com/supabase/postgres-meta"})
	})
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"date": time.Now().UTC().Format("2006-01-02T15:04:05.000Z")})
	})
	r.Post("/query", e.query)
	r.Post("/query/format", formatQuery)
	e.readRoutes(r)
	e.writeRoutes(r)
	return r
}

// reply sends a value as JSON.
func reply(w http.ResponseWriter, status int, value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // the values are maps, strings and numbers
	replyJSON(w, status, bytes.TrimSpace(text.Bytes()))
}

func replyJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
}

func replyText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text)) // the client may have disconnected
}

// fail sends an error message.
func fail(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]string{"error": message})
}

// requestError is a fault of a request.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

func badRequest(message string) error { return &requestError{http.StatusBadRequest, message} }

// failWith sends an error of a list or a change: its message alone.
func (e *Engine) failWith(w http.ResponseWriter, r *http.Request, err error, otherwise int) {
	if fault, ok := errors.AsType[*requestError](err); ok {
		fail(w, fault.status, fault.message)
		return
	}
	status, message := otherwise, err.Error()
	if pg, ok := pool.AsPgError(err); ok {
		message = pg.Message
	}
	switch {
	case errors.Is(err, pool.ErrUnavailable):
		status, message = http.StatusServiceUnavailable, pool.ErrUnavailable.Error()
	case errors.Is(err, context.DeadlineExceeded):
		status, message = http.StatusRequestTimeout, timedOut
	}
	e.Log.DebugContext(r.Context(), "meta: request failed", "status", status, "error", err)
	fail(w, status, message)
}

// timedOut is the message of a statement that took longer than its limit.
const timedOut = "Query read timeout"
