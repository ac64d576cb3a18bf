// Package gotrue is `daawo serve auth`: the auth engine with GoTrue's environment variables, port
// and health path. It replaces GoTrue in a compose file by a change of one line.
package gotrue

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/engine/auth"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/message/sms"
)

// settings holds the values of the environment variables.
type settings struct {
	Auth        auth.Config
	DatabaseURL string
	MaxConns    int
	Host, Port  string
	LogLevel    string

	RequestIDHeader string

	Signer    keys.Key
	Verifying []keys.Key

	SMTP *mail.Server // nil without a mail server
	SMS  auth.SMS     // nil without an SMS provider

	Templates    remoteTemplates
	ForwardedFor bool // the header sb-forwarded-for names the client

	AllowedHeaders []string // allowed in CORS requests besides GoTrue's own
	Sweeps         bool     // delete expired rows every hour
	Unread         []string // variables that are set but have no effect
}

// fromEnv reads the variables and returns all errors joined. In production getenv is os.LookupEnv
// and environ is os.Environ().
func fromEnv(getenv func(string) (string, bool), environ []string) (settings, error) {
	e := &env{get: getenv, asked: map[string]bool{}}
	s := e.settings()
	s.Unread = e.unread(environ)
	return s, errors.Join(e.errs...)
}

func (e *env) settings() settings {
	s := settings{
		DatabaseURL: e.text("DB_DATABASE_URL", e.text("DATABASE_URL", "")),
		MaxConns:    e.int("DB_MAX_POOL_SIZE", 10),
		Host:        e.text("API_HOST", ""),
		Port:        e.text("API_PORT", e.text("PORT", "8081")),
		LogLevel:    e.text("LOG_LEVEL", "info"),

		RequestIDHeader: e.text("API_REQUEST_ID_HEADER", e.text("REQUEST_ID_HEADER", "")),

		AllowedHeaders: e.list("CORS_ALLOWED_HEADERS"),
		Sweeps:         e.flag("DB_CLEANUP_ENABLED", false),
	}
	if s.DatabaseURL == "" {
		e.errs = append(e.errs, errors.New("DATABASE_URL is required"))
	}
	s.Auth = e.auth()
	e.keys(&s)
	s.SMTP = e.smtp()
	s.SMS = e.sms(&s.Auth)
	s.Templates = e.remoteTemplates()
	s.ForwardedFor = e.flag("SECURITY_SB_FORWARDED_FOR_ENABLED", false)
	if s.ForwardedFor && s.Auth.Limits.Header == "" {
		s.Auth.Limits.Header = forwardedFor
	}
	return s
}

