package auth

import (
	"errors"
	"time"
)

// Config is GoTrue's configuration as far as this engine acts on it. app fills it from [auth] of config.toml.
type Config struct {
	SiteURL      string   // where links lead when they name no other place
	ExternalURL  string   // auth's public address, /auth/v1 included
	RedirectURLs []string // further allowed places, globs

	Issuer      string        // iss of access tokens; ExternalURL when empty
	Audience    string        // aud of access tokens; "authenticated" when empty
	DefaultRole string        // role of new users; "authenticated" when empty
	AdminRoles  []string      // roles whose tokens may administer; service_role and supabase_admin when empty
	TokenExpiry time.Duration // of access tokens; an hour when zero

	DisableSignup     bool
	DisableEmail      bool // no sign-in by e-mail
	EnablePhone       bool
	EnableAnonymous   bool
	MailerAutoconfirm bool // addresses count as confirmed without a mail
	PhoneAutoconfirm  bool

	MinimumPasswordLength int      // 6 when zero
	RequiredCharacters    []string // a password needs a character of each of these sets
	RequireReauth         bool     // a password change needs a session younger than a day, or a code
	RequireCurrent        bool     // a password change needs the current password

	RefreshTokenRotation bool          // a token used twice ends its family
	ReuseInterval        time.Duration // in which a used token is still taken
	Timebox              time.Duration // sessions end after it; zero means never
	Inactivity           time.Duration // sessions end when unused for so long; zero means never
	SinglePerUser        bool          // a sign-in ends the older sessions

	HashesAtOnce int // passwords hashed at once, so that a storm of logins does not starve the rest; 2 when zero
}

func (c Config) validate() error {
	if c.TokenExpiry < 0 || c.ReuseInterval < 0 || c.Timebox < 0 || c.Inactivity < 0 {
		return errors.New("auth: durations must not be negative")
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Audience == "" {
		c.Audience = "authenticated"
	}
	if c.DefaultRole == "" {
		c.DefaultRole = "authenticated"
	}
	if len(c.AdminRoles) == 0 {
		c.AdminRoles = []string{"service_role", "supabase_admin"}
	}
	if c.TokenExpiry == 0 {
		c.TokenExpiry = time.Hour
	}
	if c.Issuer == "" {
		c.Issuer = c.ExternalURL
	}
	if c.MinimumPasswordLength == 0 {
		c.MinimumPasswordLength = 6
	}
	if c.HashesAtOnce == 0 {
		c.HashesAtOnce = 2
	}
	return c
}
