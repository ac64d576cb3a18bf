package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/message/sms"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/functions/jobs"
)

// openAuth opens the auth engine, which is compatible with GoTrue.
func (s *services) openAuth(ctx context.Context) error {
	if s.Config.AuthURL != "" {
		return upstream(s.Installation, s.Config.AuthURL, &s.auth)
	}
	if !s.Config.Auth.Enabled {
		return nil
	}
	pool, err := s.pools.open(ctx, s.db.URL("supabase_auth_admin"), "auth", authConns)
	if err != nil {
		return err
	}
	cfg, err := authConfig(s.Config, s.Project, s.Public, s.MailTexts)
	if err != nil {
		return err
	}
	s.admitAdminSite(&cfg)
	if names := unsupportedAuth(s.Config.Auth); len(names) > 0 {
		s.Log.Warn("config.toml enables settings that auth does not support; see docs/auth.md", "settings", names)
	}
	engine, err := auth.New(auth.Options{
		DB: pool, Keys: s.keys, Config: cfg, Mailer: s.outbox, SMS: textSender(s.Config),
		Log: s.Log.With("part", "auth"), Now: s.Now, RequestIDHeader: "X-Request-Id",
	})
	if err != nil {
		return err
	}
	if s.outbox != nil {
		s.outbox.Chores(jobs.Chore{Name: "sweep_auth", Cron: "47 * * * *", Do: engine.Sweep})
	}
	s.keys.OnChange(func(keys.Set) { engine.KeysChanged() })
	s.auth = engine
	return nil
}

// unsupportedAuth returns the names of the enabled settings of [auth] that the engine treats as
// disabled.
func unsupportedAuth(in config.Auth) []string {
	var out []string
	for _, part := range []struct {
		name    string
		enabled bool
	}{
		{"auth.web3.ethereum", in.Web3.Ethereum.Enabled}, {"auth.web3.solana", in.Web3.Solana.Enabled},
	} {
		if part.enabled {
			out = append(out, part.name)
		}
	}
	return out
}

// authConfig translates [auth] of config.toml as the official CLI does when it sets GoTrue's
// variables.
func authConfig(c *config.Config, project fs.FS, address string, texts template.Translations) (auth.Config, error) {
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
		ManualLinking:     in.EnableManualLinking,
		MailerAutoconfirm: !in.Email.EnableConfirmations,
		PhoneAutoconfirm:  !in.SMS.EnableConfirmations,

		MinimumPasswordLength: in.MinimumPasswordLength,
		RequiredCharacters:    requiredCharacters(in.PasswordRequirements),
		LeakedPasswords:       in.LeakedPasswordsPath,
		RequireReauth:         in.Email.SecurePasswordChange,
		RequireCurrent:        in.Email.RequireCurrentPassword,

		RefreshTokenRotation: in.EnableRefreshTokenRotation,
		ReuseInterval:        time.Duration(in.RefreshTokenReuseInterval) * time.Second,
		Timebox:              time.Duration(in.Sessions.Timebox),
		Inactivity:           time.Duration(in.Sessions.InactivityTimeout),

		SMS: auth.SMSConfig{
			Template: in.SMS.Template, MaxFrequency: orNone(in.SMS.MaxFrequency), TestCodes: in.SMS.TestOTP,
			WhatsApp: in.SMS.Twilio.Enabled || in.SMS.TwilioVerify.Enabled,
		},
		MFA: auth.MFAConfig{
			DisableTOTPEnroll: !in.MFA.TOTP.EnrollEnabled, DisableTOTPVerify: !in.MFA.TOTP.VerifyEnabled,
			EnablePhoneEnroll: in.MFA.Phone.EnrollEnabled, EnablePhoneVerify: in.MFA.Phone.VerifyEnabled,
			EnableWebAuthnEnroll: in.MFA.WebAuthn.EnrollEnabled, EnableWebAuthnVerify: in.MFA.WebAuthn.VerifyEnabled,
			MaxFactors: in.MFA.MaxEnrolledFactors, PhoneTemplate: in.MFA.Phone.Template,
			PhoneCodeLength: in.MFA.Phone.OTPLength, PhoneMaxFrequency: orNone(in.MFA.Phone.MaxFrequency),
		},
		WebAuthn: auth.WebAuthnConfig{
			RPID: in.WebAuthn.RPID, RPDisplayName: in.WebAuthn.RPDisplayName, RPOrigins: in.WebAuthn.RPOrigins,
			Passkeys: in.Passkey.Enabled,
		},
		OAuthServer: auth.OAuthServerConfig{
			Enabled: in.OAuth.Enabled, DynamicRegistration: in.OAuth.AllowDynamicRegistration,
			ConsentPath: in.OAuth.AuthorizationURLPath,
		},
		SAML: auth.SAMLConfig{
			Enabled: in.SAML.Enabled, PrivateKey: in.SAML.PrivateKey, NextKey: in.SAML.PrivateKeyNext,
			AllowEncrypted: in.SAML.AllowEncryptedAssertions,
			RelayStateLife: time.Duration(in.SAML.RelayStateValidityPeriod),
		},
		Limits: authLimits(c), HideAccounts: !c.Loopback(),
	}
	if out.SiteURL == "" {
		out.SiteURL = address
	}
	if out.ExternalURL == "" {
		out.ExternalURL = address + "/auth/v1"
	}
	if in.Captcha.Enabled {
		out.Captcha = auth.Captcha{Provider: in.Captcha.Provider, Secret: in.Captcha.Secret}
	}
	out.SMSProvider, _ = textProvider(c)
	out.Hooks = authHooks(in.Hook)
	out.Providers = authProviders(in.External, out.ExternalURL)
	var err error
	out.Mail, err = authMail(in.Email, project, c.Dir)
	out.Mail.Translations = texts
	return out, err
}

