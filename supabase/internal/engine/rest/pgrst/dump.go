package pgrst

import (
	"encoding/base64"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/engine/rest/schema"
)

// dump returns the settings as a configuration file, sorted by name.
func (s *settings) dump() string {
	lines := slices.Concat(s.dumpDB(), s.dumpJWT(), s.dumpAPI(), s.dumpServer())
	if s.Rest.CancelReads { // not a setting of PostgREST, so its default is not in the dump
		lines = append(lines, "server-cancel-reads = true")
	}
	for _, kv := range s.Rest.AppSettings {
		lines = append(lines, kv[0]+" = "+text(kv[1]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func text(v string) string { return `"` + strings.ReplaceAll(v, `"`, `\"`) + `"` }

func list(v []string) string { return text(strings.Join(v, ",")) }

func flag(v bool) string { return strconv.FormatBool(v) }

func seconds(v time.Duration) string { return strconv.Itoa(int(v.Seconds())) }

func octal(m fs.FileMode) string { return text(strconv.FormatUint(uint64(m), 8)) }

func function(n *schema.Name) string {
	switch {
	case n == nil:
		return text("")
	case n.Schema == "":
		return text(n.Name)
	default:
		return text(n.Schema + "." + n.Name)
	}
}

func (s *settings) dumpDB() []string {
	c := &s.Rest
	maxRows := text("")
	if c.MaxRows != nil {
		maxRows = strconv.FormatInt(*c.MaxRows, 10)
	}
	channel := c.Channel
	if channel == "" {
		channel = s.channel
	}
	return []string{
		"db-aggregates-enabled = " + flag(c.Aggregates),
		"db-anon-role = " + text(c.AnonRole),
		"db-channel = " + text(channel),
		"db-channel-enabled = " + flag(s.ChannelEnabled),
		"db-config = " + flag(s.InDatabase),
		"db-extra-search-path = " + list(c.ExtraSearchPath),
		"db-hoisted-tx-settings = " + list(c.HoistedSettings),
		"db-max-rows = " + maxRows,
		"db-plan-enabled = " + flag(c.PlanEnabled),
		"db-pool = " + strconv.Itoa(s.Pool),
		"db-pool-acquisition-timeout = " + seconds(s.AcquisitionTimeout),
		"db-pool-automatic-recovery = " + flag(s.AutomaticRecovery),
		"db-pool-max-idletime = " + seconds(s.MaxIdle),
		"db-pool-max-lifetime = " + seconds(s.MaxLifetime),
		"db-pre-config = " + function(s.PreConfig),
		"db-pre-request = " + function(c.PreRequest),
		"db-prepared-statements = " + flag(s.Prepared),
		"db-root-spec = " + function(c.RootFunction),
		"db-schemas = " + list(c.Schemas),
		"db-tx-end = " + text(s.txEnd),
		"db-uri = " + text(s.DBURI),
	}
}

func (s *settings) dumpJWT() []string {
	secret := string(s.secret)
	if s.base64 {
		secret = base64.StdEncoding.EncodeToString(s.secret)
	}
	return []string{
		"jwt-aud = " + text(s.audience),
		"jwt-cache-max-entries = " + strconv.Itoa(s.Rest.CacheSize),
		"jwt-role-claim-key = " + text(strings.ReplaceAll(s.Rest.RoleClaim.String(), "$", "$$")),
		"jwt-secret = " + text(secret),
		"jwt-secret-is-base64 = " + flag(s.base64),
	}
}

func (s *settings) dumpAPI() []string {
	c := &s.Rest
	verbosity := "verbose"
	if c.MinimalErrors {
		verbosity = "minimal"
	}
	return []string{
		"client-error-verbosity = " + text(verbosity),
		"log-level = " + text(s.LogLevel),
		"log-query = " + flag(s.LogQuery),
		"openapi-mode = " + text(openAPIModes()[c.OpenAPI]),
		"openapi-security-active = " + flag(c.OpenAPISecured),
		"openapi-server-proxy-uri = " + text(c.ProxyURL),
		"url-use-legacy-target-names = " + flag(c.LegacyTargetNames),
	}
}

func (s *settings) dumpServer() []string {
	c := &s.Rest
	adminPort := text("")
	if s.AdminPort != 0 {
		adminPort = strconv.Itoa(s.AdminPort)
	}
	return []string{
		"admin-server-host = " + text(s.AdminHost),
		"admin-server-port = " + adminPort,
		"admin-server-unix-socket = " + text(s.AdminSocket),
		"admin-server-unix-socket-mode = " + octal(s.AdminMode),
		"server-cors-allowed-origins = " + list(c.CORSOrigins),
		"server-host = " + text(s.Host),
		"server-port = " + strconv.Itoa(s.Port),
		"server-reuseport = " + flag(s.ReusePort),
		"server-timing-enabled = " + flag(c.ServerTiming),
		"server-trace-header = " + text(c.TraceHeader),
		"server-unix-socket = " + text(s.Socket),
		"server-unix-socket-mode = " + octal(s.Mode),
	}
}
