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

const (
	minReplicaLag  = 100 * time.Millisecond // the lag is measured four times as often
	minBackupEvery = time.Minute            // each full backup is restored and verified
)

// validate checks the settings without starting anything and reports every mistake at once.
func (c *Config) validate() error {
	var errs []error
	for _, r := range slices.Concat(c.rules(), c.adminRules(), c.mailRules(), c.thirdPartyRules(), c.realtimeRules()) {
		if r.bad {
			errs = append(errs, fmt.Errorf("%s: %s", r.name, r.says))
		}
	}
	return errors.Join(append(errs, c.validateURLs(), c.validateAddresses(), c.validateSiteURL())...)
}

// rule is one check of a setting.
type rule struct {
	bad  bool
	name string // key or variable
	says string // what is wrong and how to fix it
}

func (c *Config) rules() []rule {
	_, hostErr := netip.ParseAddr(c.Host)
	site, siteErr := url.Parse(c.SiteURL)
	notOrigin := siteErr == nil && (site.RawQuery != "" || site.Fragment != "" || strings.Trim(site.Path, "/") != "")
	secret := len(c.Keys.JWTSecret)
	return []rule{
		{c.Host != "localhost" && hostErr != nil, "DAAWO_HOST",
			fmt.Sprintf("%q is not an address; 127.0.0.1 serves this machine only, 0.0.0.0 every network", c.Host)},
		{c.API.TLS.Enabled && c.API.TLS.CertPath == "" && c.API.TLS.KeyPath != "", "api.tls.cert_path",
			"is required with api.tls.key_path"},
		{c.API.TLS.Enabled && c.API.TLS.CertPath != "" && c.API.TLS.KeyPath == "", "api.tls.key_path",
			"is required with api.tls.cert_path"},
		{c.Data == "", "DAAWO_DATA", "must not be empty"},
		{!slices.Contains([]string{EmbeddedPostgres, SupabasePostgres}, c.DB.Distribution), "db.distribution",
			fmt.Sprintf("%q is not embedded or supabase", c.DB.Distribution)},
		{c.DB.Distribution == SupabasePostgres && c.PostgresHome != "", "db.distribution",
			"is supabase, but POSTGRES_HOME names another Postgres; unset one of them"},
		{!slices.Contains([]string{DenoRuntime, SupabaseRuntime}, c.EdgeRuntime.Distribution), "edge_runtime.distribution",
			fmt.Sprintf("%q is not deno or supabase", c.EdgeRuntime.Distribution)},
		{!slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel), "LOG_LEVEL",
			fmt.Sprintf("%q is not debug, info, warn or error", c.LogLevel)},
		{!slices.Contains([]string{"", "allow", "refuse"}, c.NetPrivate), "PG_NET_PRIVATE",
			fmt.Sprintf("%q is not allow or refuse", c.NetPrivate)},
		{!slices.Contains([]string{"", "text", "json"}, c.LogFormat), "LOG_FORMAT",
			fmt.Sprintf("%q is not text or json", c.LogFormat)},
		{notOrigin && isHTTP(c.SiteURL), "SITE_URL",
			fmt.Sprintf("%q must be an origin such as https://example.org, without a path", c.SiteURL)},
		{c.StudioUpstreamURL != "" && c.DashboardPassword == "", "DASHBOARD_PASSWORD",
			"is required with STUDIO_UPSTREAM_URL; Studio is never served without a login"},
		{c.Files.Backend != "file" && c.Files.Backend != "s3", "STORAGE_BACKEND",
			fmt.Sprintf("%q is not file or s3", c.Files.Backend)},
		{c.Files.Backend == "s3" && c.Files.Bucket == "", "STORAGE_S3_BUCKET", "is required with STORAGE_BACKEND=s3"},
		{c.Replica.URL != "" && c.DatabaseURL == "", "DATABASE_READ_URL",
			"is a standby of DATABASE_URL, which is not set"},
		{c.Replica.URL != "" && time.Duration(c.Replica.MaxLag) < minReplicaLag, "DATABASE_READ_MAX_LAG",
			fmt.Sprintf("is %s, at least %s is needed; without DATABASE_READ_URL all reads use the primary",
				c.Replica.MaxLag, minReplicaLag)},
		{time.Duration(c.Backup.Every) < minBackupEvery, "BACKUP_EVERY",
			fmt.Sprintf("is %s, at least %s is needed; without BACKUP_TO there are no backups", c.Backup.Every,
				minBackupEvery)},
		{c.Backup.Keep < 1, "BACKUP_KEEP",
			fmt.Sprintf("is %d, at least 1 is needed; without BACKUP_TO there are no backups", c.Backup.Keep)},
		{secret > 0 && secret < 32, "JWT_SECRET", fmt.Sprintf("has %d characters, at least 32 are needed", secret)},
	}
}

