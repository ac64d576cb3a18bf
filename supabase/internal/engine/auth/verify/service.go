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

// Options is what a Service needs.
type Options struct {
	Store     *store.Store
	Limiter   *ratelimit.Limiter
	Passwords *credential.Passwords
	Sessions  *session.Manager
	Sender    *message.Sender
	Log       *slog.Logger
	Now       func() time.Time
	Config    Config
}

// Service serves the endpoints.
type Service struct {
	store     *store.Store
	limiter   *ratelimit.Limiter
	passwords *credential.Passwords
	sessions  *session.Manager
	sender    *message.Sender
	log       *slog.Logger
	now       func() time.Time
	config    Config
}

// New returns a Service.
func New(o Options) *Service {
	return &Service{
		store: o.Store, limiter: o.Limiter, passwords: o.Passwords, sessions: o.Sessions, sender: o.Sender, log: o.Log,
		now: o.Now, config: o.Config,
	}
}
