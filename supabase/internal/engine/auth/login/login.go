// Package login serves sign-up and sign-in with an address or a number: by a password, or by a link
// or code that it sends.
package login

import (
	"log/slog"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/captcha"
	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config is the part of auth's configuration about sign-up, sign-in and changes of an account.
type Config struct {
	DisableSignup     bool
	DisableEmail      bool // no sign-in by e-mail
	DisableMagicLink  bool // no sign-in by a mailed link
	EnablePhone       bool
	EnableAnonymous   bool
	MailerAutoconfirm bool // addresses count as confirmed without a mail
	PhoneAutoconfirm  bool // numbers count as confirmed without a text message
	HideAccounts      bool // requests for mails get the same reply in the same time, whether there is an account or not
}

// Service serves the endpoints.
type Service struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Limiter   *ratelimit.Limiter
	Captcha   *captcha.Checker
	Hooks     *hookpoint.Caller
	Passwords *credential.Passwords
	Sessions  *session.Manager
	Sender    *message.Sender
	Log       *slog.Logger
	Grants    map[string]endpoint.Handler // of POST /token, by grant_type, beside password and web3
	Now       func() time.Time
	Config    Config
}
