// Package provider is the OAuth 2.1 server: other applications sign users in with the accounts of
// this project.
package provider

import (
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/redirect"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config configures the OAuth server.
type Config struct {
	Enabled             bool
	DynamicRegistration bool   // applications may register themselves (RFC 7591)
	ConsentPath         string // of the site's page that asks for consent
	DefaultScope        string // "email" when empty
	// from the authorization request to the exchange of the code; 10 minutes, RFC 6749's maximum,
	// when zero
	Life time.Duration
}

// Server serves the endpoints.
type Server struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Sessions  *session.Manager
	Redirects *redirect.List
	Keys      session.Keyring
	Now       func() time.Time
	SiteURL   string // the consent page is below it
	Issuer    string // iss of ID tokens
	Config    Config
}
