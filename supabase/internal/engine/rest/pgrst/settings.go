package pgrst

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/token"
)

// settings is PostgREST's configuration. Rest holds the settings of the engine, the other fields
// configure the process.
type settings struct {
	Rest rest.Config

	DBURI              string
	Pool               int
	AcquisitionTimeout time.Duration
	MaxLifetime        time.Duration
	MaxIdle            time.Duration
	AutomaticRecovery  bool
	Prepared           bool
	InDatabase         bool         // db-config
	PreConfig          *schema.Name // db-pre-config
	ChannelEnabled     bool

	Host      string
	Port      int
	Socket    string
	Mode      fs.FileMode
	ReusePort bool

	AdminHost   string
	AdminPort   int // 0 is none
	AdminSocket string
	AdminMode   fs.FileMode

	LogLevel string
	LogQuery bool

	channel  string // db-channel, even if the engine does not listen to it
	audience string
	secret   []byte
	base64   bool
	txEnd    string
}

// sources are the sources of settings. The database takes precedence over the environment, and the
// environment over the file.
type sources struct {
	File     string // path; "" is none
	Environ  []string
	Database map[string]string                 // by name, with underscores
	DBURI    string                            // on reload the URI in use, which does not change
	ReadFile func(path string) ([]byte, error) // reads the files that settings name; nil is os.ReadFile
}

// loadSettings reads the settings.
func loadSettings(src sources) (*settings, error) {
	env := map[string]string{}
	for _, kv := range src.Environ {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	r := &reader{env: env, db: src.Database, file: map[string]string{}, readFile: src.ReadFile}
	if r.readFile == nil {
		r.readFile = os.ReadFile
	}
	if src.File != "" {
		text, err := os.ReadFile(src.File)
		if err != nil {
			return nil, fmt.Errorf("error in config %w", err)
		}
		r.file, err = parseFile(string(text), func(k string) (string, bool) { v, ok := env[k]; return v, ok })
		if err != nil {
			return nil, fmt.Errorf("error in config %s: %w", src.File, err)
		}
	}
	s := r.settings(rest.Default())
	s.Rest.CheckSchemas = true
	if src.DBURI != "" {
		s.DBURI = src.DBURI
	} else if path, ok := strings.CutPrefix(s.DBURI, "@"); ok {
		text, err := r.readFile(path)
		r.fail(err)
		s.DBURI = strings.TrimSpace(string(text))
	}
	r.keys(s)
	if r.err != nil {
		return nil, fmt.Errorf("error in config %w", r.err)
	}
	return s, nil
}

// configError is an error with the wording of PostgREST, which begins with a capital letter.
type configError string

func (m configError) Error() string { return string(m) }

// reader looks up settings and keeps the first error.
type reader struct {
	file, env, db map[string]string
	readFile      func(string) ([]byte, error)
	err           error
}

// streams returns a function that reads files. It reads a pipe or a device such as /dev/stdin once
// and keeps its content, because a second read would find nothing.
func streams() func(path string) ([]byte, error) {
	var mu sync.Mutex
	kept := map[string][]byte{}
	return func(path string) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if text, ok := kept[path]; ok {
			return text, nil
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(path)
		if err == nil && !info.Mode().IsRegular() {
			kept[path] = text
		}
		return text, err
	}
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// lookup returns the value of a setting, by its name or an older name.
func (r *reader) lookup(names ...string) (string, bool) {
	for _, n := range names {
		under := strings.ReplaceAll(n, "-", "_")
		if v, ok := r.db[under]; ok {
			return v, true
		}
		if v, ok := r.env["PGRST_"+strings.ToUpper(under)]; ok {
			return v, true
		}
		if v, ok := r.file[n]; ok {
			return v, true
		}
	}
	return "", false
}

// text returns the value of a setting that is not empty.
func (r *reader) text(fallback string, names ...string) string {
	for _, n := range names {
		if v, ok := r.lookup(n); ok && v != "" {
			return v
		}
	}
	return fallback
}

// number returns the value of a numeric setting.
func (r *reader) number(fallback int, names ...string) int {
	for _, n := range names {
		if v, ok := r.lookup(n); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
				return n
			}
		}
	}
	return fallback
}

// flag returns the value of a boolean setting: true and false in upper or lower case, or a number.
func (r *reader) flag(fallback bool, names ...string) bool {
	for _, n := range names {
		v, ok := r.lookup(n)
		if !ok {
			continue
		}
		word := strings.ToLower(strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return -1
		}, v))
		if word == "true" || word == "false" {
			return word == "true"
		}
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			return n > 0
		}
	}
	return fallback
}

// choice returns the value of a setting that must be one of the allowed values.
func (r *reader) choice(fallback, message, name string, allowed ...string) string {
	v := r.text(fallback, name)
	if !slices.Contains(allowed, v) {
		r.fail(configError(message))
	}
	return v
}

