// Package standalone runs the Realtime engine alone, as a replacement for supabase/realtime with
// one tenant, with its environment variables, port and paths.
package standalone

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/realtime"
)

// Config holds the settings of the environment variables.
type Config struct {
	Listen    string // host:port
	Database  realtime.Database
	Password  string
	SSLMode   string // of libpq
	PoolSize  int32
	Tenant    string
	Secret    string   // of the tenant's tokens
	Admin     []string // secrets of tokens for the API of tenants
	Metrics   string   // secret of tokens for /metrics
	JWKS      []keys.Key
	Claims    map[string]any  // values that a token's claims must have
	Blocked   map[string]bool // tokens that the API of tenants refuses
	Settings  realtime.Settings
	Handshake time.Duration // delay of an error reply to a handshake
	Join      time.Duration // delay of an error reply to a join
	MaxHeader int           // bytes
	NATSURL   string
	LogLevel  string
	Lenient   bool // send what upstream sends of changed rows
}

// FromEnv reads upstream's variables. It ignores variables of features that this engine does not
// have (clusters of Erlang nodes, several tenants, the dashboard), which docs/realtime.md lists.
func FromEnv(getenv func(string) (string, bool)) (*Config, error) {
	v := variables{getenv: getenv}
	c := &Config{
		Listen: net.JoinHostPort("", strconv.Itoa(v.whole(4000, "PORT"))),
		Database: realtime.Database{
			Host: v.text("127.0.0.1", "DB_HOST"), Port: v.text("5432", "DB_PORT"),
			Name: v.text("postgres", "DB_NAME"), User: v.text("supabase_admin", "DB_USER"),
		},
		Password: v.text("postgres", "DB_PASSWORD"), SSLMode: "disable", PoolSize: int32(v.whole(5, "DB_POOL_SIZE")),
		Tenant: v.text("realtime-dev", "SELF_HOST_TENANT_NAME"),
		Secret: v.text("", "API_JWT_SECRET"), Metrics: v.text("", "METRICS_JWT_SECRET"),
		Handshake: v.milliseconds(2000, "CONNECT_ERROR_BACKOFF_MS"),
		Join:      v.milliseconds(5000, "CHANNEL_ERROR_BACKOFF_MS"), MaxHeader: v.whole(4096, "MAX_HEADER_LENGTH"),
		NATSURL: v.text("", "NATS_URL"), LogLevel: v.text("info", "LOG_LEVEL"), Blocked: map[string]bool{},
	}
	d := realtime.Defaults()
	c.Settings = realtime.Settings{
		MaxConnections:       v.limit(d.MaxConnections, "TENANT_MAX_CONCURRENT_USERS"),
		MaxChannelsPerClient: v.limit(d.MaxChannelsPerClient, "TENANT_MAX_CHANNELS_PER_CLIENT"),
		JoinsInTotal:         true,
		MaxJoinsPerSecond:    v.limit(d.MaxJoinsPerSecond, "TENANT_MAX_JOINS_PER_SECOND"),
		MaxEventsPerSecond:   v.limit(d.MaxEventsPerSecond, "TENANT_MAX_EVENTS_PER_SECOND"),
		ClientPresenceEvents: v.limit(d.ClientPresenceEvents, "CLIENT_PRESENCE_MAX_CALLS"),
		ClientPresenceWindow: time.Duration(v.limit(int(d.ClientPresenceWindow.Milliseconds()),
			"CLIENT_PRESENCE_WINDOW_MS")) * time.Millisecond,
	}
	c.Lenient = v.is("LENIENT_CHANGES")
	if v.is("DB_SSL") {
		c.SSLMode = "require"
	}
	c.secrets(&v)
	return c, errors.Join(v.errs...)
}

// secrets reads the keys of tokens.
func (c *Config) secrets(v *variables) {
	for _, name := range []string{"API_JWT_SECRET", "API_JWT_SECRET_NEXT"} {
		if secret := v.text("", name); secret != "" {
			c.Admin = append(c.Admin, secret)
		}
	}
	for name, value := range map[string]string{"API_JWT_SECRET": c.Secret, "METRICS_JWT_SECRET": c.Metrics,
		"SECRET_KEY_BASE": v.text("", "SECRET_KEY_BASE")} {
		if value == "" {
			v.fail("%s is required", name)
		}
	}
	for word := range strings.SplitSeq(v.text("", "API_TOKEN_BLOCKLIST"), ",") {
		c.Blocked[strings.TrimSpace(word)] = true
	}
	if text := v.text("", "API_JWT_JWKS"); text != "" {
		var err error
		if c.JWKS, err = keys.ParseVerifySet([]byte(text)); err != nil {
			v.fail("API_JWT_JWKS: %v", err)
		}
	}
	if text := v.text("{}", "JWT_CLAIM_VALIDATORS"); json.Unmarshal([]byte(text), &c.Claims) != nil {
		v.fail("JWT_CLAIM_VALIDATORS is not a JSON object")
	}
}

// URL returns the address of the database. A host that is a path is the folder of a Unix socket, as
// for libpq.
func (c *Config) URL() string {
	d := c.Database
	query := url.Values{"sslmode": {c.SSLMode}}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(d.User, c.Password), Path: "/" + d.Name}
	if strings.HasPrefix(d.Host, "/") {
		query.Set("host", d.Host)
		query.Set("port", d.Port)
	} else {
		u.Host = net.JoinHostPort(d.Host, d.Port)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// verifying returns the keys of the tenant's tokens. As upstream, a token without a matching JWK is
// checked with the secret.
func (c *Config) verifying() []keys.Key {
	return append(slices.Clone(c.JWKS), keys.Secret("", c.Secret))
}

type variables struct {
	getenv func(string) (string, bool)
	errs   []error
}

func (v *variables) fail(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf(format, args...))
}

func (v *variables) text(def, name string) string {
	if value, ok := v.getenv(name); ok && value != "" {
		return value
	}
	return def
}

func (v *variables) whole(def int, name string) int {
	text := v.text("", name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		v.fail("%s: %q is not a whole number", name, text)
		return def
	}
	return n
}

// limit is a whole number that is at least 1.
func (v *variables) limit(def int, name string) int {
	n := v.whole(def, name)
	if n < 1 {
		v.fail("%s is %d, at least 1 is needed", name, n)
	}
	return n
}

func (v *variables) milliseconds(def int64, name string) time.Duration {
	return time.Duration(v.whole(int(def), name)) * time.Millisecond
}

func (v *variables) is(name string) bool {
	return slices.Contains([]string{"true", "1"}, strings.ToLower(v.text("", name)))
}