// orNone returns -1 for a configured 0. In auth.Config, 0 means the default interval and -1 means
// none.
func orNone(d config.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return time.Duration(d)
}

// authLimits returns the rate limits. On loopback there are none, because all clients are programs
// of this machine.
func authLimits(c *config.Config) auth.Limits {
	if c.Loopback() {
		return auth.Limits{}
	}
	in := c.Auth.RateLimit
	return auth.Limits{
		Header: "X-Forwarded-For", EmailPerHour: in.EmailSent, SMSPerHour: in.SMSSent,
		AnonymousPerHour: in.AnonymousUsers, TokenRefreshPerFive: in.TokenRefresh,
		SignInSignUpPerFive: in.SignInSignUps, VerificationPerFive: in.TokenVerifications, ChallengePerMinute: 15,
		PasskeyPerFive: in.SignInSignUps, SSOPerFive: in.SignInSignUps, SAMLPerFive: in.SignInSignUps, OAuthRegisterPerFive: 10,
		Mail: auth.MailLimits{Gap: time.Minute, PerAddress: 5, PerNetwork: 10},
	}
}

func authHooks(in map[string]config.AuthHook) auth.Hooks {
	var out auth.Hooks
	for name, to := range map[string]*hook.Hook{
		"custom_access_token": &out.CustomAccessToken, "send_email": &out.SendEmail, "send_sms": &out.SendSMS,
		"password_verification_attempt": &out.PasswordVerificationAttempt,
		"mfa_verification_attempt":      &out.MFAVerificationAttempt, "before_user_created": &out.BeforeUserCreated,
		"after_user_created": &out.AfterUserCreated,
	} {
		if h := in[name]; h.Enabled {
			*to = hook.Hook{URI: h.URI, Secrets: strings.FieldsFunc(h.Secrets, func(c rune) bool { return c == '|' })}
		}
	}
	return out
}

