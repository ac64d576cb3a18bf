package rest

import (
	"encoding/json"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/token"
)

// TxEnd sets how transactions end (db-tx-end).
type TxEnd struct {
	Rollback bool // roll back unless the client asks for a commit
	Override bool // the client may choose with Prefer: tx=…
}

// OpenAPIMode sets what the root describes (openapi-mode).
type OpenAPIMode uint8

// The modes. They describe what the caller has privileges for, everything, or nothing.
const (
	FollowPrivileges OpenAPIMode = iota
	IgnorePrivileges
	OpenAPIDisabled
)

// Verifier verifies the signature of a token and returns its claims. *token.Set is one.
type Verifier interface {
	Verify(token string) (json.RawMessage, *apierror.Error)
}

// Config is the configuration of the engine. Package pgrst reads it from PostgREST's variables and
// files, the stack from [api] of config.toml. The names in brackets are PostgREST's.
type Config struct {
	Schemas         []string // [db-schemas] the exposed schemas; the first is the default
	ExtraSearchPath []string // [db-extra-search-path]
	CheckSchemas    bool     // Schemas and ExtraSearchPath must exist; without it an unknown one is empty
	// LoadDelay makes each load of the schema cache take longer
	// [internal-schema-cache-query-sleep]. It is for tests.
	LoadDelay       time.Duration
	AnonRole        string       // [db-anon-role] "" refuses requests without a token
	MaxRows         *int64       // [db-max-rows]
	Aggregates      bool         // [db-aggregates-enabled]
	PlanEnabled     bool         // [db-plan-enabled]
	PreRequest      *schema.Name // [db-pre-request]
	RootFunction    *schema.Name // [db-root-spec] replaces the OpenAPI document of the root
	HoistedSettings []string     // [db-hoisted-tx-settings]
	TxEnd           TxEnd        // [db-tx-end]
	Channel         string       // [db-channel] "" listens to no channel

	Keys      Verifier          // [jwt-secret] nil for none
	Audience  func(string) bool // [jwt-aud] nil accepts all
	RoleClaim token.Path        // [jwt-role-claim-key]
	CacheSize int               // [jwt-cache-max-entries] the number of verified tokens to keep
	// RefuseIDTokens refuses a token with a subject and without a role. PostgREST gives such a
	// token the anonymous role. Auth signs ID tokens with the same keys, and an ID token must not
	// grant access.
	RefuseIDTokens bool

	OpenAPI        OpenAPIMode // [openapi-mode]
	OpenAPISecured bool        // [openapi-security-active]
	ProxyURL       string      // [openapi-server-proxy-uri]
	Host           string      // [server-host], as OpenAPI shows it
	Port           int         // [server-port], as OpenAPI shows it

	// CancelReads cancels the statement of a read whose client has disconnected. Without it every
	// statement runs to its end, as with PostgREST. A statement that may write always does.
	CancelReads bool
	// RequireFilter refuses an UPDATE or DELETE without a filter, as the extension safeupdate does.
	RequireFilter bool

	LogQuery          bool        // [log-query]
	AppSettings       [][2]string // [app.settings.*]
	CORSOrigins       []string    // [server-cors-allowed-origins] empty allows all
	NoCORS            bool        // the gateway sets the CORS headers
	TraceHeader       string      // [server-trace-header]
	ServerTiming      bool        // [server-timing-enabled]
	MinimalErrors     bool        // [client-error-verbosity] = minimal
	LegacyTargetNames bool        // [url-use-legacy-target-names]
}

// Default returns PostgREST's defaults.
func Default() Config {
	return Config{
		Schemas:         []string{"public"},
		ExtraSearchPath: []string{"public"},
		HoistedSettings: []string{"statement_timeout", "plan_filter.statement_cost_limit",
			"default_transaction_isolation"},
		Channel:           "pgrst",
		CacheSize:         1000,
		LegacyTargetNames: true,
	}
}
