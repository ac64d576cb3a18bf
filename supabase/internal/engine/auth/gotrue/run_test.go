package gotrue

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// TestMain runs the server when a test starts this binary with SERVE_AUTH set.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_AUTH") == "" {
		testdb.Main(m)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, os.LookupEnv, os.Environ(), slog.New(slog.NewJSONHandler(os.Stderr, nil))); err != nil {
		slog.Error("server failed", "error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a server whose environment holds only the variables of a compose file.
type process struct {
	t       *testing.T
	address string
	log     chan string // log lines; closed at the end of the log
	cmd     *exec.Cmd
}

func serve(t *testing.T, variables ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), exe), log: make(chan string, 1000)}
	p.cmd.Env = append([]string{"SERVE_AUTH=1"}, variables...)
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.log)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.log <- lines.Text()
		}
	}()
	return p
}

// started waits until the server listens and returns its log so far.
func (p *process) started() (logged string) {
	p.t.Helper()
	for line := range p.log {
		logged += line + "\n"
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "auth API started" {
			p.address = "http://" + strings.Replace(entry.Address, "[::]", "127.0.0.1", 1)
			return logged
		}
	}
	p.t.Fatalf("the server did not start:\n%s", logged)
	return ""
}

// failed waits until the server exits, checks that it reports an error, and returns its log.
func (p *process) failed() (logged string) {
	p.t.Helper()
	for line := range p.log {
		logged += line + "\n"
	}
	if err := p.cmd.Wait(); err == nil {
		p.t.Error("the server exited without an error")
	}
	return logged
}

// stop ends the server and checks that it exits without an error.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	for range p.log { // wait until the log is closed
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("exit after SIGTERM: %v", err)
	}
}

func (p *process) send(method, path, body string, headers ...string) (int, http.Header, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.address+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

const secretVariable = "GOTRUE_JWT_SECRET=" + testSecret

// TestServe runs the server in GoTrue's place until SIGTERM: on databases without the auth schema,
// with it, with the first tables of the Postgres image, and without the roles of Supabase. It
// refuses the schema of an older GoTrue.
func TestServe(t *testing.T) {
	db := testdb.New(t)
	t.Run("no schema", func(t *testing.T) {
		db.ExecAs("supabase_admin",
			`drop schema auth cascade; drop schema auth_limits cascade; delete from daawo.platform where name like '20_auth%'`)
		testServing(t, db, "supabase_admin", "none@example.org")
	})
	t.Run("current schema", func(t *testing.T) {
		db.ExecAs("supabase_admin", `insert into auth.flow_state (id, provider_type, authentication_method, created_at)
			values (gen_random_uuid(), 'email', 'otp', now() - interval '3 days')`)
		testServing(t, db, "supabase_admin", "current@example.org")
	})
	t.Run("first tables of the image", func(t *testing.T) {
		// With the rights of the schema's owner only, as GoTrue has in a compose file.
		db.ExecAs("supabase_admin", `
			drop schema auth cascade; drop schema auth_limits cascade; create schema auth; grant all on schema auth to supabase_auth_admin;
			set role supabase_auth_admin;
			create table auth.users (id uuid primary key, email text); create table auth.refresh_tokens (id int); create table auth.instances (id uuid);
			create table auth.audit_log_entries (id uuid); create table auth.schema_migrations (version text primary key);
			insert into auth.schema_migrations values ('20171026211738'), ('20180125194653')`)
		testServing(t, db, "supabase_auth_admin", "first@example.org")
	})
	t.Run("schema of an older GoTrue", func(t *testing.T) {
		db.ExecAs("supabase_admin", `delete from auth.schema_migrations where version > '2026'`)
		p := serve(t, "DATABASE_URL="+db.URL("supabase_auth_admin"), "PORT=0", "API_EXTERNAL_URL=http://localhost:9999",
			"GOTRUE_SITE_URL=http://localhost:3000", secretVariable)
		if logged := p.failed(); !strings.Contains(logged, "last migration is") {
			t.Errorf("the last migration is not logged:\n%s", logged)
		}
	})
	t.Run("no roles of Supabase", func(t *testing.T) {
		db.ExecAs("supabase_admin", `drop schema auth cascade; drop schema if exists auth_limits cascade`)
		for _, role := range []string{"anon", "authenticated", "service_role", "dashboard_user", "postgres",
			"supabase_auth_admin"} {
			db.ExecAs("supabase_admin", "alter role "+role+" rename to absent_"+role)
			t.Cleanup(func() { db.ExecAs("supabase_admin", "alter role absent_"+role+" rename to "+role) })
		}
		testServing(t, db, "supabase_admin", "roles@example.org")
	})
}

// testServing starts a server that connects as role, signs email up, checks the replies and the
// sweep, and stops the server.
func testServing(t *testing.T, db *testdb.DB, role, email string) {
	t.Helper()
	p := serve(t, "DATABASE_URL="+db.URL(role), "PORT=0", "API_EXTERNAL_URL=http://localhost:9999",
		"GOTRUE_SITE_URL=http://localhost:3000", secretVariable,
		"GOTRUE_JWT_EXP=60", "GOTRUE_JWT_AUD=authenticated", "GOTRUE_MAILER_AUTOCONFIRM=true",
		"GOTRUE_DB_DRIVER=postgres", "GOTRUE_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED=true", "GOTRUE_DB_CLEANUP_ENABLED=true",
		"GOTRUE_CORS_ALLOWED_HEADERS=x-own")
	if logged := p.started(); !strings.Contains(logged, `"names":["GOTRUE_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED"]`) {
		t.Errorf("the variable without effect is not named:\n%s", logged)
	}
	testReplies(t, p, email)
	for by := time.Now().Add(time.Minute); testdb.Value[int](db,
		`select count(*) from auth.flow_state`) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(by) {
			t.Fatal("the expired flow is not deleted")
		}
	}
	p.stop()
	if n := testdb.Value[int](db, `select count(*) from auth.schema_migrations`); n != 77 {
		t.Errorf("auth.schema_migrations has %d versions", n)
	}
	if id := testdb.Value[*string](db, `select auth.uid()::text`); id != nil {
		t.Errorf("auth.uid() returns %s", *id)
	}
}

