// Package config reads config.toml (in the format of the official CLI), environment variables and
// command-line flags into one typed and validated Config. It adds auth.leaked_passwords_path and
// the limits in [realtime] to the keys of the CLI. All other settings that the CLI does not have
// are environment variables.
package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config holds all settings of an installation. The zero value is not usable; Load returns a valid
// Config.
type Config struct {
	Project
	Environment

	Dir            string            // base folder of the relative paths in config.toml; "" for the built-in file
	PageValues     []PageValue       // filled into the pages of the site
	FunctionValues map[string]string // of the variables that Program.Others declares and that are set
	Ignored        []string          // keys of config.toml that only the official CLI uses, such as for Docker-only services
	Warnings       []string          // mistakes in config.toml that do not prevent a start, for the log

	unset map[string]string // keys of config.toml whose value is env(NAME) of a variable that is not set, with NAME
}

// Project holds the keys of config.toml that are used, with the names of the CLI. The section
// [inbucket], the older name of [local_smtp], is accepted, too.
type Project struct {
	ProjectID   string      `toml:"project_id" doc:"Name of the project; it labels logs and the state file."`
	API         API         `toml:"api"`
	DB          DB          `toml:"db"`
	Studio      Studio      `toml:"studio"`
	Inbox       Inbox       `toml:"local_smtp"`
	Storage     Storage     `toml:"storage"`
	Auth        Auth        `toml:"auth"`
	Realtime    Realtime    `toml:"realtime"`
	EdgeRuntime EdgeRuntime `toml:"edge_runtime"`

	Functions map[string]Function `toml:"functions"`
}

// API configures the public port and the REST API.
type API struct {
	Port            uint16   `toml:"port" doc:"Port of the site and the API; 0 picks a free one."`
	Schemas         []string `toml:"schemas" doc:"Schemas that /rest/v1 exposes; the first one is the default. An empty list means public."`
	Enabled         bool     `toml:"enabled" doc:"Serve /rest/v1."`
	ExtraSearchPath []string `toml:"extra_search_path" doc:"Schemas added to the search_path of every REST request."`
	MaxRows         int64    `toml:"max_rows" doc:"Maximum number of rows in a REST reply; 0 means no limit."`
	ExposeNewTables bool     `toml:"auto_expose_new_tables" doc:"Migrations of a new database grant what they create in public to anon, authenticated and service_role."`
	TLS             TLS      `toml:"tls"`
}

// TLS configures the operator's own certificate for the public port. On loopback the paths can be
// missing: the server then makes a certificate.
type TLS struct {
	Enabled  bool   `toml:"enabled" doc:"Serve HTTPS with the certificate below. Without paths, on loopback, with a self-signed one: api.crt in the data folder."`
	CertPath string `toml:"cert_path" doc:"Certificate chain, PEM."`
	KeyPath  string `toml:"key_path" doc:"Private key of the certificate, PEM."`
}

// DB configures the embedded Postgres, its migrations and its seed.
type DB struct {
	Port         uint16     `toml:"port" doc:"Loopback port of Postgres; 0 picks a free one."`
	MajorVersion int        `toml:"major_version" doc:"Postgres major version of the project; 17 runs, and others log a warning."`
	Distribution string     `toml:"distribution" doc:"Postgres that runs: embedded, or supabase for the archive that daawo postgres add unpacks, with all extensions of supabase/postgres. daawo postgres switch moves a data folder."`
	Migrations   Migrations `toml:"migrations"`
	Seed         Seed       `toml:"seed"`

	Vault map[string]string `toml:"vault" each:"Secret of the vault, stored at start; write env(NAME) instead of the value."`
}

// Distributions of Postgres.
const (
	EmbeddedPostgres = "embedded"
	SupabasePostgres = "supabase"
)

// Migrations configures the project's migrations.
type Migrations struct {
	Enabled bool `toml:"enabled" doc:"Apply supabase/migrations at start."`
}

// Seed configures the SQL files that are run once, in a new database.
type Seed struct {
	Enabled  bool     `toml:"enabled" doc:"Load the seed into a new database."`
	SQLPaths []string `toml:"sql_paths" doc:"Seed files, glob patterns relative to config.toml."`
}