// name returns the value of a setting that names a function.
func (r *reader) name(fallback *schema.Name, names ...string) *schema.Name {
	v := r.text("", names...)
	if v == "" {
		return fallback
	}
	if s, n, ok := strings.Cut(v, "."); ok {
		return &schema.Name{Schema: s, Name: n}
	}
	return &schema.Name{Name: v}
}

// mode returns the value of a setting that holds a file mode.
func (r *reader) mode(name string) fs.FileMode {
	v := r.text("660", name)
	n, err := strconv.ParseUint(v, 8, 32)
	switch {
	case err != nil:
		r.fail(configError("Invalid " + name + ": not an octal"))
	case n < 0o600 || n > 0o777:
		r.fail(configError("Invalid " + name + ": needs to be between 600 and 777"))
	}
	return fs.FileMode(n)
}

func (r *reader) seconds(fallback int, names ...string) time.Duration {
	return time.Duration(r.number(fallback, names...)) * time.Second
}

// commas splits a list at its commas.
func commas(s string) []string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// settings reads all settings. c has the values of those that are not set.
func (r *reader) settings(c rest.Config) *settings {
	txEnd := r.database(&c)
	r.api(&c)
	audience := r.tokens(&c)
	s := &settings{
		Rest:               c,
		DBURI:              r.text("postgresql://", "db-uri"),
		Pool:               r.number(10, "db-pool"),
		AcquisitionTimeout: r.seconds(10, "db-pool-acquisition-timeout"),
		MaxLifetime:        r.seconds(1800, "db-pool-max-lifetime"),
		MaxIdle:            r.seconds(30, "db-pool-timeout", "db-pool-max-idletime"),
		AutomaticRecovery:  r.flag(true, "db-pool-automatic-recovery"),
		Prepared:           r.flag(true, "db-prepared-statements"),
		InDatabase:         r.flag(true, "db-config"),
		PreConfig:          r.name(nil, "db-pre-config"),
		ChannelEnabled:     r.flag(true, "db-channel-enabled"),
		Host:               r.text("!4", "server-host"),
		Port:               r.number(3000, "server-port"),
		Socket:             r.text("", "server-unix-socket"),
		Mode:               r.mode("server-unix-socket-mode"),
		ReusePort:          r.flag(false, "server-reuseport"),
		AdminHost:          r.text("!4", "admin-server-host", "server-host"),
		AdminPort:          r.number(0, "admin-server-port"),
		AdminSocket:        r.text("", "admin-server-unix-socket"),
		AdminMode:          r.mode("admin-server-unix-socket-mode"),
		LogLevel: r.choice("error", "Invalid logging level. Check your configuration.", "log-level",
			"crit", "error", "warn", "info", "debug"),
		LogQuery: r.flag(false, "log-query"),
		audience: audience,
		txEnd:    txEnd,
		secret:   []byte(r.text("", "jwt-secret")),
		base64:   r.flag(false, "jwt-secret-is-base64", "secret-is-base64"),
	}
	if s.AdminPort != 0 && s.AdminPort == s.Port {
		r.fail(configError("admin-server-port cannot be the same as server-port"))
	}
	s.Rest.CancelReads = r.flag(c.CancelReads, "server-cancel-reads")
	s.Rest.LoadDelay = time.Duration(r.number(0, "internal-schema-cache-query-sleep")+
		r.number(0, "internal-schema-cache-query-sleep-before-queries")) * time.Millisecond
	s.Rest.Host, s.Rest.Port = s.Host, s.Port
	s.Rest.LogQuery = s.LogQuery
	s.channel = s.Rest.Channel
	if !s.ChannelEnabled {
		s.Rest.Channel = ""
	}
	return s
}

// database reads the settings db-* of the engine. It returns the value of db-tx-end.
func (r *reader) database(c *rest.Config) (txEnd string) {
	c.AnonRole = r.text(c.AnonRole, "db-anon-role")
	c.Aggregates = r.flag(c.Aggregates, "db-aggregates-enabled")
	c.Channel = r.text(c.Channel, "db-channel")
	if v, ok := r.lookup("db-extra-search-path"); ok {
		c.ExtraSearchPath = nil
		if v != "" {
			c.ExtraSearchPath = commas(v)
		}
	}
	c.HoistedSettings = commas(r.text(strings.Join(c.HoistedSettings, ","), "db-hoisted-tx-settings"))
	if n := r.number(-1, "db-max-rows", "max-rows"); n >= 0 {
		rows := int64(n)
		c.MaxRows = &rows
	}
	c.PlanEnabled = r.flag(c.PlanEnabled, "db-plan-enabled")
	c.PreRequest = r.name(c.PreRequest, "db-pre-request", "pre-request")
	c.RootFunction = r.name(c.RootFunction, "db-root-spec", "root-spec")
	c.Schemas = commas(r.text(strings.Join(c.Schemas, ","), "db-schemas", "db-schema"))
	for _, forbidden := range [...]string{"pg_catalog", "information_schema"} {
		if slices.Contains(c.Schemas, forbidden) {
			r.fail(fmt.Errorf("db-schemas does not allow schema: '%s'", forbidden))
		}
	}
	txEnd = r.choice(txEndName(c.TxEnd), "Invalid transaction termination. Check your configuration.", "db-tx-end",
		"commit", "commit-allow-override", "rollback", "rollback-allow-override")
	c.TxEnd = rest.TxEnd{Rollback: strings.HasPrefix(txEnd, "rollback"),
		Override: strings.HasSuffix(txEnd, "-allow-override")}
	return txEnd
}

