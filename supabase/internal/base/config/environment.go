package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// Environment holds the settings that belong to one installation and not to the project. Variables
// set them.
type Environment struct {
	Data          string   `env:"DAAWO_DATA" default:".daawo" doc:"Folder with all data of the installation. Flag --data."`
	Host          string   `env:"DAAWO_HOST" default:"127.0.0.1" doc:"Address to listen on. An address other than loopback makes this a public installation, and so does a SITE_URL other than loopback. Flag --host."`
	PublishedOn   List     `env:"PUBLISHED_ON" doc:"In a container: the host's addresses on which its ports are published, separated by commas. They decide instead of DAAWO_HOST whether this is a public installation."`
	DatabaseURL   string   `env:"DATABASE_URL" doc:"Superuser URL of a Postgres 15 to 17 to use instead of the embedded one. Of several hosts separated by commas, the one that accepts writes is used. Flag --database-url."`
	PostgresHome  string   `env:"POSTGRES_HOME" doc:"Folder of a Postgres 17 on this machine to run instead of the embedded one, such as /usr/lib/postgresql/17 of Debian's package, with its extensions."`
	DatabaseCores uint16   `env:"DATABASE_CORES" doc:"Number of processor cores of the Postgres of DATABASE_URL. REST then begins at most four statements per core at a time and queues the others, which shortens the longest replies under load. 0: unknown, up to 12 at a time."`
	DBTLS         bool     `env:"DB_TLS" default:"false" doc:"Serve TLS on the port of the embedded Postgres, on the address of DAAWO_HOST, with the certificate of [api.tls] or one that is signed by itself. Without TLS only this machine may connect. Flag --db-tls."`
	LogLevel      string   `env:"LOG_LEVEL" default:"info" doc:"debug, info, warn or error."`
	LogFormat     string   `env:"LOG_FORMAT" doc:"text or json; if not set, text on a terminal and json elsewhere."`
	SiteURL       string   `env:"SITE_URL" doc:"Public address of the site. Required on a public address."`
	SiteDir       string   `env:"SITE_DIR" doc:"Folder of a static site or a single-page application to serve at / instead of the program's site. Without a 404.html, unknown paths get index.html. Flag --site."`
	AdminEmail    string   `env:"ADMIN_EMAIL" doc:"Receives notices and a trial of the mail server. Required on a public address."`
	Proxies       Prefixes `env:"TRUSTED_PROXIES" doc:"Addresses or networks whose X-Forwarded-* headers are trusted, separated by commas. Default: none."`

	SMTP SMTP

	WebhookURL    string `env:"NOTIFY_WEBHOOK_URL" doc:"Also receives notices, as a signed POST (Standard Webhooks). Off when empty."`
	WebhookSecret string `env:"NOTIFY_WEBHOOK_SECRET" doc:"Key of the signature: whsec_ and base64, or any text."`

	RESTURL         string `env:"REST_URL" doc:"Serve /rest/v1 from this PostgREST instead of the engine inside."`
	AuthURL         string `env:"AUTH_URL" doc:"Serve /auth/v1 from this GoTrue instead of the engine inside."`
	StorageURL      string `env:"STORAGE_URL" doc:"Serve /storage/v1 from this storage-api instead of the engine inside."`
	ImgproxyURL     string `env:"IMGPROXY_URL" doc:"Resize images with this imgproxy instead of the engine inside. It needs access to the files (the folder, or S3)."`
	FunctionsURL    string `env:"FUNCTIONS_URL" doc:"Serve /functions/v1 from this address instead of the functions inside."`
	FunctionsPort   uint16 `env:"PORT" default:"9000" doc:"Port of serve functions; 0 picks a free one."`
	FunctionsMemory Size   `env:"FUNCTIONS_MEMORY" default:"512MiB" doc:"Memory limit of the process of deployed functions. A process above it is ended and started again."`
	DenoPath        string `env:"DENO_PATH" doc:"Deno program that runs functions in TypeScript. Default: deno of PATH, of the project's node_modules, or of daawo deno add."`
	DenoProcesses   uint16 `env:"DENO_PROCESSES" doc:"Functions in TypeScript that run at the same time. 0: one for each 512 MB of the machine's memory, from 4 to 32."`
	Region          string `env:"SB_REGION" default:"local" doc:"Region of this server. Functions see it, and their replies name it in X-Sb-Edge-Region."`
	InsideURL       string `env:"SUPABASE_URL" doc:"Address of the API for serve functions and for commands inside a container; SITE_URL when not set."`
	RealtimeURL     string `env:"REALTIME_URL" doc:"Serve /realtime/v1 from this Realtime instead of the engine inside."`
	NATSURL         string `env:"NATS_URL" doc:"NATS servers (nats://host:4222, separated by commas) that carry broadcasts and presence between several servers. One server needs none."`
	MetaURL         string `env:"META_URL" doc:"Serve /pg from this postgres-meta instead of the engine inside, for the secret key only."`
	MetaCryptoKey   string `env:"PG_META_CRYPTO_KEY" doc:"Key of the header x-connection-encrypted, with which a request to /pg names another database. Without it the header is refused."`

	NetPrivate string   `env:"PG_NET_PRIVATE" doc:"Whether requests of pg_net and database webhooks may reach private addresses: allow or refuse. Default: allow on a loopback installation, refuse on a public one. The stack's own address is always allowed."`
	NetAllowed Prefixes `env:"PG_NET_NETWORKS" doc:"Private addresses or networks that requests of pg_net may reach in any case, separated by commas."`

	InboxURL string `env:"INBOX_URL" doc:"Address of an inbox for development that runs elsewhere. serve gateway prints it at its start."`
	Command  string `env:"DAAWO_COMMAND" default:"daawo" doc:"How an administrator starts this program, for the commands in notices."`

	AdminURL  string `env:"DESK_URL" doc:"Public address of the administrators' application, on a host name of its own. With TLS_DOMAINS it gets a certificate and is served on port 443. On a public address without it, the application is served on loopback only."`
	AdminPort uint16 `env:"DESK_PORT" default:"54323" doc:"Port of the administrators' application; 0 picks a free one. With --port it is that port plus 2."`

	StudioURL         string `env:"STUDIO_URL" doc:"Public address of Studio, also of one that runs elsewhere. Notification mails link to it."`
	StudioUser        string `env:"STUDIO_USER" default:"supabase" doc:"User name of Studio's login, if STUDIO_PASSWORD is set."`
	StudioPassword    string `env:"STUDIO_PASSWORD" doc:"Password of Studio's login. On a public address an added Studio is served only with it, or with accounts that may open it."`
	StudioMemory      Size   `env:"STUDIO_MEMORY" default:"1GiB" doc:"Memory limit of Studio's processes. A Studio above it is ended."`
	StudioUpstreamURL string `env:"STUDIO_UPSTREAM_URL" doc:"Studio that is served behind a login on the Studio port."`
	DashboardUser     string `env:"DASHBOARD_USERNAME" default:"supabase" doc:"User name of Studio's login."`
	DashboardPassword string `env:"DASHBOARD_PASSWORD" doc:"Password of Studio's login. Required with STUDIO_UPSTREAM_URL."`

	MCPKey string `env:"MCP_KEY" doc:"Key of /mcp, at which tools reach the MCP server of an added Studio, with the rights of the secret key. Off when empty."`

	PartsURL string `env:"DAAWO_PARTS_URL" default:"https://github.com/supabase/slim-services/releases/download" doc:"Folder of the releases from which added programs come, such as Studio. A mirror needs the same paths; parts.lock decides which archives are accepted."`

	TLSDomains   List   `env:"TLS_DOMAINS" doc:"Domains to obtain certificates for. The site is then served on port 443, port 80 redirects to it, and the port without TLS accepts local connections only (for serve gateway, connections from its network)."`
	ACMEEmail    string `env:"ACME_EMAIL" doc:"Contact for the certificate authority; ADMIN_EMAIL when not set."`
	ACMEURL      string `env:"ACME_CA" doc:"Directory of another certificate authority."`
	TracesURL    string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" doc:"Send OpenTelemetry traces to this OTLP receiver over HTTP, such as http://127.0.0.1:4318. Off when empty. The other variables of the OpenTelemetry SDK apply, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER."`
	MetricsToken string `env:"METRICS_TOKEN" doc:"Bearer token that opens /metrics to remote clients. Without it /metrics is available on loopback only."`

	Replica Replica

	Files Files

	Backup Backup

	Keys APIKeys

	OtherSecrets List `env:"OTHER_SECRETS" doc:"Secrets of the other services of the compose form, separated by commas. They are only checked: on a public address, well-known and short ones are refused."`
}