// Studio configures the port of Supabase Studio.
type Studio struct {
	Enabled bool   `toml:"enabled" doc:"Serve Studio, if it is added with daawo studio add or runs at STUDIO_UPSTREAM_URL."`
	Port    uint16 `toml:"port" doc:"Port of Studio; 0 picks a free one. If the administrators' application has that port, Studio has the second one after it."`
}

// Inbox configures the development mail server.
type Inbox struct {
	Enabled  bool   `toml:"enabled" doc:"Run the development inbox if SMTP_HOST is not set (loopback only)."`
	Port     uint16 `toml:"port" doc:"Port of the inbox's page and API; 0 picks a free one."`
	SMTPPort uint16 `toml:"smtp_port" doc:"SMTP port of the inbox; 0 picks a free one."`

	AdminEmail string `toml:"admin_email" doc:"Sender address of mails to the inbox."`
	SenderName string `toml:"sender_name" doc:"Sender name of mails to the inbox."`
}

// Storage configures the storage API.
type Storage struct {
	Enabled             bool              `toml:"enabled" doc:"Serve /storage/v1."`
	FileSizeLimit       Size              `toml:"file_size_limit" doc:"Maximum file size in buckets without their own limit."`
	ImageTransformation Switch            `toml:"image_transformation"`
	S3Protocol          Switch            `toml:"s3_protocol"`
	Buckets             map[string]Bucket `toml:"buckets"`
}

// Switch is a section with the single key enabled.
type Switch struct {
	Enabled bool `toml:"enabled" doc:"Enable it."`
}

// Bucket configures a bucket, which is created at start if it does not exist.
type Bucket struct {
	Public           bool     `toml:"public" doc:"Anyone may download."`
	FileSizeLimit    Size     `toml:"file_size_limit" doc:"Maximum file size; 0 means storage.file_size_limit."`
	AllowedMimeTypes []string `toml:"allowed_mime_types" doc:"Accepted content types; empty accepts all."`
	ObjectsPath      string   `toml:"objects_path" doc:"Folder of files to seed, relative to config.toml."`
}

// Realtime configures channels. The limits have the meaning of upstream's tenant settings.
type Realtime struct {
	Enabled                    bool     `toml:"enabled" doc:"Serve /realtime/v1."`
	MaxConnections             int      `toml:"max_concurrent_users" doc:"Maximum number of sockets of one server."`
	MaxChannelsPerClient       int      `toml:"max_channels_per_client" doc:"Maximum number of channels of one socket."`
	MaxJoinsPerSecond          int      `toml:"max_joins_per_second" doc:"Number of joins that one client may make at once. Over time it may make a fifth of it per second."`
	MaxEventsPerSecond         int      `toml:"max_events_per_second" doc:"Maximum number of broadcasts per second, sent and delivered, as the average of up to a minute."`
	MaxPresenceEventsPerSecond int      `toml:"max_presence_events_per_second" doc:"Maximum number of presence messages per second, as the average of up to a minute."`
	MaxPayloadKB               int      `toml:"max_payload_size_in_kb" doc:"Maximum size of the payload of a broadcast or a presence, in kB. A message of a client has at most 5,000 kB in any case."`
	MaxClientKBPerSecond       int      `toml:"max_client_broadcast_kb_per_second" doc:"Maximum kB per second of one client's broadcasts, counted for each receiver. A client that was quiet may send five times as much at once."`
	ClientPresenceEvents       int      `toml:"max_client_presence_events_per_window" doc:"Maximum number of presence messages of one channel within client_presence_window."`
	ClientPresenceWindow       Duration `toml:"client_presence_window" doc:"Time to which max_client_presence_events_per_window applies."`
	PrivateOnly                bool     `toml:"private_only" doc:"Refuse public channels."`
	Strict                     bool     `toml:"strict" doc:"Send of changed rows only what a SELECT returns (docs/realtime-reveals.md). false: what supabase/realtime sends."`
	Unauthorized               bool     `toml:"unauthorized_events" doc:"Send roles that may not select a table an empty event for each of its changes, as supabase/realtime does. Otherwise they get none."`
}

