// Package auth speaks GoTrue's wire on GoTrue's tables: accounts, sessions and their tokens, links and codes, second
// factors, other providers, and the administration of all that. A database may move between this engine and the real
// GoTrue in either direction.
//
// Only app and auth/gotrue import it. Of ours it imports db, keys, mail and wire.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"daawo/supabase/internal/auth/admin"
	"daawo/supabase/internal/auth/captcha"
	"daawo/supabase/internal/auth/credential"
	"daawo/supabase/internal/auth/external"
	"daawo/supabase/internal/auth/external/idp"
	"daawo/supabase/internal/auth/hookpoint"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/mfa"
	"daawo/supabase/internal/auth/provider"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/redirect"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/wire"
)

// Version is the GoTrue whose behaviour this engine has.
const Version = "v2.196.0"

// Keyring holds the keys of access tokens.
type Keyring = session.Keyring

// Options is what an Engine needs. Only DB, Keys and Config are required.
type Options struct {
	DB     *db.Pool // as supabase_auth_admin
	Keys   Keyring
	Config Config
	Mailer Mailer // nil: nothing can be mailed, and what needs a mail fails
	SMS    SMS    // nil: nothing can be sent to phones
	// DirectMail: Mailer talks to the mail server while the transaction is open.
	DirectMail bool
	Client     *http.Client // for hooks, captchas and other providers; nil means one with a time limit
	Log        *slog.Logger
	Now        func() time.Time // nil means time.Now
}

// Engine is an http.Handler rooted at GoTrue's own root.
type Engine struct {
	db        *db.Pool
	store     *store.Store
	limiter   *ratelimit.Limiter
	keys      Keyring
	sessions  *session.Manager
	config    Config
	sender    *message.Sender
	client    *http.Client
	log       *slog.Logger
	now       func() time.Time
	hooks     *hookpoint.Caller
	captcha   *captcha.Checker
	passwords *credential.Passwords
	redirects *redirect.List
	providers *idp.Registry
	external  *external.Service
	mfa       *mfa.Service
	admin     *admin.Service
	provider  *provider.Server
	handler   http.Handler
}