func (e *env) auth() auth.Config {
	c := auth.Config{
		SiteURL: e.need("SITE_URL"), ExternalURL: e.need("API_EXTERNAL_URL"), RedirectURLs: e.list("URI_ALLOW_LIST"),
		Issuer: e.text("JWT_ISSUER", ""), Audience: e.text("JWT_AUD", ""),
		DefaultRole: e.text("JWT_DEFAULT_GROUP_NAME", ""), AdminRoles: e.list("JWT_ADMIN_ROLES"),
		TokenExpiry: e.seconds("JWT_EXP", 3600), RequestTimeout: e.duration("API_MAX_REQUEST_DURATION", 0),

		DisableSignup: e.flag("DISABLE_SIGNUP", false), DisableEmail: !e.flag("EXTERNAL_EMAIL_ENABLED", true),
		DisableMagicLink:  !e.flag("EXTERNAL_EMAIL_MAGIC_LINK_ENABLED", true),
		EnablePhone:       e.flag("EXTERNAL_PHONE_ENABLED", false),
		EnableAnonymous:   e.flag("EXTERNAL_ANONYMOUS_USERS_ENABLED", false),
		ManualLinking:     e.flag("SECURITY_MANUAL_LINKING_ENABLED", false),
		MailerAutoconfirm: e.flag("MAILER_AUTOCONFIRM", false), PhoneAutoconfirm: e.flag("SMS_AUTOCONFIRM", false),
		AllowUnverifiedEmail: e.flag("MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS", false),

		MinimumPasswordLength: e.int("PASSWORD_MIN_LENGTH", 6),
		RequiredCharacters:    characters(e.text("PASSWORD_REQUIRED_CHARACTERS", "")),
		LeakedPasswords:       e.text("PASSWORD_LEAKED_FILE", ""),
		LeakedOnline: auth.LeakedOnline{Enabled: e.flag("PASSWORD_HIBP_ENABLED", false),
			FailClosed: e.flag("PASSWORD_HIBP_FAIL_CLOSED", false), UserAgent: e.text("PASSWORD_HIBP_USER_AGENT", "")},
		RequireReauth:  e.flag("SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION", false),
		RequireCurrent: e.flag("SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD", false),

		SignedRefreshTokens:      e.int("SECURITY_REFRESH_TOKEN_ALGORITHM_VERSION", 1) == 2,
		RefreshUpgradePercentage: e.percentage("SECURITY_REFRESH_TOKEN_UPGRADE_PERCENTAGE"),
		RefreshTokenRotation:     e.flag("SECURITY_REFRESH_TOKEN_ROTATION_ENABLED", true),
		AllowReuse:               e.flag("SECURITY_REFRESH_TOKEN_ALLOW_REUSE", false),
		ReuseInterval:            e.seconds("SECURITY_REFRESH_TOKEN_REUSE_INTERVAL", 0),
		Timebox:                  e.duration("SESSIONS_TIMEBOX", 0),
		Inactivity:               e.duration("SESSIONS_INACTIVITY_TIMEOUT", 0),
		AllowLowAAL:              e.duration("SESSIONS_ALLOW_LOW_AAL", 0),
		SinglePerUser:            e.flag("SESSIONS_SINGLE_PER_USER", false),
		SessionTags:              e.list("SESSIONS_TAGS"),
		FlowExpiry:               e.duration("EXTERNAL_FLOW_STATE_EXPIRY_DURATION", 0),
		IDTokenIssuers:           e.list("EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS"),
		ExternalRedirectURL:      e.text("EXTERNAL_REDIRECTURL", ""),
		NoAuditTable:             e.flag("AUDIT_LOG_DISABLE_POSTGRES", false),

		MFA: e.mfa(),
		WebAuthn: auth.WebAuthnConfig{
			RPID: e.text("WEBAUTHN_RP_ID", ""), RPDisplayName: e.text("WEBAUTHN_RP_DISPLAY_NAME", ""),
			RPOrigins: e.list("WEBAUTHN_RP_ORIGINS"), Passkeys: e.flag("PASSKEY_ENABLED", false),
			MaxPasskeys:     e.int("PASSKEY_MAX_PASSKEYS_PER_USER", 10),
			ChallengeExpiry: e.duration("WEBAUTHN_CHALLENGE_EXPIRY_DURATION", 0),
		},
		Limits: e.limits(),
		OAuthServer: auth.OAuthServerConfig{
			Enabled:             e.flag("OAUTH_SERVER_ENABLED", false),
			DynamicRegistration: e.flag("OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION", false),
			ConsentPath:         e.text("OAUTH_SERVER_AUTHORIZATION_PATH", ""),
			Life:                e.duration("OAUTH_SERVER_AUTHORIZATION_TTL", 0),
			DefaultScope:        e.text("OAUTH_SERVER_DEFAULT_SCOPE", ""),
		},
		CustomProviders: auth.CustomProvidersConfig{
			Disabled: !e.flag("CUSTOM_OAUTH_ENABLED", true), Max: e.int("CUSTOM_OAUTH_MAX_PROVIDERS", 0),
			ExternalURL: e.text("CUSTOM_OAUTH_EXTERNAL_URL", ""),
		},
	}
	if e.flag("SECURITY_CAPTCHA_ENABLED", false) {
		c.Captcha = auth.Captcha{Provider: e.text("SECURITY_CAPTCHA_PROVIDER", "hcaptcha"),
			Secret: e.need("SECURITY_CAPTCHA_SECRET"), Timeout: e.duration("SECURITY_CAPTCHA_TIMEOUT", 0)}
	}
	c.SAML = auth.SAMLConfig{
		Enabled: e.flag("SAML_ENABLED", false), PrivateKey: e.text("SAML_PRIVATE_KEY", ""),
		NextKey:        e.text("SAML_PRIVATE_KEY_NEXT", ""),
		AllowEncrypted: e.flag("SAML_ALLOW_ENCRYPTED_ASSERTIONS", false),
		RelayStateLife: e.duration("SAML_RELAY_STATE_VALIDITY_PERIOD", 0),
		ExternalURL:    e.text("SAML_EXTERNAL_URL", ""),
	}
	if err := c.SAML.Validate(); err != nil {
		e.errs = append(e.errs, fmt.Errorf("GOTRUE_SAML_ENABLED: %w", err))
	}
	e.refuse()
	c.Mail, c.Hooks, c.Providers = e.mail(), e.hooks(), e.providers(c.ExternalURL)
	return c
}

