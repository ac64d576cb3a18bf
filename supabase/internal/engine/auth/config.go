package auth

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"daawo/supabase/internal/engine/auth/captcha"
	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/external"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/mfa"
	"daawo/supabase/internal/engine/auth/provider"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/sso"
)

// Config is the part of GoTrue's configuration that this engine supports. app fills it from [auth]
// of config.toml, gotrue from GoTrue's own variables.
type Config struct {
	SiteURL      string   // where links lead if the request names no other allowed address
	ExternalURL  string   // auth's public address, /auth/v1 included
	RedirectURLs []string // more allowed addresses, globs

	Issuer      string        // iss of access tokens; ExternalURL when empty
	Audience    string        // aud of access tokens; "authenticated" when empty
	DefaultRole string        // role of new users; "authenticated" when empty
	AdminRoles  []string      // roles with access to the administration; service_role and supabase_admin when empty
	TokenExpiry time.Duration // of access tokens; an hour when zero

	RequestTimeout time.Duration // after which a request is 504; 10 s when zero

	DisableSignup    bool
	DisableEmail     bool // no sign-in by e-mail
	DisableMagicLink bool // no sign-in by a mailed link
	EnablePhone      bool
	EnableAnonymous  bool
	ManualLinking    bool // users may link more identities
	HideAccounts     bool // requests for mails get the same reply in the same time, whether there is an account or not

	MailerAutoconfirm bool // addresses count as confirmed without a mail
	PhoneAutoconfirm  bool

	MinimumPasswordLength int      // 6 when zero
	RequiredCharacters    []string // a password needs a character of each of these sets
	LeakedPasswords       string   // file of SHA-1 hashes, sorted; "" checks nothing
	LeakedOnline          LeakedOnline
	RequireReauth         bool // a password change needs a session younger than a day, or a code
	RequireCurrent        bool // a password change needs the current password

	SignedRefreshTokens bool // new sessions get refresh tokens that are signed instead of stored
	// in this part of the sessions with stored refresh tokens, these become signed ones
	RefreshUpgradePercentage int
	RefreshTokenRotation     bool          // a token used twice ends its family
	AllowReuse               bool          // signed tokens may be used again at any time
	ReuseInterval            time.Duration // how long a used token is still accepted
	Timebox                  time.Duration // sessions end after it; zero means never
	Inactivity               time.Duration // sessions end when unused for so long; zero means never
	// how long a session of a user with a second factor lasts without it; zero means forever
	AllowLowAAL   time.Duration
	SinglePerUser bool     // only the session used last can be refreshed
	SessionTags   []string // with SinglePerUser, one session of each tag can be refreshed

	PasswordCost int // of bcrypt; 10 when zero
	// passwords hashed at the same time, which leaves processors for other requests; half of them
	// when zero
	HashesAtOnce int
	FlowExpiry   time.Duration // of a sign-in with PKCE or another provider; 5 minutes when zero

	Mail        MailConfig
	SMS         SMSConfig
	MFA         MFAConfig
	WebAuthn    WebAuthnConfig
	Hooks       Hooks
	Limits      Limits
	Captcha     Captcha
	OAuthServer OAuthServerConfig

	SAML            SAMLConfig
	CustomProviders CustomProvidersConfig
	Providers       map[string]idp.Config // by name; only the enabled ones

	// IDTokenIssuers may issue ID tokens without a provider of their own in Providers.
	IDTokenIssuers       []string
	ExternalRedirectURL  string // where every user comes back to from a provider; the request's own when empty
	AllowUnverifiedEmail bool   // an address that the provider has not verified may sign in
	NoAuditTable         bool   // the audit log goes to the process log only
	SMSProvider          string // what /settings says
}

