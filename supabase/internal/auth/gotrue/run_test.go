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
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/testdb"
)

// TestMain is the server itself where a test starts this binary as one.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_AUTH") == "" {
		testdb.Main(m)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, os.LookupEnv, os.Environ(), slog.New(slog.NewJSONHandler(os.Stderr, nil))); err != nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a server with nothing but the variables of a compose file.
type process struct {
	t       *testing.T
	address string
	log     chan string // its lines, until it ends
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

// started waits until it listens and gives what it has logged.
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
	p.t.Fatalf("it did not start:\n%s", logged)
	return ""
}

// ended waits until it has given up and gives what it has logged.
func (p *process) ended() (logged string) {
	p.t.Helper()
	for line := range p.log {
		logged += line + "\n"
	}
	if err := p.cmd.Wait(); err == nil {
		p.t.Error("it ended well")
	}
	return logged
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
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
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

// TestServe runs it in GoTrue's place: on a database without the auth schema and on one that has it, until SIGTERM.
func TestServe(t *testing.T) {
	db := testdb.New(t)
	for _, schema := range []string{"made by it", "there already", "first tables of the image"} {
		t.Run(schema, func(t *testing.T) {
			role := "supabase_admin"
			switch schema {
			case "there already":
				db.ExecAs(role, `insert into auth.flow_state (id, provider_type, authentication_method, created_at)
					values (gen_random_uuid(), 'email', 'otp', now() - interval '3 days')`)
			case "made by it":
				db.ExecAs(role, `drop schema auth cascade; drop schema auth_limits cascade; delete from daawo.platform where name like '20_auth%'`)
			case "first tables of the image":
				// As the owner of the schema and no more, which is who GoTrue is in a compose file.
				db.ExecAs(role, `
					drop schema auth cascade; drop schema auth_limits cascade; create schema auth; grant all on schema auth to supabase_auth_admin;
					set role supabase_auth_admin;
					create table auth.users (id uuid primary key, email text); create table auth.refresh_tokens (id int); create table auth.instances (id uuid);
					create table auth.audit_log_entries (id uuid); create table auth.schema_migrations (version text primary key);
					insert into auth.schema_migrations values ('20171026211738'), ('20180125194653')`)
				role = "supabase_auth_admin"
			}
			p := serve(t, "DATABASE_URL="+db.URL(role), "PORT=0", "API_EXTERNAL_URL=http://localhost:9999",
				"GOTRUE_SITE_URL=http://localhost:3000", "GOTRUE_JWT_SECRET=super-secret-jwt-token-with-at-least-32-characters-long",
				"GOTRUE_JWT_EXP=60", "GOTRUE_JWT_AUD=authenticated", "GOTRUE_MAILER_AUTOCONFIRM=true", "GOTRUE_DB_DRIVER=postgres",
				"GOTRUE_JWT_VALID_METHODS=HS256", "GOTRUE_DB_CLEANUP_ENABLED=true", "GOTRUE_CORS_ALLOWED_HEADERS=x-own")
			if logged := p.started(); !strings.Contains(logged, `"names":["GOTRUE_JWT_VALID_METHODS"]`) {
				t.Errorf("the variable without effect is not named:\n%s", logged)
			}
			if status, _, body := p.send("GET", "/health", ""); status != 200 || !strings.Contains(body, `"name":"GoTrue"`) {
				t.Errorf("health: %d %s", status, body)
			}
			account := `{"email":"` + strings.ReplaceAll(schema, " ", ".") + `@example.org","password":"password-1"}`
			status, _, body := p.send("POST", "/signup", account)
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
			// A browser may send what GoTrue allows and what the operator adds, not a gateway's key.
			for asked, want := range map[string]string{"authorization,x-client-info": "*", "x-own": "*", "apikey": ""} {
				status, header, _ := p.send("OPTIONS", "/user", "", "Origin", "http://localhost:3000",
					"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", asked)
				if got := header.Get("Access-Control-Allow-Origin"); status != 204 || got != want {
					t.Errorf("preflight for %s: %d %q", asked, status, got)
				}
			}
			for by := time.Now().Add(5 * time.Second); testdb.Value[int](db, `select count(*) from auth.flow_state`) > 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(by) {
					t.Fatal("what ended long ago is not removed")
				}
			}
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			for range p.log { // until it has closed its log
			}
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			if n := testdb.Value[int](db, `select count(*) from auth.schema_migrations`); n != 77 {
				t.Errorf("the ledger has %d versions", n)
			}
			if id := testdb.Value[*string](db, `select auth.uid()::text`); id != nil {
				t.Errorf("auth.uid() gives %s", *id)
			}
		})
	}
	// What another GoTrue has left is that one's to migrate.
	db.ExecAs("supabase_admin", `delete from auth.schema_migrations where version > '2026'`)
	p := serve(t, "DATABASE_URL="+db.URL("supabase_auth_admin"), "PORT=0", "API_EXTERNAL_URL=http://localhost:9999",
		"GOTRUE_SITE_URL=http://localhost:3000", "GOTRUE_JWT_SECRET=super-secret-jwt-token-with-at-least-32-characters-long")
	if logged := p.ended(); !strings.Contains(logged, "its last migration is") {
		t.Errorf("%s", logged)
	}
}

// TestServeRefuses ends at once, naming every variable, when it cannot do what is asked.
func TestServeRefuses(t *testing.T) {
	logged := serve(t, "DATABASE_URL=postgres://localhost/none", "GOTRUE_SAML_ENABLED=true", "GOTRUE_EXTERNAL_WEB3_SOLANA_ENABLED=true").ended()
	for _, name := range []string{"GOTRUE_SAML_ENABLED", "GOTRUE_EXTERNAL_WEB3_SOLANA_ENABLED", "GOTRUE_SITE_URL", "GOTRUE_JWT_SECRET"} {
		if !strings.Contains(logged, name) {
			t.Errorf("%s is not named: %s", name, logged)
		}
	}
}