// api reads the settings of replies, OpenAPI and HTTP.
func (r *reader) api(c *rest.Config) {
	verbosity := "verbose"
	if c.MinimalErrors {
		verbosity = "minimal"
	}
	c.MinimalErrors = r.choice(verbosity, "Invalid client-error-verbosity. Check your configuration.",
		"client-error-verbosity", "verbose", "minimal") == "minimal"
	c.OpenAPI = map[string]rest.OpenAPIMode{"ignore-privileges": rest.IgnorePrivileges,
		"disabled": rest.OpenAPIDisabled}[r.choice(
		openAPIModes()[c.OpenAPI], "Invalid openapi-mode. Check your configuration.", "openapi-mode",
		"follow-privileges", "ignore-privileges", "disabled")]
	c.OpenAPISecured = r.flag(c.OpenAPISecured, "openapi-security-active")
	if c.ProxyURL = r.text(c.ProxyURL, "openapi-server-proxy-uri"); c.ProxyURL != "" {
		if u, err := url.Parse(c.ProxyURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			r.fail(configError("Malformed proxy uri, a correct example: https://example.com:8443/basePath"))
		}
	}
	if v := r.text("", "server-cors-allowed-origins"); v != "" {
		c.CORSOrigins = commas(v)
	}
	c.TraceHeader = r.text(c.TraceHeader, "server-trace-header")
	c.ServerTiming = r.flag(c.ServerTiming, "server-timing-enabled")
	c.LegacyTargetNames = r.flag(c.LegacyTargetNames, "url-use-legacy-target-names")
	c.AppSettings = append(c.AppSettings, r.appSettings()...)
}

// tokens reads the settings jwt-* except the secret. It returns the value of jwt-aud.
func (r *reader) tokens(c *rest.Config) (audience string) {
	c.CacheSize = r.number(c.CacheSize, "jwt-cache-max-entries")
	if v := r.text("", "jwt-role-claim-key", "role-claim-key"); v != "" {
		path, err := token.ParsePath(v)
		if err != nil {
			r.fail(fmt.Errorf("failed to parse role-claim-key value (%s)", v))
		}
		c.RoleClaim = path
	}
	audience = r.text("", "jwt-aud")
	if audience == "" {
		return ""
	}
	if strings.Contains(audience, ":") {
		if u, err := url.Parse(audience); err != nil || u.Scheme == "" ||
			strings.ContainsAny(audience, " <>\"{}|\\^`") {
			r.fail(configError("jwt-aud should be a string or a valid URI"))
		}
	}
	c.Audience = func(a string) bool { return a == audience }
	return audience
}

// appSettings returns app.settings.* of the file and PGRST_APP_SETTINGS_* of the environment,
// sorted by name.
func (r *reader) appSettings() [][2]string {
	all := map[string]string{}
	for k, v := range r.file {
		if strings.HasPrefix(k, "app.settings.") {
			all[k] = v
		}
	}
	for k, v := range r.env {
		if name, ok := strings.CutPrefix(k, "PGRST_APP_SETTINGS_"); ok {
			all["app.settings."+name] = v
		}
	}
	var out [][2]string
	for k, v := range all {
		out = append(out, [2]string{k, v})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

func txEndName(t rest.TxEnd) string {
	name := "commit"
	if t.Rollback {
		name = "rollback"
	}
	if t.Override {
		name += "-allow-override"
	}
	return name
}

func openAPIModes() map[rest.OpenAPIMode]string {
	return map[rest.OpenAPIMode]string{rest.FollowPrivileges: "follow-privileges",
		rest.IgnorePrivileges: "ignore-privileges", rest.OpenAPIDisabled: "disabled"}
}

// keys reads the secret, from a file if it begins with "@", and decodes it if it is base64.
func (r *reader) keys(s *settings) {
	if path, ok := strings.CutPrefix(string(s.secret), "@"); ok {
		text, err := r.readFile(path)
		r.fail(err)
		s.secret = []byte(strings.TrimSuffix(string(text), "\n"))
	}
	if len(s.secret) == 0 {
		return
	}
	if s.base64 {
		plain := strings.NewReplacer("_", "/", "-", "+", ".", "=").Replace(strings.TrimSpace(string(s.secret)))
		decoded, err := base64.StdEncoding.DecodeString(plain)
		r.fail(err)
		s.secret = decoded
	}
	set, err := token.ParseSet(s.secret)
	if err != nil {
		r.fail(err)
		return
	}
	if !strings.HasPrefix(strings.TrimSpace(string(s.secret)), "{") && len(s.secret) < 32 {
		r.fail(configError("The JWT secret must be at least 32 characters long."))
	}
	s.Rest.Keys = set
}