// adminRules are the checks of DESK_URL.
func (c *Config) adminRules() []rule {
	u, err := url.Parse(c.AdminURL)
	if c.AdminURL == "" || err != nil {
		return nil // validateURLs reports what is no URL
	}
	return []rule{
		{u.RawQuery != "" || u.Fragment != "" || u.Path != "", "DESK_URL",
			fmt.Sprintf("%q must be an origin such as https://desk.example.org, without a path", c.AdminURL)},
		{c.AdminURL == c.SiteURL, "DESK_URL", "must differ from SITE_URL: the two never share an origin"},
		{u.Scheme == "http" && !isLoopback(u.Hostname()), "DESK_URL", "must start with https:// on a public address"},
	}
}

// realtimeRules are the checks of Realtime's limits. None means without a limit.
func (c *Config) realtimeRules() (rules []rule) {
	r := c.Realtime
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"max_concurrent_users", r.MaxConnections}, {"max_channels_per_client", r.MaxChannelsPerClient},
		{"max_joins_per_second", r.MaxJoinsPerSecond}, {"max_events_per_second", r.MaxEventsPerSecond},
		{"max_presence_events_per_second", r.MaxPresenceEventsPerSecond}, {"max_payload_size_in_kb", r.MaxPayloadKB},
		{"max_client_broadcast_kb_per_second", r.MaxClientKBPerSecond},
		{"max_client_presence_events_per_window", r.ClientPresenceEvents},
	} {
		rules = append(rules, rule{limit.value < 1, "realtime." + limit.name,
			fmt.Sprintf("is %d, at least 1 is needed", limit.value)})
	}
	return append(rules, rule{r.ClientPresenceWindow <= 0, "realtime.client_presence_window",
		fmt.Sprintf("is %s, it must be longer", r.ClientPresenceWindow)})
}

// mailRules are the checks of the mail server.
func (c *Config) mailRules() []rule {
	smtpFile := c.Auth.Email.SMTP
	// Load has copied the server of config.toml to c.SMTP, unless the environment has one.
	fromFile := smtpFile.Enabled && smtpFile.Host != "" && c.SMTP.Host == smtpFile.Host
	return []rule{
		{fromFile && smtpFile.Port == 0 && c.SMTP.Port == 0, "auth.email.smtp.port",
			"is required with auth.email.smtp.host; most servers use 587"},
		{fromFile && c.SMTP.AdminEmail == "", "auth.email.smtp.admin_email",
			"is required with auth.email.smtp.host; it is the sender of all mail"},
		{smtpFile.Enabled && smtpFile.Host == "" && !c.smtpUnset() && c.SMTP.Host == "", "auth.email.smtp.host",
			"is required when auth.email.smtp.enabled is true; set enabled = false to use the development inbox"},
		{!fromFile && c.SMTP.Host != "" && c.SMTP.AdminEmail == "", "SMTP_ADMIN_EMAIL",
			"is required with SMTP_HOST; it is the sender of all mail"},
		{!slices.Contains([]string{"", "starttls", "implicit", "off"}, c.SMTP.TLS), "SMTP_TLS",
			fmt.Sprintf("%q is not starttls, implicit or off", c.SMTP.TLS)},
	}
}