func (e *env) mfa() auth.MFAConfig {
	return auth.MFAConfig{
		DisableTOTPEnroll:    !e.flag("MFA_TOTP_ENROLL_ENABLED", true),
		DisableTOTPVerify:    !e.flag("MFA_TOTP_VERIFY_ENABLED", true),
		EnablePhoneEnroll:    e.flag("MFA_PHONE_ENROLL_ENABLED", false),
		EnablePhoneVerify:    e.flag("MFA_PHONE_VERIFY_ENABLED", false),
		EnableWebAuthnEnroll: e.flag("MFA_WEB_AUTHN_ENROLL_ENABLED", false),
		EnableWebAuthnVerify: e.flag("MFA_WEB_AUTHN_VERIFY_ENABLED", false),
		MaxFactors:           e.int("MFA_MAX_ENROLLED_FACTORS", 10),
		MaxVerified:          e.int("MFA_MAX_VERIFIED_FACTORS", 10),
		ChallengeExpiry:      e.seconds("MFA_CHALLENGE_EXPIRY_DURATION", 300),
		FactorExpiry:         e.duration("MFA_FACTOR_EXPIRY_DURATION", 0),
		PhoneTemplate:        e.text("MFA_PHONE_TEMPLATE", ""), PhoneCodeLength: e.int("MFA_PHONE_OTP_LENGTH", 6),
		PhoneMaxFrequency: e.duration("MFA_PHONE_MAX_FREQUENCY", 0),
	}
}

func (e *env) limits() auth.Limits {
	return auth.Limits{
		Header: e.text("RATE_LIMIT_HEADER", ""), Burst: burst, EmailPerHour: e.rate("RATE_LIMIT_EMAIL_SENT", 30),
		SMSPerHour: e.rate("RATE_LIMIT_SMS_SENT", 30), AnonymousPerHour: e.int("RATE_LIMIT_ANONYMOUS_USERS", 30),
		TokenRefreshPerFive: e.int("RATE_LIMIT_TOKEN_REFRESH", 150),
		SignInSignUpPerFive: e.int("RATE_LIMIT_OTP", 30), VerificationPerFive: e.int("RATE_LIMIT_VERIFY", 30),
		ChallengePerMinute: e.int("MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY", 15),
		Web3PerFive:        e.int("RATE_LIMIT_WEB3", 30), PasskeyPerFive: e.int("RATE_LIMIT_PASSKEY", 30),
		SSOPerFive: e.int("RATE_LIMIT_SSO", 30), SAMLPerFive: e.int("SAML_RATE_LIMIT_ASSERTION", 15),
		OAuthRegisterPerFive: e.int("RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER", 10),
	}
}

// characters splits sets of characters at colons. `\:` stands for a colon.
func characters(text string) []string {
	const escaped = "\x00"
	var out []string
	for part := range strings.SplitSeq(strings.ReplaceAll(text, `\:`, escaped), ":") {
		if part != "" {
			out = append(out, strings.ReplaceAll(part, escaped, ":"))
		}
	}
	return out
}

var templates = []string{
	"INVITE", "CONFIRMATION", "RECOVERY", "EMAIL_CHANGE", "MAGIC_LINK", "REAUTHENTICATION",
	"PASSWORD_CHANGED_NOTIFICATION", "EMAIL_CHANGED_NOTIFICATION", "PHONE_CHANGED_NOTIFICATION",
	"IDENTITY_LINKED_NOTIFICATION", "IDENTITY_UNLINKED_NOTIFICATION", "MFA_FACTOR_ENROLLED_NOTIFICATION",
	"MFA_FACTOR_UNENROLLED_NOTIFICATION",
}

