package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// leastLag is the least age that a standby's answers may be allowed: it is measured four times as often. leastEvery is the
// least time between two full backups, each of which is restored and looked through.
const (
	leastLag   = 100 * time.Millisecond
	leastEvery = time.Minute
)

// validate checks what can be checked without starting anything and reports every mistake at once.
func (c *Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if c.Host != "localhost" {
		if _, err := netip.ParseAddr(c.Host); err != nil {
			bad("DAAWO_HOST: %q is not an address; 127.0.0.1 serves this machine only, 0.0.0.0 everybody", c.Host)
		}
	}
	if c.DB.MajorVersion != 17 {
		bad("db.major_version: only Postgres 17 is supported, not %d", c.DB.MajorVersion)
	}
	if len(c.API.Schemas) == 0 {
		bad("api.schemas: at least one schema is needed")
	}
	if c.API.TLS.Enabled && (c.API.TLS.CertPath == "" || c.API.TLS.KeyPath == "") {
		bad("api.tls: cert_path and key_path are needed")
	}
	if c.Data == "" {
		bad("DAAWO_DATA: must not be empty")
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		bad("LOG_LEVEL: %q is not debug, info, warn or error", c.LogLevel)
	}
	if !slices.Contains([]string{"", "text", "json"}, c.LogFormat) {
		bad("LOG_FORMAT: %q is not text or json", c.LogFormat)
	}
	urls := []struct{ name, value string }{
		{"SITE_URL", c.SiteURL}, {"auth.site_url", c.Auth.SiteURL}, {"auth.external_url", c.Auth.ExternalURL},
		{"FACEBOOK_URL", c.FacebookURL},
		{"REST_URL", c.RESTURL}, {"AUTH_URL", c.AuthURL}, {"STORAGE_URL", c.StorageURL}, {"IMGPROXY_URL", c.ImgproxyURL},
		{"FUNCTIONS_URL", c.FunctionsURL}, {"REALTIME_URL", c.RealtimeURL}, {"META_URL", c.MetaURL},
		{"SUPABASE_URL", c.InsideURL}, {"NOTIFY_WEBHOOK_URL", c.WebhookURL},
		{"STUDIO_URL", c.StudioURL}, {"STUDIO_UPSTREAM_URL", c.StudioUpstreamURL}, {"ACME_CA", c.ACMEURL},
		{"STORAGE_S3_ENDPOINT", c.Files.Endpoint},
	}
	for _, u := range urls {
		if u.value == "" {
			continue
		}
		if p, err := url.Parse(u.value); err != nil || p.Host == "" || (p.Scheme != "http" && p.Scheme != "https") {
			bad("%s: %q is not a URL that starts with http:// or https://", u.name, u.value)
		}
	}
	for _, m := range []struct{ name, value string }{
		{"ADMIN_EMAIL", c.AdminEmail}, {"CONTACT_EMAIL", c.ContactEmail}, {"SMTP_ADMIN_EMAIL", c.SMTP.AdminEmail},
		{"ACME_EMAIL", c.ACMEEmail},
	} {
		if m.value == "" || (m.name == "ACME_EMAIL" && m.value == c.AdminEmail) {
			continue
		}
		if a, err := mail.ParseAddress(m.value); err != nil || a.Address != m.value {
			bad("%s: %q is not an e-mail address", m.name, m.value)
		}
	}
	// These four stand in pages, some inside of scripts.
	for _, v := range []struct{ name, value string }{
		{"SITE_URL", c.SiteURL}, {"FACEBOOK_URL", c.FacebookURL}, {"CONTACT_EMAIL", c.ContactEmail},
	} {
		if strings.ContainsAny(v.value, "\"'`<>\\{}$ \t\r\n") {
			bad("%s: quotes, brackets, $, \\ and spaces are not allowed; write them percent-encoded", v.name)
		}
	}
	if u, err := url.Parse(c.SiteURL); err == nil && (u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "") {
		bad("SITE_URL: %q must be an origin such as https://example.org, without a path", c.SiteURL)
	}
	if c.WhatsApp != "" && !phoneDigits.MatchString(c.WhatsApp) {
		bad("WHATSAPP_NUMBER: %q is not a number of 7 to 15 digits with its country code and nothing else", c.WhatsApp)
	}
	if c.SMTP.Host != "" && c.SMTP.AdminEmail == "" {
		bad("SMTP_ADMIN_EMAIL: is needed with SMTP_HOST; mail is sent from it")
	}
	if c.StudioUpstreamURL != "" && c.DashboardPassword == "" {
		bad("DASHBOARD_PASSWORD: is needed with STUDIO_UPSTREAM_URL; Studio is never served without a login")
	}
	switch {
	case c.Files.Backend != "file" && c.Files.Backend != "s3":
		bad("STORAGE_BACKEND: %q is not file or s3", c.Files.Backend)
	case c.Files.Backend == "s3" && c.Files.Bucket == "":
		bad("STORAGE_S3_BUCKET: is needed with STORAGE_BACKEND=s3")
	}
	if c.Replica.URL != "" && c.DatabaseURL == "" {
		bad("DATABASE_READ_URL: is a standby of DATABASE_URL, which is not set")
	}
	if c.Replica.URL != "" && time.Duration(c.Replica.MaxLag) < leastLag {
		bad("DATABASE_READ_MAX_LAG: is %s, and at least %s is needed; without DATABASE_READ_URL all is read from the primary", c.Replica.MaxLag, leastLag)
	}
	if time.Duration(c.Backup.Every) < leastEvery {
		bad("BACKUP_EVERY: is %s, and at least %s is needed; without BACKUP_TO there are no backups", c.Backup.Every, leastEvery)
	}
	if c.Backup.Keep < 1 {
		bad("BACKUP_KEEP: is %d, and at least 1 is needed; without BACKUP_TO there are no backups", c.Backup.Keep)
	}
	if n := len(c.Keys.JWTSecret); n > 0 && n < 32 {
		bad("JWT_SECRET: has %d characters, at least 32 are needed", n)
	}
	return errors.Join(errs...)
}

