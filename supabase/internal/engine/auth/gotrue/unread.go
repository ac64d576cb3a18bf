package gotrue

import (
	"slices"
	"strings"
)

// harmless lists prefixes of GoTrue variables that do not affect access: logs, traces, metrics,
// connections, reloading of files, and limits of features that this engine does not have.
var harmless = []string{
	"API_", "COOKIE_", "DB_", "INDEX_WORKER_", "LOG", "METRICS_", "OPERATOR_TOKEN", "PROFILER_",
	"RELOADING_", "SMTP_LOGGING_ENABLED", "MAILER_TEMPLATE_RELOADING_", "MAILER_EMAIL_BACKGROUND_SENDING", "TRACING_",
	"EXTERNAL_OIDC_PROVIDER_CACHE_TTL", "INTERNAL_HTTP_TIMEOUT", "JWT_ADMIN_GROUP_NAME", "PASSWORD_HIBP_BLOOM_",
	"MAILER_EMAIL_VALIDATION_SERVICE_HEADERS", "SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY",
}

// unread returns the sorted names of the GOTRUE_ variables that are set but have no effect. It
// leaves out the variables of disabled features and those that do not affect access, so that the
// operator sees only those that matter.
func (e *env) unread(environ []string) []string {
	var out []string
	for _, pair := range environ {
		full, value, _ := strings.Cut(pair, "=")
		name, ok := strings.CutPrefix(full, "GOTRUE_")
		if !ok || value == "" || e.asked[name] || e.disabled(name) {
			continue
		}
		if !slices.ContainsFunc(harmless, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			out = append(out, full)
		}
	}
	slices.Sort(out)
	return out
}

// disabled reports whether the variable belongs to a feature whose …_ENABLED variable was read and
// is not true.
func (e *env) disabled(name string) bool {
	for feature := name; feature != ""; {
		at := strings.LastIndexByte(feature, '_')
		if at < 0 {
			return false
		}
		feature = feature[:at]
		if enabled := feature + "_ENABLED"; enabled != name && e.asked[enabled] {
			return !e.flag(enabled, false)
		}
	}
	return false
}
