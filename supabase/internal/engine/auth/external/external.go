// Package external signs users in with other identity providers: OAuth 2 and OpenID Connect, ID
// tokens, linked identities, and the providers that administrators add.
package external

import (
	"log/slog"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config is the part of auth's configuration about other identity providers.
type Config struct {
	SiteURL              string
	DisableSignup        bool
	MailerAutoconfirm    bool // addresses count as confirmed without a mail
	AllowUnverifiedEmail bool // an address that the provider has not verified may sign in
	ManualLinking        bool // users may link more identities
	FlowExpiry           time.Duration
	IDTokenIssuers       []string // issuers without a configured provider whose ID tokens are accepted
	RedirectURL          string   // where every user comes back to, instead of the address of the request
	CustomProviders      CustomConfig
}

// CustomConfig is about providers that administrators add while the server runs.
type CustomConfig struct {
	Disabled    bool
	Max         int    // how many there may be; zero means any number
	ExternalURL string // the URL below which their /callback is; auth's own when empty
}

// Service serves the endpoints.
type Service struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Hooks     *hookpoint.Caller
	Sessions  *session.Manager
	Sender    *message.Sender
	Providers *idp.Registry
	Log       *slog.Logger
	Now       func() time.Time
	Config    Config
}
