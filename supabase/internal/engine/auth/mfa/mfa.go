// Package mfa serves second factors (TOTP, phone, WebAuthn) and passkeys.
package mfa

import (
	"net/http"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/redirect"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// FactorConfig is about second factors.
type FactorConfig struct {
	DisableTOTPEnroll, DisableTOTPVerify       bool
	EnablePhoneEnroll, EnablePhoneVerify       bool
	EnableWebAuthnEnroll, EnableWebAuthnVerify bool
	MaxFactors                                 int           // 10 when zero
	MaxVerified                                int           // 10 when zero
	ChallengeExpiry                            time.Duration // 5 minutes when zero
	FactorExpiry                               time.Duration // of a factor that was never verified; 5 minutes when zero
	PhoneTemplate                              string
	PhoneCodeLength                            int
	PhoneMaxFrequency                          time.Duration
}

// WebAuthnConfig names the relying party (WebAuthn, section 4).
type WebAuthnConfig struct {
	RPID, RPDisplayName string
	RPOrigins           []string
	Passkeys            bool          // sign-in with a passkey alone
	MaxPasskeys         int           // 10 when zero
	ChallengeExpiry     time.Duration // of sign-ins and new passkeys; 5 minutes when zero
}

// Config is the part of auth's configuration about second factors and passkeys.
type Config struct {
	MFA      FactorConfig
	WebAuthn WebAuthnConfig
}

// Service serves the endpoints.
type Service struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Limiter   *ratelimit.Limiter
	Hooks     *hookpoint.Caller
	Sessions  *session.Manager
	Sender    *message.Sender
	Redirects *redirect.List
	Now       func() time.Time
	Config    Config
}

// AsFactorUser calls h for the user of the access token, unless the user is anonymous.
func (s *Service) AsFactorUser(h func(http.ResponseWriter, *http.Request,
	*session.Caller) error) func(http.ResponseWriter, *http.Request) error {
	return s.Sessions.AsUser(func(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
		if c.User.IsAnonymous {
			return apierror.Errorf(http.StatusForbidden, "no_authorization",
				"Anonymous user not allowed to perform these actions")
		}
		return h(w, r, c)
	})
}