func (c Config) validate() error {
	for name, d := range map[string]time.Duration{
		"jwt_expiry": c.TokenExpiry, "refresh_token_reuse_interval": c.ReuseInterval,
		"sessions.timebox": c.Timebox, "sessions.inactivity_timeout": c.Inactivity,
		"sessions.allow_low_aal": c.AllowLowAAL, "external.flow_state_expiry_duration": c.FlowExpiry,
	} {
		if d < 0 {
			return fmt.Errorf("auth: %s is %s, it must not be negative", name, d)
		}
	}
	if c.LeakedPasswords != "" {
		if _, err := os.Stat(c.LeakedPasswords); err != nil {
			return fmt.Errorf("auth: list of leaked passwords: %w", err)
		}
	}
	if err := c.Captcha.Validate(); err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	if err := c.Hooks.Validate(); err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	return nil
}

func (c Config) withDefaults() Config {
	setDefault(&c.Audience, "authenticated")
	setDefault(&c.DefaultRole, "authenticated")
	setDefault(&c.Issuer, c.ExternalURL)
	setDefault(&c.CustomProviders.ExternalURL, c.ExternalURL)
	setDefault(&c.SAML.ExternalURL, c.ExternalURL)
	setDefault(&c.OAuthServer.DefaultScope, "email")
	setDefault(&c.SMS.Template, "Your code is {{ .Code }}")
	setDefault(&c.MFA.PhoneTemplate, "Your code is {{ .Code }}")
	if len(c.AdminRoles) == 0 {
		c.AdminRoles = []string{"service_role", "supabase_admin"}
	}
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&c.RequestTimeout, 10 * time.Second}, {&c.Captcha.Timeout, 10 * time.Second},
		{&c.TokenExpiry, time.Hour}, {&c.FlowExpiry, 5 * time.Minute}, {&c.OAuthServer.Life, 10 * time.Minute},
		{&c.Mail.CodeExpiry, 24 * time.Hour}, {&c.Mail.MaxFrequency, time.Minute},
		{&c.SMS.CodeExpiry, time.Minute}, {&c.SMS.MaxFrequency, time.Minute},
		{&c.MFA.ChallengeExpiry, 5 * time.Minute}, {&c.WebAuthn.ChallengeExpiry, 5 * time.Minute}, {&c.MFA.FactorExpiry, 5 * time.Minute},
		{&c.MFA.PhoneMaxFrequency, time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	for _, n := range []struct {
		value *int
		usual int
	}{
		{&c.MinimumPasswordLength, 6}, {&c.PasswordCost, credential.DefaultCost},
		{&c.HashesAtOnce, max(1, runtime.GOMAXPROCS(0)/2)}, {&c.MFA.MaxFactors, 10}, {&c.MFA.MaxVerified, 10},
		{&c.WebAuthn.MaxPasskeys, 10},
	} {
		if *n.value == 0 {
			*n.value = n.usual
		}
	}
	for _, digits := range []*int{&c.Mail.CodeLength, &c.SMS.CodeLength, &c.MFA.PhoneCodeLength} {
		if *digits < 6 || *digits > 10 {
			*digits = 6
		}
	}
	return c
}

// setDefault replaces an empty text by its default.
func setDefault(value *string, usual string) {
	if *value == "" {
		*value = usual
	}
}

// LeakedOnline asks a service for leaked passwords.
type LeakedOnline = credential.Online

// Limits bound how often a client, or all clients together, may do something.
type Limits = ratelimit.Limits

// MailLimits limit the requests for mails.
type MailLimits = ratelimit.MailLimits

// Hooks are the hooks by the points that they are named after.
type Hooks = hookpoint.Hooks

// Captcha is the captcha's configuration.
type Captcha = captcha.Config

// Types of Options and Config that belong to package message.
type (
	Mailer      = message.Mailer
	Undelivered = message.Undelivered
	SMS         = message.SMS
	MailConfig  = message.MailConfig
	SMSConfig   = message.SMSConfig
)

// CustomProvidersConfig is about providers that administrators add while the server runs.
type CustomProvidersConfig = external.CustomConfig

// SAMLConfig is about single sign-on with SAML 2.0.
type SAMLConfig = sso.Config

// Types of Config that belong to package mfa.
type (
	MFAConfig      = mfa.FactorConfig
	WebAuthnConfig = mfa.WebAuthnConfig
)

// OAuthServerConfig configures the OAuth 2.1 server.
type OAuthServerConfig = provider.Config