// testReplies checks the health, sign-up and user endpoints and CORS preflight requests.
func testReplies(t *testing.T, p *process, email string) {
	t.Helper()
	if status, _, body := p.send("GET", "/health", ""); status != 200 || !strings.Contains(body, `"name":"GoTrue"`) {
		t.Errorf("health: %d %s", status, body)
	}
	status, _, body := p.send("POST", "/signup", `{"email":"`+email+`","password":"password-1"}`)
	var session struct {
		Token   string `json:"access_token"`
		Expires int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(body), &session); status != 200 || err != nil || session.Expires != 60 {
		t.Fatalf("signup: %d %s", status, body)
	}
	if status, _, body := p.send("GET", "/user", "", "Authorization", "Bearer "+session.Token); status != 200 {
		t.Errorf("user: %d %s", status, body)
	}
	// Allowed: GoTrue's headers and the operator's. Not allowed: the gateway's apikey.
	for requested, want := range map[string]string{"authorization,x-client-info": "*", "x-own": "*", "apikey": ""} {
		status, header, _ := p.send("OPTIONS", "/user", "", "Origin", "http://localhost:3000",
			"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", requested)
		if got := header.Get("Access-Control-Allow-Origin"); status != 204 || got != want {
			t.Errorf("preflight for %s: %d %q", requested, status, got)
		}
	}
	if _, header, _ := p.send("OPTIONS", "/user", "", "Origin", "http://localhost:3000",
		"Access-Control-Request-Method", "TRACE"); header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("preflight for TRACE is allowed")
	}
	for _, origin := range []string{"", "http://localhost:3000"} {
		if _, header, _ := p.send("GET", "/health", "", "Origin", origin); !slices.Equal(header.Values("Vary"),
			[]string{"Origin"}) {
			t.Errorf("Vary with origin %q: %q", origin, header.Values("Vary"))
		}
	}
}

// TestServeRejectsUnsupported checks that the server exits at once and names every unsupported and
// missing variable.
func TestServeRejectsUnsupported(t *testing.T) {
	logged := serve(t, "DATABASE_URL=postgres://localhost/none", "GOTRUE_SAML_ENABLED=true",
		"GOTRUE_EXTERNAL_WEB3_SOLANA_ENABLED=true").failed()
	for _, name := range []string{"GOTRUE_SAML_ENABLED", "GOTRUE_EXTERNAL_WEB3_SOLANA_ENABLED", "GOTRUE_SITE_URL",
		"GOTRUE_JWT_SECRET"} {
		if !strings.Contains(logged, name) {
			t.Errorf("%s is not named: %s", name, logged)
		}
	}
}