// New makes an engine. It opens no connection before the first request.
func New(o Options) (*Engine, error) {
	if err := o.Config.validate(); err != nil {
		return nil, err
	}
	e := &Engine{db: o.DB, keys: o.Keys, config: o.Config.withDefaults(), client: o.Client, log: o.Log, now: o.Now}
	if e.log == nil {
		e.log = slog.Default()
	}
	if e.now == nil {
		e.now = time.Now
	}
	utc := e.now
	e.now = func() time.Time { return utc().UTC() }
	if e.client == nil {
		e.client = &http.Client{Timeout: 10 * time.Second}
	}
	e.store = store.New(store.Options{DB: o.DB, Log: e.log, Now: e.now, Config: store.Config{
		DefaultRole: e.config.DefaultRole, NoAuditTable: e.config.NoAuditTable, LinkExpiry: e.config.Mail.CodeExpiry,
		Timebox: e.config.Timebox, Inactivity: e.config.Inactivity,
	}})
	e.limiter = ratelimit.New(ratelimit.Options{
		DB: o.DB, Log: e.log, Now: e.now, Limits: e.config.Limits, FreeMail: e.config.MailerAutoconfirm, FreeSMS: e.config.PhoneAutoconfirm,
	})
	e.hooks = hookpoint.New(hookpoint.Options{DB: o.DB, Now: e.now, Client: e.client, Hooks: e.config.Hooks})
	e.passwords = credential.New(credential.Options{
		MinLength: e.config.MinimumPasswordLength, Required: e.config.RequiredCharacters, Leaked: e.config.LeakedPasswords,
		Cost: e.config.PasswordCost, AtOnce: e.config.HashesAtOnce,
	})
	e.sessions = session.New(session.Options{
		DB: o.DB, Store: e.store, Hooks: e.hooks, Keys: e.keys, Now: e.now, Config: session.Config{
			Issuer: e.config.Issuer, Audience: e.config.Audience, AdminRoles: e.config.AdminRoles, TokenExpiry: e.config.TokenExpiry,
			SignedRefreshTokens: e.config.SignedRefreshTokens, RefreshTokenRotation: e.config.RefreshTokenRotation,
			AllowReuse: e.config.AllowReuse, ReuseInterval: e.config.ReuseInterval, Timebox: e.config.Timebox,
			Inactivity: e.config.Inactivity, AllowLowAAL: e.config.AllowLowAAL, SinglePerUser: e.config.SinglePerUser,
		},
	})
	e.captcha = captcha.New(e.config.Captcha, e.client, e.sessions.IsAdmin)
	var err error
	if e.redirects, err = redirect.New(e.config.SiteURL, e.config.RedirectURLs); err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	templates, err := template.New(e.config.Mail.Subjects, e.config.Mail.Templates, e.config.Mail.Translations)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	e.sender = message.New(message.Options{
		DB: o.DB, Limiter: e.limiter, Hooks: e.hooks, Redirects: e.redirects, Templates: templates, Mailer: o.Mailer, SMS: o.SMS,
		DirectMail: o.DirectMail, Log: e.log, Now: e.now,
		Config: message.Config{SiteURL: e.config.SiteURL, ExternalURL: e.config.ExternalURL, Mail: e.config.Mail, SMS: e.config.SMS},
	})
	e.providers = idp.New(e.config.Providers, o.Client, e.now)
	e.external = external.New(external.Options{
		DB: o.DB, Store: e.store, Hooks: e.hooks, Sessions: e.sessions, Sender: e.sender, Providers: e.providers, Log: e.log, Now: e.now,
		Config: external.Config{
			SiteURL: e.config.SiteURL, DisableSignup: e.config.DisableSignup, MailerAutoconfirm: e.config.MailerAutoconfirm,
			AllowUnverifiedEmail: e.config.AllowUnverifiedEmail, ManualLinking: e.config.ManualLinking, FlowExpiry: e.config.FlowExpiry,
			CustomProviders: e.config.CustomProviders,
		},
	})
	e.mfa = mfa.New(mfa.Options{
		DB: o.DB, Store: e.store, Limiter: e.limiter, Hooks: e.hooks, Sessions: e.sessions, Sender: e.sender, Redirects: e.redirects,
		Now: e.now, Config: mfa.Config{MFA: e.config.MFA, WebAuthn: e.config.WebAuthn},
	})
	e.provider = provider.New(provider.Options{
		DB: o.DB, Store: e.store, Sessions: e.sessions, Redirects: e.redirects, Keys: e.keys, Now: e.now,
		SiteURL: e.config.SiteURL, Issuer: e.config.Issuer, Config: e.config.OAuthServer,
	})
	e.admin = admin.New(admin.Options{
		DB: o.DB, Store: e.store, Hooks: e.hooks, Passwords: e.passwords, Sessions: e.sessions, Sender: e.sender,
		Redirects: e.redirects, Now: e.now, Config: admin.Config{
			DefaultRole: e.config.DefaultRole, CodeLength: e.config.Mail.CodeLength, SingleConfirmation: e.config.Mail.SingleConfirmation,
		},
	})
	e.handler = e.routes()
	return e, nil
}

// KeysChanged takes over the keys that the Keyring returns now.
func (e *Engine) KeysChanged() { e.sessions.KeysChanged() }

// Close ends the engine; it has no work of its own.
func (e *Engine) Close(context.Context) error { return nil }

// Sweep removes rows of flows, challenges and sessions that ended long ago.
func (e *Engine) Sweep(ctx context.Context) error { return e.store.Sweep(ctx) }

// ServeHTTP answers one request.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Every body is read whole, and none of them is long.
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	e.handler.ServeHTTP(w, r)
}

// longest is how long a request may take.
const longest = 10 * time.Second

// handle turns an error into a reply and logs those that are not the client's.
func (e *Engine) handle(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), longest)
		defer cancel()
		err := h(w, r.WithContext(ctx))
		if err == nil {
			return
		}
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = wire.Errorf(http.StatusGatewayTimeout, "request_timeout", "Processing this request timed out, please retry after a moment.").
				WithHeader("Retry-After", "1").WithCause(err)
		}
		// An error that has been worded already may have a cause that looks alike: a service elsewhere could not be reached.
		if _, worded := wire.AsError(err); !worded && db.IsUnavailable(err) {
			err = wire.Errorf(http.StatusServiceUnavailable, "unexpected_failure", "The database is not available, try again").
				WithHeader("Retry-After", "1").WithCause(err)
		}
		if we, ok := wire.AsError(err); !ok || we.Status >= http.StatusInternalServerError {
			e.log.ErrorContext(r.Context(), "auth request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		wire.WriteAuthError(w, r, err)
	}
}
