package pgrst

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/rest/schema"
)

// Dump writes the settings as a configuration file, sorted by name.
func (s *Settings) Dump() string {
	c := &s.Rest
	text := func(v string) string { return `"` + strings.ReplaceAll(v, `"`, `\"`) + `"` }
	list := func(v []string) string { return text(strings.Join(v, ",")) }
	flag := strconv.FormatBool
	name := func(n *schema.Name) string {
		switch {
		case n == nil:
			return text("")
		case n.Schema == "":
			return text(n.Name)
		default:
			return text(n.Schema + "." + n.Name)
		}
	}
	octal := func(m fs.FileMode) string { return text(strconv.FormatUint(uint64(m), 8)) }
	maxRows, adminPort := text(""), text("")
	if c.MaxRows != nil {
		maxRows = strconv.FormatInt(*c.MaxRows, 10)
	}
	if s.AdminPort != 0 {
		adminPort = strconv.Itoa(s.AdminPort)
	}
	secret := string(s.secret)
	if s.base64 {
		secret = base64.StdEncoding.EncodeToString(s.secret)
	}
	verbosity := "verbose"
	if c.MinimalErrors {
		verbosity = "minimal"
	}
	channel := c.Channel
	if channel == "" {
		channel = s.channel
	}
	mode := openAPIModes()[c.OpenAPI]
	lines := []string{
		"admin-server-host = " + text(s.AdminHost),
		"admin-server-port = " + adminPort,
		"admin-server-unix-socket = " + text(s.AdminSocket),
		"admin-server-unix-socket-mode = " + octal(s.AdminMode),
		"client-error-verbosity = " + text(verbosity),
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
		"db-pool-acquisition-timeout = " + fmt.Sprint(int(s.AcquisitionTimeout.Seconds())),
		"db-pool-automatic-recovery = " + flag(s.AutomaticRecovery),
		"db-pool-max-idletime = " + fmt.Sprint(int(s.MaxIdle.Seconds())),
		"db-pool-max-lifetime = " + fmt.Sprint(int(s.MaxLifetime.Seconds())),
		"db-pre-config = " + name(s.PreConfig),
		"db-pre-request = " + name(c.PreRequest),
		"db-prepared-statements = " + flag(s.Prepared),
		"db-root-spec = " + name(c.RootFunction),
		"db-schemas = " + list(c.Schemas),
		"db-tx-end = " + text(s.txEnd),
		"db-uri = " + text(s.DBURI),
		"jwt-aud = " + text(s.audience),
		"jwt-cache-max-entries = " + strconv.Itoa(c.CacheSize),
		"jwt-role-claim-key = " + text(strings.ReplaceAll(c.RoleClaim.String(), "$", "$$")),
		"jwt-secret = " + text(secret),
		"jwt-secret-is-base64 = " + flag(s.base64),
		"log-level = " + text(s.LogLevel),
		"log-query = " + flag(s.LogQuery),
		"openapi-mode = " + text(mode),
		"openapi-security-active = " + flag(c.OpenAPISecured),
		"openapi-server-proxy-uri = " + text(c.ProxyURL),
		"server-cors-allowed-origins = " + list(c.CORSOrigins),
		"server-host = " + text(s.Host),
		"server-port = " + strconv.Itoa(s.Port),
		"server-reuseport = " + flag(s.ReusePort),
		"server-timing-enabled = " + flag(c.ServerTiming),
		"server-trace-header = " + text(c.TraceHeader),
		"server-unix-socket = " + text(s.Socket),
		"server-unix-socket-mode = " + octal(s.Mode),
		"url-use-legacy-target-names = " + flag(c.LegacyTargetNames),
	}
	for _, kv := range c.AppSettings {
		lines = append(lines, kv[0]+" = "+text(kv[1]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
