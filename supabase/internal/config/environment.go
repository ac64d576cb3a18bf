package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// Environment is the part that is set by variables: what belongs to one installation and not to the project.
type Environment struct {
	Data        string   `env:"DAAWO_DATA" default:".daawo" doc:"Folder with everything that must be kept. Flag --data."`
	Host        string   `env:"DAAWO_HOST" default:"127.0.0.1" doc:"Address to listen on. Any address that is not loopback makes this a public installation, and so does a SITE_URL that is not. Flag --host."`
	DatabaseURL string   `env:"DATABASE_URL" doc:"Superuser URL of a Postgres 15 to 17 to use instead of the embedded one; several hosts separated by commas, of which the one that takes writes is used. Flag --database-url."`
	LogLevel    string   `env:"LOG_LEVEL" default:"info" doc:"debug, info, warn or error."`
	LogFormat   string   `env:"LOG_FORMAT" doc:"text or json; text on a terminal and json elsewhere when not set."`
	SiteURL     string   `env:"SITE_URL" doc:"Public address of the site, as visitors type it. Required on a public address."`
	AdminEmail  string   `env:"ADMIN_EMAIL" doc:"Who is told of a new report. Required on a public address."`
	Proxies     Prefixes `env:"TRUSTED_PROXIES" doc:"Addresses or networks whose X-Forwarded-* headers are believed, separated by commas. Default: none."`

	WhatsApp     string `env:"WHATSAPP_NUMBER" default:"252000000000" doc:"WhatsApp number of the organisation, digits with country code. The default is nobody's."`
	ContactEmail string `env:"CONTACT_EMAIL" default:"support@example.org" doc:"Public e-mail address of the organisation. The default is nobody's."`
	FacebookURL  string `env:"FACEBOOK_URL" default:"https://www.facebook.com/" doc:"Facebook page of the organisation."`

	SMTP SMTP

	WebhookURL    string `env:"NOTIFY_WEBHOOK_URL" doc:"Told of new reports, too, by a signed POST (Standard Webhooks); off when empty."`
	WebhookSecret string `env:"NOTIFY_WEBHOOK_SECRET" doc:"Key of its signature: whsec_ and base64, or any text."`

	RESTURL       string `env:"REST_URL" doc:"Serve /rest/v1 from this PostgREST instead of the engine inside."`
	AuthURL       string `env:"AUTH_URL" doc:"Serve /auth/v1 from this GoTrue instead of the engine inside."`
	StorageURL    string `env:"STORAGE_URL" doc:"Serve /storage/v1 from this storage-api instead of the engine inside."`
	ImgproxyURL   string `env:"IMGPROXY_URL" doc:"Have this imgproxy resize images instead of the engine inside; it must see the files (the folder, or S3)."`
	FunctionsURL  string `env:"FUNCTIONS_URL" doc:"Serve /functions/v1 from this address instead of the functions inside."`
	FunctionsPort uint16 `env:"PORT" default:"9000" doc:"Where serve functions listens; 0 picks free ports."`
	Region        string `env:"SB_REGION" default:"local" doc:"Where this server runs: functions see it, and X-Sb-Edge-Region names it in their replies."`
	InsideURL     string `env:"SUPABASE_URL" doc:"Address of the API for serve functions, and for reports and resources inside of a container; SITE_URL when not set."`
	RealtimeURL   string `env:"REALTIME_URL" doc:"Serve /realtime/v1 from this Realtime; without it the route answers 404."`
	MetaURL       string `env:"META_URL" doc:"Serve /pg from this postgres-meta, for the service key only."`

	StudioURL         string `env:"STUDIO_URL" doc:"Address of Studio as administrators open it; notification mails link there."`
	StudioUpstreamURL string `env:"STUDIO_UPSTREAM_URL" doc:"Studio to serve behind a login on the Studio port."`
	DashboardUser     string `env:"DASHBOARD_USERNAME" default:"supabase" doc:"User name of Studio's login."`
	DashboardPassword string `env:"DASHBOARD_PASSWORD" doc:"Password of Studio's login. Required with STUDIO_UPSTREAM_URL."`

	TLSDomains   List   `env:"TLS_DOMAINS" doc:"Domains to fetch certificates for; the site is then served on port 443, port 80 leads there, and the port without TLS answers this machine alone (of a gateway of its own, whoever its network lets in)."`
	ACMEEmail    string `env:"ACME_EMAIL" doc:"Contact for the certificate authority; ADMIN_EMAIL when not set."`
	ACMEURL      string `env:"ACME_CA" doc:"Directory of another certificate authority."`
	MetricsToken string `env:"METRICS_TOKEN" doc:"Bearer token with which /metrics answers from anywhere; without it only on loopback."`

	Replica Replica

	Files Files

	Backup Backup

	Keys APIKeys
}

// Replica is a standby of the database for reads that may be a few seconds old.
type Replica struct {
	URL    string   `env:"DATABASE_READ_URL" doc:"Superuser URL of a standby of DATABASE_URL; GET requests of DATABASE_READ_TABLES are answered there. While it cannot be reached or is late, the primary answers."`
	Tables List     `env:"DATABASE_READ_TABLES" default:"public.resources" doc:"Tables and views, as schema.name separated by commas, that a GET of nothing else may read from DATABASE_READ_URL."`
	MaxLag Duration `env:"DATABASE_READ_MAX_LAG" default:"5s" doc:"How old the answers of DATABASE_READ_URL may be; at least 100ms."`
}