// Replica is a standby of the database. It serves reads that tolerate a lag of some seconds.
type Replica struct {
	URL    string   `env:"DATABASE_READ_URL" doc:"Superuser URL of a standby of DATABASE_URL; GET requests for DATABASE_READ_TABLES read from it. While it is unreachable or too far behind, they read from the primary."`
	Tables List     `env:"DATABASE_READ_TABLES" doc:"Tables and views, as schema.name separated by commas. A GET request that reads only these may read from DATABASE_READ_URL."`
	MaxLag Duration `env:"DATABASE_READ_MAX_LAG" default:"5s" doc:"Largest lag of DATABASE_READ_URL; at least 100ms."`
}

// Files says where storage keeps files. The variables have storage-api's names.
type Files struct {
	Backend   string `env:"STORAGE_BACKEND" default:"file" doc:"file or s3. Several servers need s3 or a shared folder."`
	Path      string `env:"STORAGE_FILE_BACKEND_PATH" doc:"Folder of the files; inside the data folder when not set."`
	Bucket    string `env:"STORAGE_S3_BUCKET" doc:"Name of an existing bucket. Required with STORAGE_BACKEND=s3."`
	Endpoint  string `env:"STORAGE_S3_ENDPOINT" doc:"URL of the S3 service; Amazon's in the region when not set."`
	Region    string `env:"STORAGE_S3_REGION" default:"us-east-1" doc:"Region of the S3 service."`
	PathStyle bool   `env:"STORAGE_S3_FORCE_PATH_STYLE" default:"false" doc:"Put the bucket into the path and not into the host name. Most services other than Amazon's need this."`
	AccessKey string `env:"AWS_ACCESS_KEY_ID" doc:"Key of the S3 service, for files and for BACKUP_TO."`
	SecretKey string `env:"AWS_SECRET_ACCESS_KEY" doc:"Secret of that key."`
}

