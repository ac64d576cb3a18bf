package gotrue

import (
	"slices"
	"strings"
)

// idle are beginnings of GoTrue's names that decide nothing about who gets in: its logs, traces and metrics, how it holds
// connections and reloads its files, limits of what is turned off here.
var idle = []string{
	"API_", "COOKIE_", "DB_", "INDEX_WORKER_", "LOG", "METRICS_", "OPERATOR_TOKEN", "PROFILER_", "RATE_LIMIT_SSO",
	"RELOADING_", "SMTP_LOGGING_ENABLED", "MAILER_TEMPLATE_", "MAILER_EXTERNAL_HOSTS", "MAILER_EMAIL_BACKGROUND_SENDING", "TRACING_",
	"EXTERNAL_OIDC_PROVIDER_CACHE_TTL",
}

// unread names the GOTRUE_ variables that are set and that nothing here asked for. Those of a part that is turned off, and
// those that decide nothing about who gets in, are left out: what remains an operator must know about.
func (e *env) unread(environ []string) []string {
	var out []string
	for _, pair := range environ {
		full, value, _ := strings.Cut(pair, "=")
		name, ours := strings.CutPrefix(full, "GOTRUE_")
		if !ours || value == "" || e.asked[name] || e.turnedOff(name) {
			continue
		}
		if !slices.ContainsFunc(idle, func(beginning string) bool { return strings.HasPrefix(name, beginning) }) {
			out = append(out, full)
		}
	}
	slices.Sort(out)
	return out
}

// turnedOff says whether a variable belongs to a part whose …_ENABLED was asked for and is not true.
func (e *env) turnedOff(name string) bool {
	for part := name; part != ""; {
		at := strings.LastIndexByte(part, '_')
		if at < 0 {
			return false
		}
		part = part[:at]
		if gate := part + "_ENABLED"; gate != name && e.asked[gate] {
			return !e.flag(gate, false)
		}
	}
	return false
}
