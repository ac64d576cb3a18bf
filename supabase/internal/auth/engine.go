// Package auth speaks GoTrue's wire on GoTrue's tables: accounts, sessions and their tokens, links and codes, second
// factors, other providers, and the administration of all that. A database may move between this engine and the real
// GoTrue in either direction.
//
// Only app and cli import it. It imports db, keys and wire.
package auth

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/wire"
)

// Version is the GoTrue whose behaviour this engine has.
const Version = "v2.196.0"

// Keyring gives the current keys; they may change while the engine runs.
type Keyring interface {
	Signer() keys.Key      // signs new access tokens
	Verifying() []keys.Key // accepted in access tokens
}

// Options is what an Engine needs.
type Options struct {
	DB     *db.Pool // as supabase_auth_admin
	Keys   Keyring
	Config Config
	Log    *slog.Logger
	Now    func() time.Time // nil means time.Now
}

// Engine is an http.Handler rooted at GoTrue's own root.
type Engine struct {
	db       *db.Pool
	keys     Keyring
	verifier *keys.Verifier
	config   Config
	log      *slog.Logger
	now      func() time.Time
	hashing  chan struct{} // bounds how many passwords are hashed at once
	handler  http.Handler
}

// New makes an engine. It opens no connection before the first request.
func New(o Options) (*Engine, error) {
	if err := o.Config.validate(); err != nil {
		return nil, err
	}
	e := &Engine{db: o.DB, keys: o.Keys, config: o.Config.withDefaults(), log: o.Log, now: o.Now}
	if e.log == nil {
		e.log = slog.Default()
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.verifier = keys.NewVerifier(keys.Options{Now: e.now}, o.Keys.Verifying()...)
	e.hashing = make(chan struct{}, e.config.HashesAtOnce)
	e.handler = e.routes()
	return e, nil
}

// KeysChanged makes the engine believe the keys that Keyring gives now.
func (e *Engine) KeysChanged() { e.verifier.SetKeys(e.keys.Verifying()...) }

// Close ends the engine; it has no work of its own.
func (e *Engine) Close(context.Context) error { return nil }

// ServeHTTP answers one request.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Every body is read whole, and none of them is long.
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	e.handler.ServeHTTP(w, r)
}

// routes is the API, as GoTrue's openapi.yaml lists it.
func (e *Engine) routes() http.Handler {
	r := chi.NewRouter()
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", http.StatusNotFound) })
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })

	r.Get("/health", e.handle(e.health))
	r.Get("/settings", e.handle(e.settings))
	r.Get("/.well-known/jwks.json", e.handle(e.jwks))

	r.Post("/signup", e.handle(e.signup))
	r.Post("/token", e.handle(e.token))
	r.Post("/logout", e.handle(e.asUser(e.logout)))
	r.Get("/user", e.handle(e.asUser(e.getUser)))
	r.Put("/user", e.handle(e.asUser(e.updateUser)))

	r.Get("/admin/users", e.handle(e.asAdmin(e.adminListUsers)))
	r.Post("/admin/users", e.handle(e.asAdmin(e.adminCreateUser)))
	r.Get("/admin/users/{user_id}", e.handle(e.asAdmin(e.adminGetUser)))
	r.Put("/admin/users/{user_id}", e.handle(e.asAdmin(e.adminUpdateUser)))
	r.Delete("/admin/users/{user_id}", e.handle(e.asAdmin(e.adminDeleteUser)))
	return r
}

// handle turns an error into a reply and logs those that are not the client's.
func (e *Engine) handle(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		if db.IsUnavailable(err) {
			err = wire.Errorf(http.StatusServiceUnavailable, "unexpected_failure", "The database is not available, try again").
				WithHeader("Retry-After", "1").WithCause(err)
		}
		if we, ok := wire.AsError(err); !ok || we.Status >= http.StatusInternalServerError {
			e.log.ErrorContext(r.Context(), "auth request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		wire.WriteAuthError(w, r, err)
	}
}
