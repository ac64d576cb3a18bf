// Package auth serves the API of GoTrue on GoTrue's tables: accounts, sessions and their tokens,
// links and codes, second factors, other providers, and their administration. A database may move
// between this engine and the real GoTrue in either direction.
//
// This package only assembles the parts. Endpoints are in login, verify, account, external, mfa,
// provider and admin. Below them are session and message, then captcha, credential, hookpoint and
// ratelimit, then store, then endpoint.
package auth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Version is the GoTrue version with the behaviour of this engine.
const Version = "v2.196.0"

// Keyring holds the keys of access tokens. They may change while auth runs.
type Keyring = session.Keyring

// Options is what a Handler needs. Only DB, Keys and Config are required.
type Options struct {
	DB     *pool.Pool // as supabase_auth_admin
	Keys   Keyring
	Config Config
	Mailer Mailer // nil: requests that send a mail fail
	SMS    SMS    // nil: requests that send a text message fail
	// DirectMail: Mailer talks to the mail server while the transaction is open.
	DirectMail bool
	Client     *http.Client // for hooks, captchas and other providers; nil means one with a time limit
	Log        *slog.Logger
	Now        func() time.Time // nil means time.Now
	// RequestIDHeader is the header in which a proxy names the request. Without it, errors of the
	// server get ids of their own.
	RequestIDHeader string
}

// Handler is an http.Handler rooted at GoTrue's own root.
type Handler struct {
	store     *store.Store
	sessions  *session.Manager
	templates *template.Set
	log       *slog.Logger
	routes    http.Handler

	requestID string        // header with the request's id; "" for none
	timeout   time.Duration // of a request
}

// New returns a Handler. It opens no connection before the first request.
func New(o Options) (*Handler, error) {
	if err := o.Config.validate(); err != nil {
		return nil, err
	}
	p, err := build(o)
	if err != nil {
		return nil, err
	}
	h := &Handler{store: p.store, sessions: p.sessions, templates: p.templates, log: p.log, requestID: o.RequestIDHeader,
		timeout: p.config.RequestTimeout}
	h.routes = h.router(p)
	return h, nil
}

// KeysChanged takes over the keys that the Keyring returns now.
func (h *Handler) KeysChanged() { h.sessions.KeysChanged() }

// ReplaceMailTemplate replaces the text (HTML) of a kind of mails, unless it cannot be parsed.
func (h *Handler) ReplaceMailTemplate(kind, body string) error {
	return h.templates.Replace(kind, body)
}

// Sweep deletes flows, challenges, tokens and sessions that expired long ago.
func (h *Handler) Sweep(ctx context.Context) error { return h.store.Sweep(ctx) }

// maxBody bounds the body of a request, which is read whole.
const maxBody = 1 << 20

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Origin")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	withoutSlash(r)
	h.routes.ServeHTTP(w, r)
}

// handle turns the error of a handler into a reply. It logs errors with a status of 500 and above.
func (h *Handler) handle(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), h.timeout)
		defer cancel()
		r = r.WithContext(ctx)
		err := serve(w, r)
		if err == nil {
			return
		}
		if errors.Is(err, password.ErrTooLate) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = apierror.Errorf(http.StatusGatewayTimeout, "request_timeout",
				"Processing this request timed out, please retry after a moment.").
				WithHeader("Retry-After", "1").WithCause(err)
		}
		// A *apierror.Error may have a cause that looks the same, for example when another service
		// could not be reached.
		if _, ok := apierror.AsError(err); !ok && pool.IsUnavailable(err) {
			err = apierror.Errorf(http.StatusServiceUnavailable, "unexpected_failure",
				"The database is not available, try again").
				WithHeader("Retry-After", "1").WithCause(err)
		}
		id := cmp.Or(r.Header.Get(h.requestID), uuid.NewString())
		if we, ok := apierror.AsError(err); !ok || we.Status >= http.StatusInternalServerError {
			h.log.ErrorContext(ctx, "auth request failed", "method", r.Method, "path", r.URL.Path, "error_id", id,
				"error", err)
		}
		endpoint.WriteError(w, r, err, id)
	}
}
