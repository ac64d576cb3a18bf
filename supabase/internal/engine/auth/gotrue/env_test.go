package gotrue

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/auth"
)

func lookup(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

// TestFromEnv reads the variables of a compose file.
func TestFromEnv(t *testing.T) {
	s, err := fromEnv(lookup(map[string]string{
		"DATABASE_URL": "postgres://db/postgres", "PORT": "9999", "API_EXTERNAL_URL": "https://example.org/auth/v1",
		"GOTRUE_SITE_URL": "https://example.org", "GOTRUE_JWT_SECRET": "secret", "GOTRUE_JWT_EXP": "60",
		"GOTRUE_MAILER_AUTOCONFIRM": "true", "GOTRUE_URI_ALLOW_LIST": "https://a.example.org,https://b.example.org",
		"GOTRUE_RATE_LIMIT_EMAIL_SENT": "0",
		"GOTRUE_RATE_LIMIT_SMS_SENT":   "10/30m", "GOTRUE_PASSWORD_REQUIRED_CHARACTERS": `abc:12\:3`,
		"GOTRUE_SMS_TEST_OTP": "+1 61 1:123456", "GOTRUE_EXTERNAL_GITHUB_ENABLED": "true",
		"GOTRUE_EXTERNAL_GITHUB_CLIENT_ID": "id", "GOTRUE_SESSIONS_TIMEBOX": "24h",
		"GOTRUE_OAUTH_SERVER_ENABLED": "true", "GOTRUE_OAUTH_SERVER_AUTHORIZATION_PATH": "/let-in",
		"GOTRUE_OAUTH_SERVER_AUTHORIZATION_TTL": "5m", "GOTRUE_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION": "true",
		"GOTRUE_OAUTH_SERVER_DEFAULT_SCOPE": "openid",
	}), []string{
		"GOTRUE_SITE_URL=https://example.org", "GOTRUE_DB_DRIVER=postgres", "GOTRUE_LOG_LEVEL=debug",
		"GOTRUE_EXTERNAL_ZOOM_CLIENT_ID=x", "GOTRUE_EXTERNAL_GITHUB_SECRET=x", "GOTRUE_SAML_PRIVATE_KEY=x",
		"GOTRUE_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED=true", "GOTRUE_HOOK_SEND_SMS_URI=x",
		"GOTRUE_PASSWORD_HIBP_BLOOM_ENABLED=true", "GOTRUE_JWT_ADMIN_GROUP_NAME=admin", "PATH=/bin",
	})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Auth
	switch {
	case s.Port != "9999", c.TokenExpiry != time.Minute, !c.MailerAutoconfirm, len(c.RedirectURLs) != 2,
		c.Limits.EmailPerHour != -1, c.Limits.SMSPerHour != 20, c.RequiredCharacters[1] != "12:3",
		c.SMS.TestCodes["1611"] != "123456", c.Timebox != 24*time.Hour,
		c.Providers["github"].RedirectURI != "https://example.org/auth/v1/callback", !c.RefreshTokenRotation,
		s.SMTP != nil, c.OAuthServer != auth.OAuthServerConfig{Enabled: true, DynamicRegistration: true,
			ConsentPath: "/let-in", Life: 5 * time.Minute, DefaultScope: "openid"},
		c.Limits.OAuthRegisterPerFive != 10, c.Limits.Burst != 30:
		t.Errorf("%+v", s)
	}
	// Not listed: variables that are read, that belong to a disabled feature, or that do not affect
	// access.
	if want := []string{"GOTRUE_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED",
		"GOTRUE_JWT_ADMIN_GROUP_NAME"}; !slices.Equal(s.Unread, want) {
		t.Errorf("unread %q, want %q", s.Unread, want)
	}
}

// TestFromEnvReportsAllErrors checks that one error names every wrong or missing variable.
func TestFromEnvReportsAllErrors(t *testing.T) {
	_, err := fromEnv(lookup(map[string]string{
		"GOTRUE_JWT_EXP": "soon", "GOTRUE_SAML_ENABLED": "true", "GOTRUE_JWT_KEYS": "[{}]",
		"GOTRUE_MAILER_TEMPLATES_INVITE": "ftp://example.org/t.html", "GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPT": "true",
		"GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS": "a:b", "GOTRUE_SMTP_HEADERS": "{", "GOTRUE_SMTP_HOST": "mail",
		"GOTRUE_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS": "github=a", "GOTRUE_MAILER_EMAIL_VALIDATION_EXTENDED": "true",
		"GOTRUE_SECURITY_REFRESH_TOKEN_UPGRADE_PERCENTAGE": "101", "GOTRUE_SMS_PROVIDER": "twilio_verify",
		"DB_NAMESPACE": "accounts", "GOTRUE_EXPERIMENTAL_SCIM_ENABLED": "true",
	}), nil)
	for _, name := range []string{"DATABASE_URL", "SITE_URL", "API_EXTERNAL_URL", "JWT_SECRET", "JWT_EXP",
		"SAML_ENABLED", "TEMPLATES_INVITE", "JWT_KEYS", "DB_ENCRYPTION_ENCRYPT", "DECRYPTION_KEYS", "SMTP_HEADERS",
		"LINKING_DOMAINS", "EMAIL_VALIDATION_EXTENDED", "UPGRADE_PERCENTAGE", "TWILIO_VERIFY_AUTH_TOKEN",
		"DB_NAMESPACE", "SCIM_ENABLED"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

// without are GoTrue's variables that have no effect here and may matter, so a start names them.
var without = []string{"EXPERIMENTAL_CURSOR_PAGINATION_ENABLED", "EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION",
	"EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION", "JWT_ADMIN_GROUP_NAME"}

// TestEveryVariable checks that each variable in the configuration of GoTrue v2.196 is read, is
// refused, has no effect that matters, or is named at the start. testdata/variables.txt holds their
// names.
func TestEveryVariable(t *testing.T) {
	text, err := os.ReadFile("testdata/variables.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(text))
	var environ []string
	for _, name := range names {
		environ = append(environ, "GOTRUE_"+name+"=x")
	}
	e := &env{asked: map[string]bool{}}
	for _, provider := range []string{"twilio", "twilio_verify", "messagebird", "textlocal", "vonage"} {
		e.get = func(full string) (string, bool) { // all parts are enabled
			switch {
			case full == "GOTRUE_SMS_PROVIDER":
				return provider, true
			case full == "GOTRUE_SMTP_HOST":
				return "localhost", true
			}
			return "true", strings.HasSuffix(full, "_ENABLED")
		}
		e.settings()
	}
	var got []string
	for _, full := range e.unread(environ) {
		got = append(got, strings.TrimPrefix(full, "GOTRUE_"))
	}
	if !slices.Equal(got, without) {
		t.Errorf("named at the start: %q, want %q", got, without)
	}
	for _, name := range harmless {
		if !slices.Contains(names, name) || e.asked[name] {
			t.Errorf("%s is no variable of GoTrue, or has an effect", name)
		}
	}
}
