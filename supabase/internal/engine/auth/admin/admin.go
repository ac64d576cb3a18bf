// Package admin serves the endpoints for administrators: users, their factors and passkeys,
// invitations and links, and the audit log.
package admin

import (
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/redirect"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config is the part of auth's configuration about accounts that administrators make.
type Config struct {
	DefaultRole        string // role of new users
	CodeLength         int    // of mailed codes
	MailerAutoconfirm  bool   // addresses count as confirmed without a mail
	SingleConfirmation bool   // an address change needs the confirmation of the new address only
}

// Service serves the endpoints.
type Service struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Hooks     *hookpoint.Caller
	Passwords *credential.Passwords
	Sessions  *session.Manager
	Sender    *message.Sender
	Redirects *redirect.List
	Now       func() time.Time
	Config    Config
}