// Files is where storage keeps files, under storage-api's names.
type Files struct {
	Backend   string `env:"STORAGE_BACKEND" default:"file" doc:"file or s3. Several servers need s3, or a folder that all of them see."`
	Path      string `env:"STORAGE_FILE_BACKEND_PATH" doc:"Folder of the files; below the data folder when not set."`
	Bucket    string `env:"STORAGE_S3_BUCKET" doc:"Bucket with STORAGE_BACKEND=s3; it must exist."`
	Endpoint  string `env:"STORAGE_S3_ENDPOINT" doc:"URL of the S3 service; Amazon's of the region when not set."`
	Region    string `env:"STORAGE_S3_REGION" default:"us-east-1" doc:"Its region."`
	PathStyle bool   `env:"STORAGE_S3_FORCE_PATH_STYLE" default:"false" doc:"Bucket in the path and not in the host's name, as most services other than Amazon's need it."`
	AccessKey string `env:"AWS_ACCESS_KEY_ID" doc:"Key of the S3 service, for files and for BACKUP_TO."`
	SecretKey string `env:"AWS_SECRET_ACCESS_KEY" doc:"Its secret."`
}

// Backup is where copies of everything go while the stack runs.
type Backup struct {
	To         string   `env:"BACKUP_TO" doc:"Folder, or s3://bucket/prefix?endpoint=HOST&region=R with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Without it there are no backups. For the Postgres inside: refused with DATABASE_URL, whose database is backed up where it runs."`
	Recipients List     `env:"BACKUP_RECIPIENTS" doc:"age public keys (age1…) that backups are encrypted to, separated by commas."`
	Every      Duration `env:"BACKUP_EVERY" default:"24h" doc:"Time between two full backups; what is written in between is stored within a minute. At least 1m."`
	Keep       int      `env:"BACKUP_KEEP" default:"7" doc:"Number of full backups to keep, at least 1."`
}

// SMTP is the mail server that notifications and auth use.
type SMTP struct {
	Host       string `env:"SMTP_HOST" doc:"Mail server. Required on a public address; without it the development inbox takes the mail."`
	Port       uint16 `env:"SMTP_PORT" default:"587" doc:"Its port; 465 means TLS from the start, others STARTTLS."`
	User       string `env:"SMTP_USER" doc:"User name."`
	Pass       string `env:"SMTP_PASS" doc:"Password."`
	AdminEmail string `env:"SMTP_ADMIN_EMAIL" doc:"Sender address of all mail. Required with SMTP_HOST."`
	SenderName string `env:"SMTP_SENDER_NAME" default:"Daawo" doc:"Sender name of all mail."`
}

// APIKeys are given by environment in the compose form. Empty fields are generated and kept in the data folder, or are
// the official CLI's local keys on loopback.
type APIKeys struct {
	JWTSecret             string `env:"JWT_SECRET" doc:"HS256 secret of the legacy keys and tokens, at least 32 characters."`
	JWTKeys               string `env:"JWT_KEYS" doc:"JSON array of private JWKs; the first one signs new tokens."`
	JWTJWKS               string `env:"JWT_JWKS" doc:"JWK set that verifies tokens, where a service only verifies."`
	Anon                  string `env:"ANON_KEY" doc:"Legacy key of the role anon."`
	ServiceRole           string `env:"SERVICE_ROLE_KEY" doc:"Legacy key of the role service_role."`
	Publishable           string `env:"SUPABASE_PUBLISHABLE_KEY" doc:"Opaque key of the role anon, for browsers."`
	Secret                string `env:"SUPABASE_SECRET_KEY" doc:"Opaque key of the role service_role, for servers."`
	AnonAsymmetric        string `env:"ANON_KEY_ASYMMETRIC" doc:"ES256 token that the publishable key stands for."`
	ServiceRoleAsymmetric string `env:"SERVICE_ROLE_KEY_ASYMMETRIC" doc:"ES256 token that the secret key stands for."`
	Retired               string `env:"RETIRED_KEYS" doc:"Keys that rotation replaced and that are accepted until a day: KEY@2026-12-31, separated by commas."`
}

// List is a comma-separated list of words.
type List []string

// UnmarshalText splits at commas and drops empty words.
func (l *List) UnmarshalText(text []byte) error {
	*l = nil
	for word := range strings.SplitSeq(string(text), ",") {
		if word = strings.TrimSpace(word); word != "" {
			*l = append(*l, word)
		}
	}
	return nil
}

// Prefixes is a set of networks.
type Prefixes []netip.Prefix

// UnmarshalText reads addresses and networks separated by commas.
func (p *Prefixes) UnmarshalText(text []byte) error {
	var words List
	_ = words.UnmarshalText(text) // never fails
	*p = nil
	for _, word := range words {
		prefix, err := netip.ParsePrefix(word)
		if err != nil {
			addr, aerr := netip.ParseAddr(word)
			if aerr != nil {
				return fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", word)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		*p = append(*p, prefix.Masked())
	}
	return nil
}

// Contains says whether addr lies in one of the networks.
func (p Prefixes) Contains(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}
