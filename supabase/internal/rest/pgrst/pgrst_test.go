package pgrst

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func load(t *testing.T, file string, environ ...string) (*Settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rest.conf")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Sources{File: path, Environ: environ})
}

func TestDefaults(t *testing.T) {
	s, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`db-schemas = "public"`, `db-extra-search-path = "public"`, `db-pool = 10`, `db-max-rows = ""`, `db-tx-end = "commit"`, `db-channel = "pgrst"`,
		`server-port = 3000`, `server-host = "!4"`, `admin-server-port = ""`, `jwt-role-claim-key = "$$.role"`, `log-level = "error"`, `openapi-mode = "follow-privileges"`,
		`db-prepared-statements = true`, `db-config = true`, `url-use-legacy-target-names = true`, `jwt-cache-max-entries = 1000`} {
		if !strings.Contains(s.Dump(), line+"\n") {
			t.Errorf("no %s in\n%s", line, s.Dump())
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
`, "TENANT=tenant", "PGRST_DB_URI=postgres://environment", "PGRST_SERVER_PORT=80", "PGRST_APP_SETTINGS_NAME=x", "PGRST_OPENAPI_MODE=disabled")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`db-uri = "postgres://environment"`, `db-schemas = "api,tenant"`, `db-max-rows = 7`, `db-tx-end = "rollback-allow-override"`, `db-aggregates-enabled = true`,
		`app.settings.price = "5$"`, `app.settings.NAME = "x"`, `server-port = 80`, `openapi-mode = "disabled"`, `db-pre-request = "api.check"`} {
		if !strings.Contains(s.Dump(), line+"\n") {
			t.Errorf("no %s in\n%s", line, s.Dump())
		}
	}
	if s.Rest.Keys == nil || !s.Rest.TxEnd.Rollback || !s.Rest.TxEnd.Override {
		t.Errorf("%+v", s.Rest)
	}
}

func TestMistakes(t *testing.T) {
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

// TestServe starts the stand-alone server from a configuration file, in-database settings on top, and reloads both.
func TestServe(t *testing.T) {
	database := testdb.New(t)
	database.Exec(`create table public.things (id int primary key); insert into things values (1), (2), (3);
		create function public.wait() returns text language sql as $$ select pg_sleep(0.5)::text $$`)
	database.ExecAs("supabase_admin", fmt.Sprintf(`alter role authenticator in database %s set pgrst.db_max_rows = '2'`, database.Name))
	socket := filepath.Join(t.TempDir(), "main.sock")
	admin := filepath.Join(t.TempDir(), "admin.sock")
	path := filepath.Join(t.TempDir(), "rest.conf")
	conf := fmt.Sprintf("db-uri = %q\ndb-anon-role = \"anon\"\nserver-unix-socket = %q\nadmin-server-unix-socket = %q\n", database.URL("authenticator"), socket, admin)
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{File: path, Log: slog.New(slog.DiscardHandler), Ready: func(a string) { ready <- a }})
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	get := func(socket, url string) (int, string) {
		c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer(socket)}}
		res, err := c.Get("http://rest" + url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	if status, body := get(socket, "/things?order=id"); status != 200 || body != "[{\"id\":1}, \n {\"id\":2}]" {
		t.Errorf("two rows at most: %d %s", status, body)
	}
	for _, p := range []string{"/live", "/ready"} {
		if status, _ := get(admin, p); status != 200 {
			t.Errorf("%s: %d", p, status)
		}
	}
	if _, body := get(admin, "/metrics"); !strings.Contains(body, `pgrst_schema_cache_loads_total{status="SUCCESS"} 1`) {
		t.Error(body)
	}
	if _, body := get(admin, "/schema_cache"); !strings.Contains(body, "public.things") {
		t.Error(body)
	}
	if status, _ := get(admin, "/other"); status != 404 {
		t.Errorf("unknown path of the admin port: %d", status)
	}
	database.ExecAs("supabase_admin", fmt.Sprintf(`alter role authenticator in database %s set pgrst.db_max_rows = '1'; notify pgrst, 'reload config'`, database.Name))
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, body := get(socket, "/things?order=id"); body == "[{\"id\":1}]" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the new setting is not seen")
		}
	}

	// What is under way when the server is told to stop gets its answer.
	answered := make(chan int, 1)
	go func() {
		c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer(socket)}}
		res, err := c.Get("http://rest/rpc/wait")
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		res.Body.Close()
		answered <- res.StatusCode
	}()
	for testdb.Value[int](database, `select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`) == 0 && len(answered) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if status := <-answered; status != 200 {
		t.Errorf("a request that was under way: %d", status)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
