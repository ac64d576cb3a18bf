package pgrst

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func load(t *testing.T, file string, environ ...string) (*settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rest.conf")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadSettings(sources{File: path, Environ: environ})
}

func TestDefaults(t *testing.T) {
	s, err := loadSettings(sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`db-schemas = "public"`, `db-extra-search-path = "public"`, `db-pool = 10`,
		`db-max-rows = ""`, `db-tx-end = "commit"`, `db-channel = "pgrst"`,
		`server-port = 3000`, `server-host = "!4"`, `admin-server-port = ""`, `jwt-role-claim-key = "$$.role"`,
		`log-level = "error"`, `openapi-mode = "follow-privileges"`,
		`db-prepared-statements = true`, `db-config = true`, `url-use-legacy-target-names = true`,
		`jwt-cache-max-entries = 1000`} {
		if !strings.Contains(s.dump(), line+"\n") {
			t.Errorf("%s is missing in\n%s", line, s.dump())
		}
	}
}

func TestFileAndEnvironment(t *testing.T) {
	s, err := load(t, `
# a comment
db-uri = "postgres://file"
db-schemas = "api, $(TENANT)"   # another
db-max-rows = 7
db-tx-end = "rollback-allow-override"
db-aggregates-enabled = True
app.settings.price = "5$$"
jwt-secret = "0123456789012345678901234567890123456789"
pre-request = "api.check"
max-rows = 9
`, "TENANT=tenant", "PGRST_DB_URI=postgres://environment", "PGRST_SERVER_PORT=80", "PGRST_APP_SETTINGS_NAME=x",
		"PGRST_OPENAPI_MODE=disabled")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`db-uri = "postgres://environment"`, `db-schemas = "api,tenant"`, `db-max-rows = 7`,
		`db-tx-end = "rollback-allow-override"`, `db-aggregates-enabled = true`,
		`app.settings.price = "5$"`, `app.settings.NAME = "x"`, `server-port = 80`, `openapi-mode = "disabled"`,
		`db-pre-request = "api.check"`} {
		if !strings.Contains(s.dump(), line+"\n") {
			t.Errorf("%s is missing in\n%s", line, s.dump())
		}
	}
	if s.Rest.Keys == nil || !s.Rest.TxEnd.Rollback || !s.Rest.TxEnd.Override {
		t.Errorf("%+v", s.Rest)
	}
}

// TestCancelReads checks the setting that PostgREST does not have: off and absent from the dump by
// default.
func TestCancelReads(t *testing.T) {
	if s, err := load(t, ""); err != nil || s.Rest.CancelReads || strings.Contains(s.dump(), "cancel") {
		t.Errorf("%v, %+v", err, s)
	}
	if s, err := load(t, "server-cancel-reads = true"); err != nil || !s.Rest.CancelReads ||
		!strings.Contains(s.dump(), "server-cancel-reads = true\n") {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestInvalidSettings(t *testing.T) {
	for file, want := range map[string]string{
		`db-tx-end = "never"`:                   "Invalid transaction termination",
		`openapi-mode = "x"`:                    "Invalid openapi-mode",
		`log-level = "loud"`:                    "Invalid logging level",
		`db-schemas = "pg_catalog"`:             "db-schemas does not allow schema: 'pg_catalog'",
		`jwt-secret = "short"`:                  "at least 32 characters",
		`jwt-secret = "@/nowhere/at/all"`:       "no such file",
		`jwt-aud = "http://%%%"`:                "jwt-aud should be a string or a valid URI",
		`jwt-role-claim-key = "role"`:           "failed to parse role-claim-key value (role)",
		`server-unix-socket-mode = "888"`:       "not an octal",
		`server-unix-socket-mode = "0"`:         "needs to be between 600 and 777",
		`openapi-server-proxy-uri = "nonsense"`: "Malformed proxy uri",
		"admin-server-port = 3000":              "admin-server-port cannot be the same as server-port",
		`db-uri = "not closed`:                  "line 1",
		`client-error-verbosity = "chatty"`:     "Invalid client-error-verbosity",
	} {
		if _, err := load(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// TestServe starts a server from a configuration file and settings in the database. It checks the
// admin server, the reload of settings, and that the server answers running requests before it
// stops.
func TestServe(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	limit := func(rows int) {
		database.ExecAs("supabase_admin",
			fmt.Sprintf(`alter role authenticator in database %s set pgrst.db_max_rows = '%d'; notify pgrst, 'reload config'`,
				database.Name, rows))
	}
	limit(2)
	s := start(t, database, "")
	if got := s.ask(s.socket, "/things?select=id&order=id"); !strings.HasPrefix(got, "200") ||
		!strings.HasSuffix(got, "\n[{\"id\":1}, \n {\"id\":2}]") {
		t.Errorf("at most two rows: %s", got)
	}
	for path, want := range map[string][]string{
		"/live": {"200"}, "/ready": {"200"}, "/other": {"404"},
		"/metrics": {"200", "Content-Type: text/plain; charset=utf-8",
			`pgrst_schema_cache_loads_total{status="SUCCESS"} 1.0`},
		"/schema_cache": {"200", "public.things"},
	} {
		got := s.ask(s.admin, path)
		for i, text := range want {
			if i == 0 && !strings.HasPrefix(got, text) || !strings.Contains(got, text) {
				t.Errorf("%s: %q is missing in %s", path, text, got)
			}
		}
	}
	limit(1)
	s.eventually("/things?select=id&order=id", "\n[{\"id\":1}]")

	answered := make(chan string, 1)
	go func() { answered <- s.ask(s.socket, "/rpc/wait") }()
	for testdb.Value[int](database,
		`select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`) == 0 &&
		len(answered) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	s.stop()
	if got := <-answered; !strings.HasPrefix(got, "200") {
		t.Errorf("a request during shutdown: %s", got)
	}
}
