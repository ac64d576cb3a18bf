// Package session signs users in: it begins sessions, issues and refreshes their tokens, and
// authenticates the caller of an endpoint by its access token.
package session

import (
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// Keyring holds the keys of access tokens. They may change while auth runs.
type Keyring interface {
	Signer() keys.Key      // signs new access tokens
	Verifying() []keys.Key // verify access tokens
}

// Config is the part of auth's configuration about sessions and tokens.
type Config struct {
	Issuer      string        // iss of access tokens
	Audience    string        // aud of access tokens
	AdminRoles  []string      // roles with access to the administration
	TokenExpiry time.Duration // of access tokens

	SignedRefreshTokens  bool          // refresh tokens of new sessions are signed instead of stored
	UpgradePercentage    int           // in this part of the other sessions they become signed
	RefreshTokenRotation bool          // a token used twice ends its family
	AllowReuse           bool          // signed tokens may be used again at any time
	ReuseInterval        time.Duration // how long a used token is still accepted
	Timebox              time.Duration // sessions end after it; zero means never
	Inactivity           time.Duration // sessions end when unused for so long; zero means never
	// how long a session of a user with a second factor lasts without it; zero means forever
	AllowLowAAL   time.Duration
	SinglePerUser bool     // only the session used last can be refreshed
	Tags          []string // of sessions; with SinglePerUser, one session of each tag can be refreshed
}

// Options is what a Manager needs.
type Options struct {
	DB     *pool.Pool // as supabase_auth_admin
	Store  *store.Store
	Hooks  *hookpoint.Caller
	Keys   Keyring
	Now    func() time.Time
	Config Config
}

// Manager manages sessions.
type Manager struct {
	Options

	verifier *keys.Verifier
}

// New returns a Manager.
func New(o Options) *Manager {
	return &Manager{Options: o, verifier: keys.NewVerifier(keys.Options{Now: o.Now}, o.Keys.Verifying()...)}
}

// KeysChanged takes over the keys that the Keyring returns now.
func (m *Manager) KeysChanged() { m.verifier.SetKeys(m.Keys.Verifying()...) }