// Backup says where and how often the running stack stores backups.
type Backup struct {
	To         string   `env:"BACKUP_TO" doc:"Folder, or s3://bucket/prefix?endpoint=HOST&region=R with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Without it there are no backups. Refused with DATABASE_URL: back up such a database where it runs."`
	Recipients List     `env:"BACKUP_RECIPIENTS" doc:"age public keys (age1…) that backups are encrypted to, separated by commas."`
	Every      Duration `env:"BACKUP_EVERY" default:"24h" doc:"Time between two full backups, at least 1m. Changes in between are stored within a minute."`
	Keep       int      `env:"BACKUP_KEEP" default:"7" doc:"Number of full backups to keep, at least 1."`
}

// SMTP is the mail server for notifications and auth.
type SMTP struct {
	Host       string `env:"SMTP_HOST" doc:"Mail server. Required on a public address. Without it the development inbox receives all mail."`
	Port       uint16 `env:"SMTP_PORT" default:"587" doc:"Port of the mail server."`
	TLS        string `env:"SMTP_TLS" doc:"starttls, implicit or off. Not set: implicit on port 465, starttls on others. off sends mail unencrypted."`
	User       string `env:"SMTP_USER" doc:"User name."`
	Pass       string `env:"SMTP_PASS" doc:"Password."`
	AdminEmail string `env:"SMTP_ADMIN_EMAIL" doc:"Sender address of all mail. Required with SMTP_HOST."`
	SenderName string `env:"SMTP_SENDER_NAME" default:"Daawo" doc:"Sender name of all mail."`
}

// APIKeys are the keys that the environment provides in the compose form. Without them the
// installation generates keys and keeps them in the data folder. On loopback it uses the official
// CLI's local keys.
type APIKeys struct {
	JWTSecret             string `env:"JWT_SECRET" doc:"HS256 secret of the legacy keys and tokens, at least 32 characters."`
	JWTKeys               string `env:"JWT_KEYS" doc:"JSON array of private JWKs; the first signs new tokens."`
	JWTJWKS               string `env:"JWT_JWKS" doc:"JWK set for services that only verify tokens."`
	Anon                  string `env:"ANON_KEY" doc:"Legacy key of the role anon."`
	ServiceRole           string `env:"SERVICE_ROLE_KEY" doc:"Legacy key of the role service_role."`
	Publishable           string `env:"SUPABASE_PUBLISHABLE_KEY" doc:"Opaque key of the role anon, for browsers."`
	Secret                string `env:"SUPABASE_SECRET_KEY" doc:"Opaque key of the role service_role, for servers."`
	AnonAsymmetric        string `env:"ANON_KEY_ASYMMETRIC" doc:"ES256 token that replaces the publishable key."`
	ServiceRoleAsymmetric string `env:"SERVICE_ROLE_KEY_ASYMMETRIC" doc:"ES256 token that replaces the secret key."`
	Retired               string `env:"RETIRED_KEYS" doc:"Replaced keys that stay valid until a date: KEY@2026-12-31, separated by commas."`
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

// Contains reports whether addr lies in one of the networks.
func (p Prefixes) Contains(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}
