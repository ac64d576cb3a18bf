// Package config turns config.toml (in the official CLI's format), the environment and the command line into one typed
// and validated Config. It reads the CLI's own keys and adds one, auth.leaked_passwords_path: all else that the CLI does not
// know is set by environment.
//
// Only app and cli import it; it imports nothing of ours and starts nothing.
package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config is everything an operator can set. The zero value is not usable: call Load.
type Config struct {
	Project
	Environment

	Dir        string      // folder that relative paths of config.toml start from; "" when the built-in file was read
	PageValues []PageValue // filled into the pages of the site

	Unknown []string // keys of config.toml that nothing here reads (Deno functions, Docker-only services)
}

// Project is the part of config.toml that is read, under the CLI's own names. The key [inbucket], the older name of
// [local_smtp], is accepted too.
type Project struct {
	ProjectID   string      `toml:"project_id" doc:"Name of the project; it labels logs and the state file."`
	API         API         `toml:"api"`
	DB          DB          `toml:"db"`
	Studio      Studio      `toml:"studio"`
	Inbox       Inbox       `toml:"local_smtp"`
	Storage     Storage     `toml:"storage"`
	Auth        Auth        `toml:"auth"`
	EdgeRuntime EdgeRuntime `toml:"edge_runtime"`
}

// API is the public port and what REST exposes there.
type API struct {
	Port            uint16   `toml:"port" doc:"Port of the site and the API; 0 picks a free one."`
	Schemas         []string `toml:"schemas" doc:"Schemas that /rest/v1 exposes; the first one is the default."`
	ExtraSearchPath []string `toml:"extra_search_path" doc:"Schemas added to the search_path of every REST request."`
	MaxRows         int64    `toml:"max_rows" doc:"Most rows in one REST reply; 0 means no limit."`
	TLS             TLS      `toml:"tls"`
}

// TLS serves the public port with a certificate of one's own.
type TLS struct {
	Enabled  bool   `toml:"enabled" doc:"Serve HTTPS with the certificate below."`
	CertPath string `toml:"cert_path" doc:"Certificate chain, PEM."`
	KeyPath  string `toml:"key_path" doc:"Private key of the certificate, PEM."`
}

// DB is the embedded Postgres and what is loaded into it.
type DB struct {
	Port         uint16     `toml:"port" doc:"Loopback port of Postgres; 0 picks a free one."`
	MajorVersion int        `toml:"major_version" doc:"Postgres major version; only 17 is embedded."`
	Migrations   Migrations `toml:"migrations"`
	Seed         Seed       `toml:"seed"`
}

// Migrations says whether the site's migrations run at start.
type Migrations struct {
	Enabled bool `toml:"enabled" doc:"Apply supabase/migrations at start."`
}

// Seed is loaded once, into a database that is new.
type Seed struct {
	Enabled  bool     `toml:"enabled" doc:"Load the seed into a new database."`
	SQLPaths []string `toml:"sql_paths" doc:"Seed files, glob patterns relative to config.toml."`
}

// Studio is the port of Supabase Studio in the compose form.
type Studio struct {
	Port uint16 `toml:"port" doc:"Port on which Studio is served behind a login, when STUDIO_UPSTREAM_URL is given."`
}

// Inbox is the development mail server.
type Inbox struct {
	Enabled  bool   `toml:"enabled" doc:"Run the development inbox when SMTP_HOST is not set (loopback only)."`
	Port     uint16 `toml:"port" doc:"Port of the inbox's page and API; 0 picks a free one."`
	SMTPPort uint16 `toml:"smtp_port" doc:"Port on which the inbox takes mail; 0 picks a free one."`
}

// Storage is the file service.
type Storage struct {
	FileSizeLimit       Size              `toml:"file_size_limit" doc:"Largest file of a bucket without a limit of its own."`
	ImageTransformation Switch            `toml:"image_transformation"`
	S3Protocol          Switch            `toml:"s3_protocol"`
	Buckets             map[string]Bucket `toml:"buckets"`
}

// Switch is a section that only turns something on or off.
type Switch struct {
	Enabled bool `toml:"enabled" doc:"Turn it on."`
}

// Bucket is made at start when it does not exist.
type Bucket struct {
	Public           bool     `toml:"public" doc:"Anyone may download."`
	FileSizeLimit    Size     `toml:"file_size_limit" doc:"Largest file; 0 is the service's limit."`
	AllowedMimeTypes []string `toml:"allowed_mime_types" doc:"Accepted content types; empty accepts all."`
	ObjectsPath      string   `toml:"objects_path" doc:"Folder of files to seed, relative to config.toml."`
}

// EdgeRuntime holds the secrets that functions see. Functions themselves are Go and are configured there.
type EdgeRuntime struct {
	Secrets map[string]string `toml:"secrets" each:"A variable that functions see; write env(NAME) instead of the value."`
}

// Duration is written as "1s", "24h".
type Duration time.Duration

// UnmarshalText reads the notation of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// String is the notation that UnmarshalText reads.
func (d Duration) String() string { return time.Duration(d).String() }

// Loopback says whether the stack serves this machine only: it listens there, and no proxy in front of it serves others,
// as a public SITE_URL would tell.
func (c *Config) Loopback() bool {
	if !isLoopback(c.Host) || len(c.TLSDomains) > 0 {
		return false
	}
	site, err := url.Parse(c.SiteURL)
	return c.SiteURL == "" || err == nil && isLoopback(site.Hostname())
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Where names what makes the installation public.
func (c *Config) Where() string {
	if isLoopback(c.Host) {
		return "serving " + c.SiteURL + strings.Join(c.TLSDomains, " ")
	}
	return "listening on " + c.Host
}

// Address is host and port to listen on for the public port.
func (c *Config) Address() string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.API.Port)))
}