func authProviders(in map[string]config.AuthProvider, external string) map[string]idp.Config {
	out := map[string]idp.Config{}
	for name, p := range in {
		if !p.Enabled {
			continue
		}
		o := idp.Config{
			ClientIDs: strings.FieldsFunc(p.ClientID, func(c rune) bool { return c == ',' || c == ' ' }),
			Secret:    p.Secret, RedirectURI: p.RedirectURI, URL: p.URL, SkipNonceCheck: p.SkipNonceCheck,
			EmailOptional: p.EmailOptional,
		}
		if o.RedirectURI == "" {
			o.RedirectURI = external + "/callback"
		}
		out[name] = o
	}
	return out
}

// authMail translates [auth.email] and reads the custom templates from the files that config.toml
// names.
func authMail(in config.AuthEmail, project fs.FS, dir string) (auth.MailConfig, error) {
	out := auth.MailConfig{
		CodeLength: in.OTPLength, CodeExpiry: time.Duration(in.OTPExpiry) * time.Second,
		MaxFrequency: orNone(in.MaxFrequency), SingleConfirmation: !in.DoubleConfirmChanges,
		Subjects: map[string]string{}, Templates: map[string]string{}, Notifications: map[string]bool{},
	}
	addTemplate := func(name, subject, file string) error {
		if subject != "" {
			out.Subjects[name] = subject
		}
		if file == "" {
			return nil
		}
		text, err := readTemplate(project, dir, file)
		if err != nil {
			return fmt.Errorf("[auth.email] template %s: %w", name, err)
		}
		out.Templates[name] = string(text)
		return nil
	}
	for name, t := range in.Template {
		if err := addTemplate(name, t.Subject, t.ContentPath); err != nil {
			return out, err
		}
	}
	for name, n := range in.Notification {
		out.Notifications[name] = n.Enabled
		if err := addTemplate(name+"_notification", n.Subject, n.ContentPath); err != nil {
			return out, err
		}
	}
	return out, nil
}

// readTemplate reads the text of a mail. As with the official CLI, paths are relative to the folder
// above config.toml's. project starts at the latter. dir is its path, "" for a project inside
// the program.
func readTemplate(project fs.FS, dir, file string) ([]byte, error) {
	clean := path.Clean(strings.TrimPrefix(filepath.ToSlash(file), "./"))
	text, err := fs.ReadFile(project, strings.TrimPrefix(clean, "supabase/"))
	if err == nil || dir == "" || filepath.IsAbs(file) {
		return text, err
	}
	if outside, e := os.ReadFile(filepath.Join(dir, "..", filepath.FromSlash(clean))); e == nil {
		return outside, nil
	}
	return nil, err
}

// textProvider returns the SMS provider that config.toml enables, or "" if it enables none.
func textProvider(c *config.Config) (string, sms.Config) {
	s := c.Auth.SMS
	switch {
	case s.Twilio.Enabled:
		return "twilio", sms.Config{Account: s.Twilio.AccountSID, Secret: s.Twilio.AuthToken,
			Sender: s.Twilio.MessageServiceSID}
	case s.TwilioVerify.Enabled:
		return "twilio_verify", sms.Config{Account: s.TwilioVerify.AccountSID, Secret: s.TwilioVerify.AuthToken,
			Sender: s.TwilioVerify.MessageServiceSID}
	case s.MessageBird.Enabled:
		return "messagebird", sms.Config{Secret: s.MessageBird.AccessKey, Sender: s.MessageBird.Originator}
	case s.Textlocal.Enabled:
		return "textlocal", sms.Config{Secret: s.Textlocal.APIKey, Sender: s.Textlocal.Sender}
	case s.Vonage.Enabled:
		return "vonage", sms.Config{Account: s.Vonage.APIKey, Secret: s.Vonage.APISecret, Sender: s.Vonage.From}
	}
	return "", sms.Config{}
}

// textSender returns the sender of SMS, or nil if no provider is enabled.
func textSender(c *config.Config) auth.SMS {
	name, account := textProvider(c)
	switch name {
	case "":
		return nil
	case "twilio_verify":
		return sms.NewVerify(account)
	}
	return sms.New(name, account)
}

// requiredCharacters returns the sets of characters for a value of password_requirements.
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
