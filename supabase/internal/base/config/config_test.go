package config

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// env returns a Getenv of names and values in turn.
func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

// TestPrecedence checks that variables override config.toml and that flags override variables.
func TestPrecedence(t *testing.T) {
	file := []byte(`
[api]
port = 1
max_rows = 7
[auth]
jwt_expiry = 60
`)
	c, err := Load(Sources{
		File: file, Name: "config.toml",
		Getenv:    env("SUPABASE_API_PORT", "2", "SUPABASE_AUTH_JWT_EXPIRY", "70"),
		Overrides: []func(*Config){func(c *Config) { c.API.Port = 3 }},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := []int{int(c.API.Port), int(c.API.MaxRows), c.Auth.JWTExpiry, int(c.DB.Port)}
	if diff := cmp.Diff([]int{3, 7, 70, 54322}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFileFormat checks sizes, durations, env(NAME), old section names and unused keys in
// config.toml.
func TestFileFormat(t *testing.T) {
	file := []byte(`
[inbucket]
port = 9
[storage]
file_size_limit = "5MB"
[storage.buckets.photos]
public = false
file_size_limit = 1024
[auth.email]
max_frequency = "2m"
[auth.email.smtp]
enabled = true
host = "mail.example.org"
port = 465
pass = "env(MAIL_PASS)"
admin_email = "site@example.org"
[auth.external.google]
enabled = true
secret = "env(MISSING)"
[auth.sms.test_otp]
15550100 = "123456"
[edge_runtime]
deno_version = 2
`)
	c, err := Load(Sources{File: file, Name: "config.toml", Getenv: env("MAIL_PASS", "hunter2")})
	if err != nil {
		t.Fatal(err)
	}
	want := SMTP{Host: "mail.example.org", Port: 465, Pass: "hunter2", AdminEmail: "site@example.org"}
	if diff := cmp.Diff(want, c.SMTP); diff != "" {
		t.Error("SMTP settings of config.toml are not used:", diff)
	}
	if c.Inbox.Port != 9 || c.Storage.FileSizeLimit != 5<<20 || c.Storage.Buckets["photos"].FileSizeLimit != 1024 {
		t.Errorf("inbox %d, limit %v, bucket %v", c.Inbox.Port, c.Storage.FileSizeLimit, c.Storage.Buckets["photos"])
	}
	if c.Auth.Email.MaxFrequency.String() != "2m0s" || c.Auth.SMS.TestOTP["15550100"] != "123456" {
		t.Errorf("max_frequency %v, test_otp %v", c.Auth.Email.MaxFrequency, c.Auth.SMS.TestOTP)
	}
	if p := c.Auth.External["google"]; !p.Enabled || p.Secret != "" {
		t.Errorf("env(NAME) of an unset variable is not empty: %+v", p)
	}
	if !slices.Contains(c.Ignored, "edge_runtime.deno_version") {
		t.Errorf("the unused key is missing in Ignored: %v", c.Ignored)
	}
}

// TestGatewayRouteAsService checks that CheckServices rejects the route of a gateway as the URL of
// a service, except with DATABASE_URL.
func TestGatewayRouteAsService(t *testing.T) {
	c, err := Load(Sources{Getenv: env("REST_URL", "http://127.0.0.1:54321/rest/v1", "STORAGE_URL",
		"http://127.0.0.1:54321/storage/v1/", "AUTH_URL", "http://auth:9999", "FUNCTIONS_URL",
		"http://functions:9000")})
	if err != nil {
		t.Fatalf("Load rejects the routes, which commands that start no service must accept: %v", err)
	}
	err = c.CheckServices()
	if err == nil {
		t.Fatal("CheckServices accepts routes of a gateway")
	}
	for _, name := range []string{"REST_URL", "STORAGE_URL"} {
		if !strings.Contains(err.Error(), "unset "+name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
	for _, name := range []string{"AUTH_URL", "FUNCTIONS_URL"} {
		if strings.Contains(err.Error(), name) {
			t.Errorf("the error names %s, which is a service: %v", name, err)
		}
	}
	c.DatabaseURL = "postgres://db/postgres"
	if err := c.CheckServices(); err != nil {
		t.Errorf("with DATABASE_URL: %v", err)
	}
}

// TestErrorsNameSetting checks that the error for a wrong value names its setting and contains no
// password.
func TestErrorsNameSetting(t *testing.T) {
	tests := []struct {
		name string
		file string
		env  []string
		want string // part of the message
	}{
		{"syntax", "[api\nport=1", nil, "config.toml"},
		{"syntax after a password", "[auth.email.smtp]\npass = \"hunter2\"\nport = ,", nil, "line 3"},
		{"type", "[api]\nport = \"x\"", nil, "port"},
		{"host", "", []string{"DAAWO_HOST", "example.org"}, "DAAWO_HOST"},
		{"url", "", []string{"REST_URL", "localhost:3000"}, "REST_URL"},
		{"mail", "", []string{"ADMIN_EMAIL", "admin"}, "ADMIN_EMAIL"},
		{"mail with a name", "", []string{"ADMIN_EMAIL", "A <a@example.org>"}, "ADMIN_EMAIL"},
		{"links without a scheme", "[auth]\nsite_url = \"localhost:3000\"", nil, "auth.site_url"},
		{"links to a script", "[auth]\nsite_url = \"javascript://a\"", nil, "auth.site_url"},
		{"links without a host", "[auth]\nsite_url = \"https://\"", nil, "auth.site_url"},
		{"site with a path", "", []string{"SITE_URL", "https://example.org/x"}, "SITE_URL"},
		{"proxies", "", []string{"TRUSTED_PROXIES", "10.0.0.0/8,x"}, `TRUSTED_PROXIES: "x"`},
		{"port", "", []string{"SMTP_PORT", "70000"}, "SMTP_PORT"},
		{"sender", "", []string{"SMTP_HOST", "mail.example.org"}, "SMTP_ADMIN_EMAIL"},
		{"studio", "", []string{"STUDIO_UPSTREAM_URL", "http://studio:3000"}, "DASHBOARD_PASSWORD"},
		{"secret", "", []string{"JWT_SECRET", "short"}, "JWT_SECRET"},
		{"negative time between backups", "", []string{"BACKUP_EVERY", "-1h"},
			"BACKUP_EVERY: is -1h0m0s, at least 1m0s"},
		{"a limit of Realtime", "[realtime]\nmax_joins_per_second = 0", nil,
			"realtime.max_joins_per_second: is 0, at least 1"},
		{"no window", "[realtime]\nclient_presence_window = \"0s\"", nil,
			"realtime.client_presence_window: is 0s, it must be longer"},
		{"no backups to keep", "", []string{"BACKUP_KEEP", "-1"}, "BACKUP_KEEP: is -1, at least 1"},
		{"standby without lag", "", []string{"DATABASE_URL", "postgres://a/b", "DATABASE_READ_URL", "postgres://c/b",
			"DATABASE_READ_MAX_LAG", "0s"}, "DATABASE_READ_MAX_LAG: is 0s, at least 100ms"},
		{"third party without a name", "[auth.third_party.clerk]\nenabled = true", nil,
			"auth.third_party.clerk.domain: is required"},
		{"third party with a path",
			"[auth.third_party.clerk]\nenabled = true\ndomain = \"https://a.clerk.accounts.dev\"", nil,
			"is not a domain"},
		{"third party without TLS", "[auth.third_party.workos]\nenabled = true\nissuer_url = \"http://example.org\"",
			nil, "starts with https://"},
		{"two third parties", "[auth.third_party]\nclerk = {enabled = true, domain = \"a.clerk.accounts.dev\"}\nauth0 = {enabled = true, tenant = \"a\"}", nil, "only one issuer"},
		{"mail server without a sender", "[auth.email.smtp]\nhost = \"mail.example.org\"\nport = 587", nil,
			"auth.email.smtp.admin_email: is required"},
		{"mail server without a port",
			"[auth.email.smtp]\nhost = \"mail.example.org\"\nadmin_email = \"a@example.org\"", nil,
			"auth.email.smtp.port: is required"},
		{"size", "[storage]\nfile_size_limit = \"big\"", nil, "file_size_limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Sources{File: []byte(tt.file), Name: "config.toml", Getenv: env(tt.env...)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a message with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error contains a password: %v", err)
			}
		})
	}
}

var (
	publicHost     = []string{"DAAWO_HOST", "0.0.0.0"}
	publicComplete = append(slices.Clone(publicHost), "SITE_URL", "https://example.org/", "ADMIN_EMAIL",
		"a@example.org", "SMTP_HOST", "mail.example.org", "SMTP_ADMIN_EMAIL", "b@example.org")
)

// TestPublicAddress checks what a public installation requires, and that sign-up is disabled unless
// config.toml enables it.
func TestPublicAddress(t *testing.T) {
	c, err := Load(Sources{Getenv: env(publicHost...)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SITE_URL", "ADMIN_EMAIL", "SMTP_HOST"} {
		if err := c.CheckPublic(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not required: %v", name, err)
		}
	}
	if c.Auth.EnableSignup || c.Auth.EnableAnonymousSignIns {
		t.Error("sign-up is enabled on a public address")
	}
	if c, err = Load(Sources{Getenv: env(publicComplete...)}); err != nil || c.CheckPublic() != nil {
		t.Errorf("a complete configuration is rejected: %v, %v", err, c.CheckPublic())
	}
	if c.SiteURL != "https://example.org" {
		t.Errorf("SITE_URL is %q", c.SiteURL)
	}
	c, err = Load(Sources{Getenv: env(publicHost...), File: []byte("[auth]\nenable_signup = true")})
	if err != nil || !c.Auth.EnableSignup {
		t.Errorf("config.toml does not enable sign-up: %v", err)
	}
}

// TestLoopback checks which hosts and site URLs make an installation public.
func TestPageValues(t *testing.T) {
	program := Program{
		Defaults: map[string]string{"SMTP_SENDER_NAME": "Clinic"},
		Pages: []PageVariable{
			{Name: "CONTACT_EMAIL", Default: "nowhere@example.org"},
			{Name: "CONTACT_PHONE", Default: "0", Parse: func(s string) (string, error) {
				if s == "bad" {
					return "", errors.New("not a number")
				}
				return strings.TrimPrefix(s, "+"), nil
			}},
		},
	}
	c, err := Load(Sources{Program: program, Getenv: env("CONTACT_PHONE", "+12")})
	if err != nil {
		t.Fatal(err)
	}
	want := []PageValue{{"CONTACT_EMAIL", "nowhere@example.org", false}, {"CONTACT_PHONE", "12", true}}
	if diff := cmp.Diff(want, c.PageValues); diff != "" || c.SMTP.SenderName != "Clinic" {
		t.Errorf("sender %q, values %s", c.SMTP.SenderName, diff)
	}
	for name, value := range map[string]string{"CONTACT_PHONE": "bad", "SITE_URL": "https://example.org/\"x"} {
		if _, err := Load(Sources{Program: program, Getenv: env(name, value)}); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

// TestSiteOfApp checks that links of auth may open an application.
func TestSiteOfApp(t *testing.T) {
	for _, site := range []string{"my-app://auth-callback", "my.app://", "exp://127.0.0.1:8081/--/cb", "my-app:///"} {
		c, err := Load(Sources{File: []byte("[auth]\nsite_url = \"" + site + "\""), Name: "config.toml", Getenv: env()})
		if err != nil || c.Auth.SiteURL != site {
			t.Errorf("%s: %q, %v", site, c.Auth.SiteURL, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	// A proxy on this machine serves other machines.
	c, err := Load(Sources{Getenv: env("SITE_URL", "https://example.org")})
	if err != nil || c.Loopback() || c.CheckPublic() == nil || c.Auth.EnableSignup {
		t.Errorf("public SITE_URL: %v", err)
	}
	if c, err = Load(Sources{Getenv: env("SITE_URL", "http://localhost:8080")}); err != nil || !c.Loopback() {
		t.Errorf("local SITE_URL: %v", err)
	}
	for _, host := range []string{"127.0.0.1", "127.9.9.9", "::1", "localhost"} {
		c, err := Load(Sources{Getenv: env("DAAWO_HOST", host)})
		if err != nil || !c.Loopback() || c.CheckPublic() != nil || !c.Auth.EnableSignup {
			t.Errorf("host %s: %v", host, err)
		}
	}
}

// TestPlaceholderSecrets checks that secrets of example files and tutorials are rejected on a
// public address only.
func TestPlaceholderSecrets(t *testing.T) {
	complete := []string{"SITE_URL", "https://example.org", "ADMIN_EMAIL", "a@example.org", "SMTP_HOST",
		"mail.example.org", "SMTP_ADMIN_EMAIL", "b@example.org"}
	for _, tt := range []struct{ name, value string }{
		{"JWT_SECRET", "super-secret-jwt-token-with-at-least-32-characters-long"},
		{"JWT_SECRET", "your-super-secret-jwt-token-with-at-least-32-characters-long"},
		{"DASHBOARD_PASSWORD", "this_password_is_insecure_and_should_be_updated"},
		{"DASHBOARD_PASSWORD", "ChangeMe-please-1"},
		{"DASHBOARD_PASSWORD", "short"},
		{"METRICS_TOKEN", "token"},
		{"DATABASE_URL", "postgres://postgres:postgres@db:5432/postgres"},
		{"DATABASE_URL", "postgres://postgres:your-super-secret-and-long-postgres-password@db:5432/postgres"},
	} {
		c, err := Load(Sources{Getenv: env(append(complete, tt.name, tt.value)...)})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.CheckPublic(); err == nil || !strings.Contains(err.Error(), tt.name) ||
			strings.Contains(err.Error(), tt.value) {
			t.Errorf("%s=%s on a public address: %v", tt.name, tt.value, err)
		}
		c, err = Load(Sources{Getenv: env(tt.name, tt.value)})
		if err != nil || c.CheckPublic() != nil {
			t.Errorf("%s=%s on loopback: %v %v", tt.name, tt.value, err, c.CheckPublic())
		}
	}
	good := []string{"JWT_SECRET", "Vx0eWw2mFQpT6d1r9sKcYb4hJ8uLzNaG3oPi", "DASHBOARD_PASSWORD",
		"0123456789abcdef01234567", "DATABASE_URL", "postgres://postgres:b1946ac92492d234@db:5432/postgres"}
	if c, err := Load(Sources{Getenv: env(append(complete, good...)...)}); err != nil || c.CheckPublic() != nil {
		t.Errorf("generated secrets: %v %v", err, c.CheckPublic())
	}
}

func TestPrefixes(t *testing.T) {
	var p Prefixes
	if err := p.UnmarshalText([]byte("10.0.0.0/8, 192.0.2.1,2001:db8::/32")); err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{
		"10.200.1.1": true, "192.0.2.1": true, "192.0.2.2": false, "2001:db8::1": true, "::ffff:10.0.0.1": true,
		"::1": false,
	} {
		if got := p.Contains(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}

func TestSize(t *testing.T) {
	for in, want := range map[string]Size{
		"0": 0, "17": 17, "1KB": 1024, "1KiB": 1024, "1k": 1024, "5 MB": 5 << 20, "50MiB": 50 << 20, "1.5GiB": 3 << 29,
	} {
		var got Size
		if err := got.UnmarshalText([]byte(in)); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "-1", "5XB", "MB", "1e30TB"} {
		var got Size
		if err := got.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is accepted as %d", in, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("[api]\nport = 54321\n[auth.email]\nmax_frequency = \"1s\"\n[storage]\nfile_size_limit = \"5MB\""))
	f.Add([]byte("[auth.external.google]\nenabled = true\n[inbucket]\nport = 1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := Load(Sources{File: file, Name: "config.toml"})
		if (c == nil) == (err == nil) {
			t.Errorf("config %v and error %v", c, err)
		}
	})
}

// TestThirdPartyIssuer checks the issuers as the official CLI computes them.
func TestThirdPartyIssuer(t *testing.T) {
	for file, want := range map[string][2]string{
		`firebase = {enabled = true, project_id = "p1"}`:                                               {"https://securetoken.google.com/p1", "p1"},
		`auth0 = {enabled = true, tenant = "t"}`:                                                       {"https://t.auth0.com", ""},
		`auth0 = {enabled = true, tenant = "t", tenant_region = "eu"}`:                                 {"https://t.eu.auth0.com", ""},
		`aws_cognito = {enabled = true, user_pool_id = "eu-west-1_x", user_pool_region = "eu-west-1"}`: {"https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_x", ""},
		`clerk = {enabled = true, domain = "clerk.example.com"}`:                                       {"https://clerk.example.com", ""},
		`workos = {enabled = true, issuer_url = "https://api.workos.com/user_management/client_1"}`:    {"https://api.workos.com/user_management/client_1", ""},
		`clerk = {enabled = false, domain = "no domain"}`:                                              {"", ""},
	} {
		c, err := Load(Sources{File: []byte("[auth.third_party]\n" + file), Name: "config.toml", Getenv: env()})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if url, audience := c.Auth.ThirdParty.Issuer(); [2]string{url, audience} != want {
			t.Errorf("%s: %s %s", file, url, audience)
		}
	}
}