// mail reads the mail settings and the templates that are files. Templates that are URLs are in
// s.Templates.
func (e *env) mail() auth.MailConfig {
	c := auth.MailConfig{
		CodeLength: e.int("MAILER_OTP_LENGTH", 6), CodeExpiry: e.seconds("MAILER_OTP_EXP", 86400),
		MaxFrequency:       e.duration("SMTP_MAX_FREQUENCY", 0),
		SingleConfirmation: !e.flag("MAILER_SECURE_EMAIL_CHANGE_ENABLED", true),
		Authorized:         e.list("EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES"),
		ExternalHosts:      e.list("MAILER_EXTERNAL_HOSTS"), Subjects: map[string]string{},
		Templates: map[string]string{}, Paths: map[string]string{}, Notifications: map[string]bool{},
	}
	for _, upper := range templates {
		name := strings.ToLower(upper)
		if v := e.text("MAILER_SUBJECTS_"+upper, ""); v != "" {
			c.Subjects[name] = v
		}
		if v := e.text("MAILER_URLPATHS_"+upper, ""); v != "" {
			c.Paths[name] = v
		}
		if kind, ok := strings.CutSuffix(upper, "_NOTIFICATION"); ok {
			c.Notifications[strings.ToLower(kind)] = e.flag("MAILER_NOTIFICATIONS_"+kind+"_ENABLED", false)
		}
		file := e.text("MAILER_TEMPLATES_"+upper, "")
		if file == "" {
			continue
		}
		if strings.Contains(file, "://") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			e.errs = append(e.errs, fmt.Errorf("GOTRUE_MAILER_TEMPLATES_%s: %w", upper, err))
			continue
		}
		c.Templates[name] = string(text)
	}
	return c
}

func (e *env) hooks() auth.Hooks {
	var h auth.Hooks
	for name, to := range map[string]*hook.Hook{
		"CUSTOM_ACCESS_TOKEN": &h.CustomAccessToken, "SEND_EMAIL": &h.SendEmail, "SEND_SMS": &h.SendSMS,
		"PASSWORD_VERIFICATION_ATTEMPT": &h.PasswordVerificationAttempt,
		"MFA_VERIFICATION_ATTEMPT":      &h.MFAVerificationAttempt, "BEFORE_USER_CREATED": &h.BeforeUserCreated,
		"AFTER_USER_CREATED": &h.AfterUserCreated,
	} {
		if e.flag("HOOK_"+name+"_ENABLED", false) {
			secrets := strings.FieldsFunc(e.text("HOOK_"+name+"_SECRETS", ""), func(c rune) bool { return c == '|' })
			*to = hook.Hook{URI: e.need("HOOK_" + name + "_URI"), Secrets: secrets}
		}
	}
	return h
}

func (e *env) providers(external string) map[string]idp.Config {
	out := map[string]idp.Config{}
	for _, name := range idp.Names() {
		p := "EXTERNAL_" + strings.ToUpper(name)
		if !e.flag(p+"_ENABLED", false) {
			continue
		}
		c := idp.Config{
			ClientIDs: e.list(p + "_CLIENT_ID"), Secret: e.text(p+"_SECRET", ""),
			RedirectURI: e.text(p+"_REDIRECT_URI", strings.TrimSuffix(external, "/")+"/callback"),
			URL:         e.text(p+"_URL", ""), SkipNonceCheck: e.flag(p+"_SKIP_NONCE_CHECK", false),
			EmailOptional: e.flag(p+"_EMAIL_OPTIONAL", false),
		}
		if name == "apple" {
			c.Audiences = e.list("EXTERNAL_IOS_BUNDLE_ID")
		}
		out[name] = c
	}
	return out
}

// keys reads the secret and the JWK set. The key whose key_ops allow signing signs.
func (e *env) keys(s *settings) {
	secret := e.need("JWT_SECRET")
	text := e.text("JWT_KEYS", "[]")
	set, err := keys.ParseSet(text)
	switch {
	case err != nil:
		e.errs = append(e.errs, fmt.Errorf("GOTRUE_JWT_KEYS: %w", err))
		return
	case len(set) == 0:
		s.Signer = keys.Secret(e.text("JWT_KEY_ID", ""), secret)
		set = []keys.Key{keys.Secret("", secret)}
	default:
		if s.Signer, err = signingKey(text, set); err != nil {
			e.errs = append(e.errs, fmt.Errorf("GOTRUE_JWT_KEYS: %w", err))
		}
	}
	s.Verifying = verifying(set, secret, e.list("JWT_VALID_METHODS"))
}

// verifying returns the keys of the set with one of the methods, by default the methods of all its
// keys. The secret verifies only if HS256 is among the methods; otherwise it has been retired.
func verifying(set []keys.Key, secret string, methods []string) []keys.Key {
	if len(methods) == 0 {
		for _, k := range set {
			methods = append(methods, k.Algorithm)
		}
	}
	var out []keys.Key
	for _, k := range set {
		if slices.Contains(methods, k.Algorithm) {
			out = append(out, k)
		}
	}
	if slices.Contains(methods, "HS256") {
		out = append(out, keys.Secret("", secret))
	}
	return out
}

