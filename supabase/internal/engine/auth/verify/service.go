// Package verify serves the links and codes that were sent to users: they confirm sign-ups,
// invitations and changes of a contact, and sign in.
package verify

import (
	"log/slog"
	"time"

	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config is the part of auth's configuration about links and codes.
type Config struct {
	MailerAutoconfirm  bool          // addresses count as confirmed without a mail
	SingleConfirmation bool          // an address change needs the confirmation of the new address only
	SMSCodeExpiry      time.Duration // lifetime of a code that was sent to a phone
}

// Service serves the endpoints.
type Service struct {
	Store     *store.Store
	Limiter   *ratelimit.Limiter
	Passwords *credential.Passwords
	Sessions  *session.Manager
	Sender    *message.Sender
	Log       *slog.Logger
	Now       func() time.Time
	Config    Config
}