// EdgeRuntime holds what functions may use, secrets and roles of the database, and what runs those
// in TypeScript. Other settings of functions in Go are in their code.
type EdgeRuntime struct {
	Distribution  string            `toml:"distribution" doc:"What runs functions in TypeScript: deno, or supabase for the archive of Supabase's Edge Runtime that daawo edge-runtime add unpacks."`
	DatabaseRoles []string          `toml:"database_roles" doc:"Roles of the database that functions in processes of their own may act as, besides anon and authenticated. SUPABASE_DB_URL begins as the first. Without service_role there is no service key; postgres gives what upstream gives. Default: service_role."`
	Secrets       map[string]string `toml:"secrets" each:"Variable for functions; write env(NAME) instead of the value."`
}

// roleAdmin in DatabaseRoles gives functions what upstream's have.
const roleAdmin = "postgres"

// ActAsPostgres reports whether functions may do what the operator may.
func (e EdgeRuntime) ActAsPostgres() bool { return slices.Contains(e.DatabaseRoles, roleAdmin) }

// MemberRoles returns the roles that the functions' own role may act as, besides anon and
// authenticated. Functions that may do what postgres may have its password.
func (e EdgeRuntime) MemberRoles() []string {
	if !e.ActAsPostgres() {
		return e.DatabaseRoles
	}
	roles := []string{"service_role"}
	for _, role := range e.DatabaseRoles {
		if role != roleAdmin && role != "service_role" {
			roles = append(roles, role)
		}
	}
	return roles
}

// Distributions of the runtime for functions in TypeScript.
const (
	DenoRuntime     = "deno"
	SupabaseRuntime = "supabase"
)

// Function configures a function in TypeScript, or one that runs at FUNCTIONS_URL. Paths are
// relative to config.toml.
type Function struct {
	Enabled     bool     `toml:"enabled" doc:"Serve this function in TypeScript. Default: true."`
	VerifyJWT   bool     `toml:"verify_jwt" doc:"Require a valid token for this function in TypeScript, or at FUNCTIONS_URL. Default: true."`
	ImportMap   string   `toml:"import_map" doc:"Import map or deno.json of this function in TypeScript. Default: deno.json, deno.jsonc or import_map.json in its folder, or else in functions/ or supabase/."`
	Entrypoint  string   `toml:"entrypoint" doc:"Main file of this function in TypeScript. Default: index.ts in its folder."`
	StaticFiles []string `toml:"static_files" doc:"Files outside of its folder that this function in TypeScript may read, glob patterns."`
}

// Duration is a time.Duration in the notation of time.ParseDuration, such as "1s" or "24h".
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 30s or 24h", text)
	}
	*d = Duration(v)
	return nil
}

// String returns the duration in the notation that UnmarshalText parses.
func (d Duration) String() string { return time.Duration(d).String() }

// Loopback reports whether the stack serves this machine only. Its ports must be on loopback
// addresses, and it must have no TLS domains and no public SITE_URL, which would mean that a proxy
// on this machine serves other machines.
func (c *Config) Loopback() bool {
	if c.publicHost() != "" || len(c.TLSDomains) > 0 {
		return false
	}
	site, err := url.Parse(c.SiteURL)
	return c.SiteURL == "" || err == nil && isLoopback(site.Hostname())
}

// publicHost returns the first address of the ports that is not loopback, or "". Inside a container
// the address on which the host publishes a port counts: the program itself listens on all
// addresses there.
func (c *Config) publicHost() string {
	hosts := c.PublishedOn
	if len(hosts) == 0 {
		hosts = List{c.Host}
	}
	for _, host := range hosts {
		if !isLoopback(host) {
			return host
		}
	}
	return ""
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Where describes the setting that makes the installation public, for error messages: "listening on
// 0.0.0.0".
func (c *Config) Where() string {
	if host := c.publicHost(); host != "" {
		return "listening on " + host
	}
	return "serving " + c.SiteURL + strings.Join(c.TLSDomains, " ")
}

// Address returns the host and the port to listen on for the public port.
func (c *Config) Address() string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.API.Port)))
}