var phoneDigits = regexp.MustCompile(`^[0-9]{7,15}$`)

// UnsetChannels are the variables of the organisation's contact channels that still have their placeholder.
func (c *Config) UnsetChannels() []string {
	var unset []string
	for _, channel := range []struct{ name, value, placeholder string }{
		{"WHATSAPP_NUMBER", c.WhatsApp, "252000000000"},
		{"CONTACT_EMAIL", c.ContactEmail, "support@example.org"},
		{"FACEBOOK_URL", c.FacebookURL, "https://www.facebook.com/"},
	} {
		if channel.value == channel.placeholder {
			unset = append(unset, channel.name)
		}
	}
	return unset
}

// CheckPublic says what a public installation still lacks: the site promises that an administrator is told of every
// report, so it does not start without somebody to tell and a way to do it. On this machine alone nothing is lacking.
func (c *Config) CheckPublic() error {
	if c.Loopback() {
		return nil
	}
	var errs []error
	need := func(value, name, why string) {
		if value == "" {
			errs = append(errs, fmt.Errorf("%s: is needed when %s; %s", name, c.Where(), why))
		}
	}
	need(c.SiteURL, "SITE_URL", "links in pages and mails start with it")
	need(c.AdminEmail, "ADMIN_EMAIL", "it is told of every report")
	need(c.SMTP.Host, "SMTP_HOST", "mail leaves through it")
	return errors.Join(append(errs, c.CheckSecrets())...)
}

// CheckServices refuses a gateway's route in the place of a service when the database is our own: what is behind another
// gateway works on another database. `daawo status -o env` prints its routes under these names, and a shell that read them
// hands them to the next server.
func (c *Config) CheckServices() error {
	if c.DatabaseURL != "" {
		return nil
	}
	var errs []error
	for _, s := range []struct{ name, value, route string }{
		{"AUTH_URL", c.AuthURL, "/auth/v1"}, {"REST_URL", c.RESTURL, "/rest/v1"},
		{"STORAGE_URL", c.StorageURL, "/storage/v1"}, {"FUNCTIONS_URL", c.FunctionsURL, "/functions/v1"},
	} {
		if strings.HasSuffix(strings.TrimRight(s.value, "/"), s.route) {
			errs = append(errs, fmt.Errorf("%s: %q is the route of a gateway, as `daawo status -o env` prints it; what is behind it has another database. `unset %s` to use the engine inside",
				s.name, s.value, s.name))
		}
	}
	return errors.Join(errs...)
}

// placeholder is what example files and tutorials have in the place of a secret.
var placeholder = regexp.MustCompile(`(?i)super-secret|insecure|change.?me|replace.?me|^(password|postgres|supabase|secret|admin|test)[0-9]*$|^(your|my)[-_ ]`)

// CheckSecrets refuses secrets that everybody knows, or could guess, where others than this machine can reach us.
func (c *Config) CheckSecrets() error {
	if c.Loopback() {
		return nil
	}
	var errs []error
	secret := func(name, value string, least int) {
		switch {
		case value == "":
		case placeholder.MatchString(value):
			errs = append(errs, fmt.Errorf("%s: it is a placeholder that everybody knows; it is refused when %s", name, c.Where()))
		case len(value) < least:
			errs = append(errs, fmt.Errorf("%s: has %d characters, at least %d are needed when %s", name, len(value), least, c.Where()))
		}
	}
	secret("JWT_SECRET", c.Keys.JWTSecret, 32)
	secret("DASHBOARD_PASSWORD", c.DashboardPassword, 12)
	secret("METRICS_TOKEN", c.MetricsToken, 16)
	if u, err := url.Parse(c.DatabaseURL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		secret("DATABASE_URL: password", password, 8)
	}
	return errors.Join(errs...)
}