func (c *Config) validateURLs() error {
	var errs []error
	for _, u := range []struct{ name, value string }{
		{"SITE_URL", c.SiteURL}, {"auth.external_url", c.Auth.ExternalURL},
		{"REST_URL", c.RESTURL}, {"AUTH_URL", c.AuthURL}, {"STORAGE_URL", c.StorageURL},
		{"IMGPROXY_URL", c.ImgproxyURL}, {"FUNCTIONS_URL", c.FunctionsURL}, {"REALTIME_URL", c.RealtimeURL},
		{"META_URL", c.MetaURL}, {"SUPABASE_URL", c.InsideURL}, {"NOTIFY_WEBHOOK_URL", c.WebhookURL},
		{"STUDIO_URL", c.StudioURL}, {"DESK_URL", c.AdminURL}, {"INBOX_URL", c.InboxURL},
		{"STUDIO_UPSTREAM_URL", c.StudioUpstreamURL}, {"DAAWO_PARTS_URL", c.PartsURL},
		{"ACME_CA", c.ACMEURL}, {"STORAGE_S3_ENDPOINT", c.Files.Endpoint},
	} {
		if u.value != "" && !isHTTP(u.value) {
			errs = append(errs, fmt.Errorf("%s: %q is not a URL that starts with http:// or https://", u.name, u.value))
		}
	}
	site := c.Auth.SiteURL
	if site != "" && site != c.SiteURL && !isHTTP(site) && !isAppLink(site) { // SITE_URL sets both
		errs = append(errs, fmt.Errorf("auth.site_url: %q is not a URL: begin it with https://, or with the scheme "+
			"of your application, such as my-app://", site))
	}
	return errors.Join(errs...)
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// isAppLink reports whether text is a URL that opens an application on a phone.
func isAppLink(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Opaque == "" &&
		!slices.Contains([]string{"", "http", "https", "javascript", "data"}, u.Scheme)
}

func (c *Config) validateAddresses() error {
	var errs []error
	for _, m := range []struct{ name, value string }{
		{"ADMIN_EMAIL", c.AdminEmail}, {"SMTP_ADMIN_EMAIL", c.SMTP.AdminEmail}, {"ACME_EMAIL", c.ACMEEmail},
	} {
		if m.value == "" || (m.name == "ACME_EMAIL" && m.value == c.AdminEmail) {
			continue
		}
		if a, err := mail.ParseAddress(m.value); err != nil || a.Address != m.value {
			errs = append(errs, fmt.Errorf("%s: %q is not an e-mail address", m.name, m.value))
		}
	}
	return errors.Join(errs...)
}

// validateSiteURL checks the characters of SITE_URL, which stands in pages, feeds and mails.
func (c *Config) validateSiteURL() error {
	if strings.ContainsAny(c.SiteURL, "\"'`<>\\{}$ \t\r\n") {
		return errors.New("SITE_URL: quotes, brackets, $, \\ and spaces are not allowed; write them percent-encoded")
	}
	return nil
}

// CheckPublic returns an error that names every setting a public installation still lacks. Notices
// must reach an administrator, so an address for them and a mail server are required. On loopback
// nothing is required.
func (c *Config) CheckPublic() error {
	if c.Loopback() {
		return nil
	}
	var errs []error
	need := func(value, name, why string) {
		if value == "" {
			errs = append(errs, fmt.Errorf("%s: is required when %s; %s", name, c.Where(), why))
		}
	}
	need(c.SiteURL, "SITE_URL", "links in pages and mails start with it")
	need(c.AdminEmail, "ADMIN_EMAIL", "it receives the notices")
	need(c.SMTP.Host, "SMTP_HOST", "mail is sent through it")
	if c.API.TLS.Enabled {
		need(c.API.TLS.CertPath, "api.tls.cert_path", "browsers on other machines refuse a local certificate")
	}
	if c.SMTP.Host == developmentInbox {
		errs = append(errs, fmt.Errorf("SMTP_HOST: %s is the inbox for development; mail for others never leaves it, so it is refused when %s", developmentInbox, c.Where()))
	}
	return errors.Join(append(errs, c.CheckSecrets())...)
}

// CheckServices refuses a gateway's route as the address of a service if the database is the
// embedded one: the services behind another gateway use another database. `daawo status -o env`
// prints its routes under these names, so a shell that evaluated them passes them to the next
// server.
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
			errs = append(errs, fmt.Errorf("%s: %q is the route of a gateway, as `daawo status -o env` prints it; the service behind it uses another database. `unset %s` to use the engine inside",
				s.name, s.value, s.name))
		}
	}
	return errors.Join(errs...)
}

// developmentInbox is the host name of the inbox in the compose form.
const developmentInbox = "mailpit"

// placeholder matches the values that example files and tutorials use for secrets, and the official
// CLI's local S3 credentials.
var placeholder = regexp.MustCompile(`(?i)super-secret|insecure|change.?me|replace.?me|^(password|postgres|supabase|secret|admin|test)[0-9]*$|^(your|my)[-_ ]` +
	`|^supabaserealtime$|^625729a08b95bf1b7ff351a663f3a23c$|^850181e4652dd023b7a98c58ae0d2d34bd487ee0cc3254aed6eda37307425907$`)

// CheckSecrets refuses well-known and short secrets on an address that other machines can reach.
func (c *Config) CheckSecrets() error {
	if c.Loopback() {
		return nil
	}
	var errs []error
	secret := func(name, value string, least int) {
		switch {
		case value == "":
		case placeholder.MatchString(value):
			errs = append(errs, fmt.Errorf("%s: is a well-known placeholder; it is refused when %s", name, c.Where()))
		case len(value) < least:
			errs = append(errs, fmt.Errorf("%s: has %d characters, at least %d are needed when %s", name, len(value),
				least, c.Where()))
		}
	}
	secret("JWT_SECRET", c.Keys.JWTSecret, 32)
	secret("DASHBOARD_PASSWORD", c.DashboardPassword, 12)
	secret("STUDIO_PASSWORD", c.StudioPassword, 12)
	secret("MCP_KEY", c.MCPKey, 24)
	secret("METRICS_TOKEN", c.MetricsToken, 16)
	for i, value := range c.OtherSecrets {
		secret(fmt.Sprintf("OTHER_SECRETS: number %d", i+1), value, 16)
	}
	if u, err := url.Parse(c.DatabaseURL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		secret("DATABASE_URL: password", password, 8)
	}
	return errors.Join(errs...)
}
