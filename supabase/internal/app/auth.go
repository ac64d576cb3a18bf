package app

import (
	"context"
	"time"

	"daawo/supabase/internal/auth"
	"daawo/supabase/internal/config"
	"daawo/supabase/internal/keys"
)

// openAuth serves GoTrue's wire.
func (a *App) openAuth(ctx context.Context, s *services, d *database, at places) error {
	if a.cfg.AuthURL != "" {
		return a.upstream(a.cfg.AuthURL, &s.auth)
	}
	if !a.cfg.Auth.Enabled {
		return nil
	}
	pool, err := a.openPool(ctx, d, "supabase_auth_admin", "auth", authConns)
	if err != nil {
		return err
	}
	engine, err := auth.New(auth.Options{
		DB: pool, Keys: s.keys, Config: authConfig(a.cfg, at.public), Log: a.log.With("part", "auth"),
	})
	if err != nil {
		return err
	}
	a.onClose("auth", engine.Close)
	s.keys.changed = append(s.keys.changed, func(keys.Set) { engine.KeysChanged() })
	s.auth = engine
	return nil
}

// authConfig reads [auth] of config.toml as the official CLI does when it fills GoTrue's variables.
func authConfig(c *config.Config, address string) auth.Config {
	in := c.Auth
	out := auth.Config{
		SiteURL:      in.SiteURL,
		ExternalURL:  in.ExternalURL,
		RedirectURLs: in.AdditionalRedirectURLs,
		Issuer:       in.JWTIssuer,
		TokenExpiry:  time.Duration(in.JWTExpiry) * time.Second,

		DisableSignup:     !in.EnableSignup,
		DisableEmail:      !in.Email.Enabled,
		EnablePhone:       in.SMS.Enabled,
		EnableAnonymous:   in.EnableAnonymousSignIns,
		MailerAutoconfirm: !in.Email.EnableConfirmations,
		PhoneAutoconfirm:  !in.SMS.EnableConfirmations,

		MinimumPasswordLength: in.MinimumPasswordLength,
		RequiredCharacters:    requiredCharacters(in.PasswordRequirements),
		RequireReauth:         in.Email.SecurePasswordChange,
		RequireCurrent:        in.Email.RequireCurrentPassword,

		RefreshTokenRotation: in.EnableRefreshTokenRotation,
		ReuseInterval:        time.Duration(in.RefreshTokenReuseInterval) * time.Second,
		Timebox:              time.Duration(in.Sessions.Timebox),
		Inactivity:           time.Duration(in.Sessions.InactivityTimeout),
	}
	if out.SiteURL == "" {
		out.SiteURL = address
	}
	if out.ExternalURL == "" {
		out.ExternalURL = address + "/auth/v1"
	}
	return out
}

// requiredCharacters are the sets that the names of password_requirements stand for.
func requiredCharacters(name string) []string {
	const (
		lower   = "abcdefghijklmnopqrstuvwxyz"
		upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		digits  = "0123456789"
		symbols = `!@#$%^&*()_+-=[]{};'\:"|<>?,./` + "`~"
	)
	switch name {
	case "letters_digits":
		return []string{lower + upper, digits}
	case "lower_upper_letters_digits":
		return []string{lower, upper, digits}
	case "lower_upper_letters_digits_symbols":
		return []string{lower, upper, digits, symbols}
	}
	return nil
}
