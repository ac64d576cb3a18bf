// Package account serves the endpoints with which users read and change their own account and sign
// out.
package account

import (
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config is the part of auth's configuration about changes of an account.
type Config struct {
	MailerAutoconfirm bool          // addresses count as confirmed without a mail
	PhoneAutoconfirm  bool          // numbers count as confirmed without a text message
	RequireReauth     bool          // a password change needs a session younger than a day, or a code
	RequireCurrent    bool          // a password change needs the current password
	SMSCodeExpiry     time.Duration // lifetime of a code that was sent to a phone
}

// Service serves the endpoints.
type Service struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Limiter   *ratelimit.Limiter
	Passwords *credential.Passwords
	Sessions  *session.Manager
	Sender    *message.Sender
	Now       func() time.Time
	Config    Config
}
