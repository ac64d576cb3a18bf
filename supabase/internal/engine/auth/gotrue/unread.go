package gotrue

import (
	"slices"
	"strings"
)

// harmless lists the GoTrue variables without effect here that change neither a reply nor who has
// access. env_test.go holds all names that GoTrue v2.196 reads.
var harmless = strings.Fields(`
	LOG_DISABLE_COLORS LOG_FIELDS LOG_FILE LOG_QUOTE_EMPTY_FIELDS LOG_SQL LOG_TSFORMAT SMTP_LOGGING_ENABLED
	METRICS_ENABLED METRICS_EXPORTER METRICS_OTEL_EXPORTER_OTLP_PROTOCOL METRICS_OTEL_EXPORTER_PROMETHEUS_HOST
	METRICS_OTEL_EXPORTER_PROMETHEUS_PORT PROFILER_ENABLED PROFILER_HOST PROFILER_PORT TRACING_ENABLED
	TRACING_EXPORTER TRACING_HOST TRACING_OTEL_EXPORTER_OTLP_PROTOCOL TRACING_PORT TRACING_SERVICE_NAME TRACING_TAGS
	DB_ADVISOR_ENABLED DB_ADVISOR_OBSERVATION_INTERVAL DB_ADVISOR_SAMPLING_INTERVAL DB_CONN_MAX_IDLE_TIME
	DB_CONN_MAX_LIFETIME DB_CONN_PERCENTAGE DB_DRIVER DB_HEALTH_CHECK_PERIOD DB_MAX_IDLE_POOL_SIZE DB_MIGRATIONS_PATH
	INDEX_WORKER_ENSURE_USER_SEARCH_INDEXES_EXIST INDEX_WORKER_MAX_USERS_THRESHOLD
	RELOADING_GRACE_PERIOD_INTERVAL RELOADING_NOTIFY_ENABLED RELOADING_POLLERENABLED RELOADING_POLLER_INTERVAL
	RELOADING_SIGNAL_ENABLED RELOADING_SIGNAL_NUMBER
	MAILER_TEMPLATE_RELOADING_ENABLED MAILER_TEMPLATE_RELOADING_MAX_IDLE MAILER_EMAIL_BACKGROUND_SENDING
	MAILER_EMAIL_VALIDATION_SERVICE_HEADERS PASSWORD_HIBP_BLOOM_ENABLED PASSWORD_HIBP_BLOOM_FALSE_POSITIVES
	PASSWORD_HIBP_BLOOM_ITEMS EXTERNAL_OIDC_PROVIDER_CACHE_TTL SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY
	SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID API_ENDPOINT OPERATOR_TOKEN
`)

// unusedByGoTrue ends the names of settings of providers that GoTrue reads and uses nowhere.
const unusedByGoTrue = "_API_URL"

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
		if !slices.Contains(harmless, name) && !strings.HasSuffix(name, unusedByGoTrue) {
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