// signingKey returns the one key of the set that signs: the one whose key_ops have "sign", else the
// one private key.
func signingKey(text string, set []keys.Key) (keys.Key, error) {
	var list []struct {
		Ops []string `json:"key_ops"`
	}
	_ = json.Unmarshal([]byte(text), &list) // fails for {"keys": […]}, whose key_ops are ignored
	var signing, private []keys.Key
	for i, k := range set {
		if !k.CanSign() {
			continue
		}
		private = append(private, k)
		if i < len(list) && slices.Contains(list[i].Ops, "sign") {
			signing = append(signing, k)
		}
	}
	if len(signing) == 0 {
		signing = private
	}
	switch len(signing) {
	case 0:
		return keys.Key{}, errors.New(`no key signs; add "sign" to the key_ops of one private key`)
	case 1:
		return signing[0], nil
	}
	return keys.Key{}, fmt.Errorf(`%d keys sign; leave "sign" in the key_ops of one`, len(signing))
}

// smtp returns the mail server, or nil without GOTRUE_SMTP_HOST.
func (e *env) smtp() *mail.Server {
	host := e.text("SMTP_HOST", "")
	if host == "" {
		return nil
	}
	server := &mail.Server{
		Host: host, Port: e.int("SMTP_PORT", 587), User: e.text("SMTP_USER", ""), Password: e.text("SMTP_PASS", ""),
		From: e.need("SMTP_ADMIN_EMAIL"), FromName: e.text("SMTP_SENDER_NAME", ""),
	}
	// As in GoTrue, TLS is optional: mail catchers of compose files offer none.
	server.Plain = server.Port != 465
	server.Headers = read(e, "SMTP_HEADERS", nil, func(v string) (out map[string][]string, err error) {
		return out, json.Unmarshal([]byte(v), &out)
	})
	return server
}

func (e *env) sms(c *auth.Config) auth.SMS {
	c.SMS = auth.SMSConfig{
		Template: e.text("SMS_TEMPLATE", ""), CodeLength: e.int("SMS_OTP_LENGTH", 6),
		CodeExpiry: e.seconds("SMS_OTP_EXP", 60), MaxFrequency: e.duration("SMS_MAX_FREQUENCY", 0),
		TestCodes: map[string]string{},
	}
	for _, pair := range e.list("SMS_TEST_OTP") {
		if phone, code, ok := strings.Cut(pair, ":"); ok {
			c.SMS.TestCodes[strings.TrimPrefix(strings.ReplaceAll(phone, " ", ""), "+")] = code
		}
	}
	c.SMS.TestUntil = read(e, "SMS_TEST_OTP_VALID_UNTIL", time.Time{},
		func(v string) (time.Time, error) { return time.Parse(time.RFC3339, v) })
	c.SMSProvider = e.text("SMS_PROVIDER", "")
	switch c.SMSProvider {
	case "":
		return nil
	case "twilio":
		c.SMS.WhatsApp = true
		return sms.New("twilio", sms.Config{Account: e.text("SMS_TWILIO_ACCOUNT_SID", ""),
			Secret: e.text("SMS_TWILIO_AUTH_TOKEN", ""), Sender: e.text("SMS_TWILIO_MESSAGE_SERVICE_SID", ""), Content: e.text("SMS_TWILIO_CONTENT_SID", "")})
	case "twilio_verify":
		c.SMS.WhatsApp = true
		return sms.NewVerify(sms.Config{Account: e.need("SMS_TWILIO_VERIFY_ACCOUNT_SID"),
			Secret: e.need("SMS_TWILIO_VERIFY_AUTH_TOKEN"), Sender: e.need("SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID")})
	case "messagebird":
		return sms.New("messagebird", sms.Config{Secret: e.text("SMS_MESSAGEBIRD_ACCESS_KEY", ""),
			Sender: e.text("SMS_MESSAGEBIRD_ORIGINATOR", "")})
	case "textlocal":
		return sms.New("textlocal",
			sms.Config{Secret: e.text("SMS_TEXTLOCAL_API_KEY", ""), Sender: e.text("SMS_TEXTLOCAL_SENDER", "")})
	case "vonage":
		return sms.New("vonage", sms.Config{Account: e.text("SMS_VONAGE_API_KEY", ""),
			Secret: e.text("SMS_VONAGE_API_SECRET", ""), Sender: e.text("SMS_VONAGE_FROM", "")})
	}
	e.errs = append(e.errs, fmt.Errorf("GOTRUE_SMS_PROVIDER: unknown provider %q; "+
		"use twilio, twilio_verify, messagebird, textlocal or vonage", c.SMSProvider))
	return nil
}
