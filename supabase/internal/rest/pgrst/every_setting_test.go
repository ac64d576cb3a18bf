package pgrst

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/testdb"
)

const settingsSQL = `
create table public.things (id int primary key, name text);
insert into things values (1, 'a'), (2, 'b'), (3, 'c');
create table public.parts (id int primary key, thing int references things);
insert into parts values (10, 1);
create schema other; grant usage on schema other to anon;
create table other.items (id int primary key); insert into other.items values (7); grant select on other.items to anon;
create schema tools; grant usage on schema tools to anon;
create function tools.answer() returns int language sql immutable as 'select 42';
create function public.use_tools() returns int language plpgsql as 'begin return answer(); end';
create function public.slow() returns text language sql set statement_timeout = '50ms' as $$ select pg_sleep(0.3)::text $$;
create function public.wait() returns text language sql as $$ select pg_sleep(1.5)::text $$;
create function public.gate() returns void language plpgsql as $$ begin
  perform set_config('response.headers', '[{"X-Gate": "open"}]', true); end $$;
create function public.root() returns json language sql as $$ select '{"root": true}'::json $$;
create function public.prepared() returns bigint language sql as $$ select count(*) from pg_prepared_statements where name like 'daawo%' $$;
create function public.price() returns text language sql as $$ select current_setting('app.settings.price') $$;
create schema config; grant usage on schema config to authenticator;
create function config.settings() returns void language plpgsql as $$ begin perform set_config('pgrst.db_max_rows', '1', true); end $$;
grant all on things, parts to anon, authenticated`

const settingsSecret = "a secret of the settings with enough characters"

// logBuffer is where a server of the tests logs.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// served is a server that runs from a configuration file.
type served struct {
	t             *testing.T
	file          string
	socket, admin string
	address       string
	log           *logBuffer
}

// serve starts a server from a file of the settings every test needs and more.
func serve(t *testing.T, database *testdb.DB, more string) *served {
	t.Helper()
	dir := t.TempDir()
	s := &served{t: t, file: filepath.Join(dir, "rest.conf"), socket: filepath.Join(dir, "s"), admin: filepath.Join(dir, "a"), log: &logBuffer{}}
	s.write(fmt.Sprintf("db-uri = %q\ndb-anon-role = \"anon\"\nserver-unix-socket = %q\nadmin-server-unix-socket = %q\n", database.URL("authenticator"), s.socket, s.admin) + more)
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{File: s.file, Log: slog.New(slog.NewTextHandler(s.log, nil)), Ready: func(a string) { ready <- a }})
	}()
	select {
	case s.address = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// write makes the file; of a setting given twice the later one holds.
func (s *served) write(text string) {
	s.t.Helper()
	names := map[string]int{}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line) + "\n"
		name := strings.TrimSpace(strings.SplitN(line, "=", 2)[0])
		if i, ok := names[name]; ok {
			lines[i] = line
			continue
		}
		names[name] = len(lines)
		lines = append(lines, line)
	}
	if err := os.WriteFile(s.file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// ask gives the whole reply, status and headers included, as text.
func (s *served) ask(socket, url string, header ...string) string {
	s.t.Helper()
	method, path, ok := strings.Cut(url, " ")
	if !ok {
		method, path = http.MethodGet, url
	}
	transport := &http.Transport{DisableKeepAlives: true}
	host := "rest"
	if socket == "" {
		host = s.address
	} else {
		transport.DialContext = dialer(socket)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+host+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintln(&out, res.StatusCode)
	if err := res.Header.Write(&out); err != nil {
		s.t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "\r", "") + "\n" + string(body)
}

func bearer(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(settingsSecret))
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: Bearer " + text
}

// TestEverySetting starts a server for each setting of PostgREST's reference and asks what only that setting changes. A
// setting that Dump knows and no row tests is an error.
func TestEverySetting(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	secret := `jwt-secret = "` + settingsSecret + "\"\n"
	signed := bearer(t, jwt.MapClaims{"role": "authenticated", "aud": "mine", "app": map[string]any{"role": "anon"}})
	dir := t.TempDir()
	uri := filepath.Join(dir, "uri")
	if err := os.WriteFile(uri, []byte(database.URL("authenticator")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		setting string // what the file has besides the usual
		ask     string // METHOD PATH
		header  string
		want    []string // what the reply has to contain
		not     string   // and what not
	}{
		{setting: "admin-server-host = \"127.0.0.1\"\nadmin-server-unix-socket = \"" + dir + "/h\"", ask: "/things?id=eq.1", want: []string{"200"}},
		{setting: `client-error-verbosity = "minimal"`, ask: "/nothing", want: []string{"404", `"PGRST205"`}, not: "details"},
		{setting: `db-aggregates-enabled = true`, ask: "/things?select=id.sum()", want: []string{"200", `[{"sum":6}]`}},
		{setting: `db-aggregates-enabled = false`, ask: "/things?select=id.sum()", want: []string{"400", "PGRST123"}},
		{setting: `db-anon-role = ""`, ask: "/things", want: []string{"401", "PGRST302"}},
		{setting: `db-extra-search-path = "tools"`, ask: "/rpc/use_tools", want: []string{"200", "42"}},
		{setting: `db-extra-search-path = ""`, ask: "/rpc/use_tools", want: []string{"404", "42883"}},
		{setting: `db-hoisted-tx-settings = "work_mem"`, ask: "POST /rpc/slow", want: []string{"200"}},
		{setting: `db-hoisted-tx-settings = "statement_timeout"`, ask: "POST /rpc/slow", want: []string{"500", "57014"}},
		{setting: `db-max-rows = 2`, ask: "/things?select=id", want: []string{"200", "Content-Range: 0-1/*", `[{"id":1}`}, not: `"id":3`},
		{setting: `db-plan-enabled = true`, ask: "/things", header: "Accept: application/vnd.pgrst.plan", want: []string{"200", "Aggregate"}},
		{setting: `db-plan-enabled = false`, ask: "/things", header: "Accept: application/vnd.pgrst.plan", want: []string{"406", "PGRST107"}},
		{setting: `db-pool-automatic-recovery = true`, ask: "/things", want: []string{"200"}},
		{setting: `db-pool-max-idletime = 1`, ask: "/things", want: []string{"200"}},
		{setting: `db-pool-max-lifetime = 1`, ask: "/things", want: []string{"200"}},
		{setting: `db-pre-config = "config.settings"`, ask: "/things?select=id", want: []string{"200", "Content-Range: 0-0/*"}},
		{setting: `db-pre-request = "gate"`, ask: "/things", want: []string{"200", "X-Gate: open"}},
		{setting: `db-prepared-statements = false`, ask: "/rpc/prepared", want: []string{"200", "\n0"}},
		{setting: `db-root-spec = "root"`, ask: "/", want: []string{"200", `{"root": true}`}},
		{setting: `db-schemas = "public, other"`, ask: "/items", header: "Accept-Profile: other", want: []string{"200", "Content-Profile: other", `[{"id":7}]`}},
		{setting: `db-schemas = "public, other"`, ask: "/items", header: "Accept-Profile: config", want: []string{"406", "PGRST106", "public, other"}},
		{setting: `db-tx-end = "rollback-allow-override"`, ask: "DELETE /things?id=eq.3", header: "Prefer: return=representation", want: []string{"200", `"id":3`}},
		{setting: `db-tx-end = "rollback"`, ask: "DELETE /things?id=eq.3", header: "Prefer: return=representation, tx=commit", want: []string{"200", `"id":3`}, not: "tx=commit"},
		{setting: `db-tx-end = "rollback-allow-override"`, ask: "DELETE /parts?id=eq.10", header: "Prefer: tx=commit", want: []string{"204", "Preference-Applied: tx=commit"}},
		{setting: `db-uri = "@` + uri + `"`, ask: "/things?id=eq.1", want: []string{"200", `"id":1`}},
		{setting: secret + `jwt-aud = "mine"`, ask: "/things", header: signed, want: []string{"200"}},
		{setting: secret + `jwt-aud = "yours"`, ask: "/things", header: signed, want: []string{"401", "PGRST303", "JWT not in audience"}},
		{setting: secret + `jwt-role-claim-key = ".app.role"`, ask: "/things", header: signed, want: []string{"200"}},
		{setting: secret + `jwt-role-claim-key = ".aud"`, ask: "/things", header: signed, want: []string{"401", `role \"mine\" does not exist`}},
		{setting: secret, ask: "/things", header: signed + "x", want: []string{"401", "PGRST301"}},
		{setting: `jwt-secret = "` + base64.StdEncoding.EncodeToString([]byte(settingsSecret)) + "\"\njwt-secret-is-base64 = true", ask: "/things", header: signed, want: []string{"200"}},
		{setting: `openapi-mode = "disabled"`, ask: "/", want: []string{"404", "PGRST126"}},
		{setting: `openapi-mode = "ignore-privileges"`, ask: "/", want: []string{"200", "/rpc/wait"}},
		{setting: `openapi-security-active = true`, ask: "/", want: []string{"200", `"securityDefinitions"`}},
		{setting: `openapi-server-proxy-uri = "https://example.org/base"`, ask: "/", want: []string{"200", `"host":"example.org:443"`, `"basePath":"/base"`}},
		{setting: `server-cors-allowed-origins = "https://a.example, https://b.example"`, ask: "/things", header: "Origin: https://b.example", want: []string{"200", "Access-Control-Allow-Origin: https://b.example"}},
		{setting: `server-cors-allowed-origins = "https://a.example, https://b.example"`, ask: "/things", header: "Origin: https://c.example", want: []string{"200"}, not: "Access-Control-Allow-Origin"},
		{setting: `server-timing-enabled = true`, ask: "/things", want: []string{"200", "Server-Timing: jwt;dur="}},
		{setting: `server-trace-header = "X-Request-Id"`, ask: "/things", header: "X-Request-Id: 77", want: []string{"200", "X-Request-Id: 77"}},
		{setting: `url-use-legacy-target-names = true`, ask: "/things?select=id,p:parts(id)&parts.id=eq.10", want: []string{"200", "Warning: 299"}},
		{setting: `url-use-legacy-target-names = false`, ask: "/things?select=id,p:parts(id)&parts.id=eq.10", want: []string{"400", "PGRST108"}},
		{setting: `app.settings.price = "5"`, ask: "/rpc/price", want: []string{"200", `"5"`}},
	}
	tested := map[string]bool{}
	for _, r := range rows {
		name, _, _ := strings.Cut(r.setting[strings.LastIndexByte(strings.TrimSpace(r.setting), '\n')+1:], " ")
		for line := range strings.Lines(r.setting) {
			key, _, _ := strings.Cut(line, " ")
			tested[key] = true
		}
		t.Run(name, func(t *testing.T) {
			s := serve(t, database, r.setting)
			var header []string
			if r.header != "" {
				header = append(header, r.header)
			}
			got := s.ask(s.socket, r.ask, header...)
			for _, w := range r.want {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in %s", w, got)
				}
			}
			if r.not != "" && strings.Contains(got, r.not) {
				t.Errorf("%q in %s", r.not, got)
			}
		})
	}
	for _, elsewhere := range []string{
		"admin-server-port", "server-host", "server-port", "server-reuseport", // TestPorts
		"server-unix-socket-mode", "admin-server-unix-socket-mode", "server-unix-socket", // TestSockets
		"db-pool", "db-pool-acquisition-timeout", // TestFullPool
		"db-channel", "db-channel-enabled", "db-config", // TestReloads
		"log-level", "log-query", // TestLogs
		"jwt-cache-max-entries", // TestTokenCache
	} {
		tested[elsewhere] = true
	}
	s, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(s.Dump()) {
		if name, _, _ := strings.Cut(line, " "); !tested[name] {
			t.Errorf("%s has no test", name)
		}
	}
}

// TestPorts listens on TCP, twice on one port where that is asked for, with the admin's on another.
func TestPorts(t *testing.T) {
	database := testdb.New(t)
	free := func() int {
		l, err := listen(t.Context(), "", 0, "127.0.0.1", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var port int
		if _, err := fmt.Sscanf(l.Addr().String(), "127.0.0.1:%d", &port); err != nil {
			t.Fatal(err)
		}
		return port
	}
	port, admin := free(), free()
	conf := fmt.Sprintf("server-unix-socket = \"\"\nadmin-server-unix-socket = \"\"\nserver-host = \"127.0.0.1\"\nserver-port = %d\nserver-reuseport = true\n", port)
	s := serve(t, database, conf+fmt.Sprintf("admin-server-port = %d\n", admin))
	if got := s.ask("", "/"); !strings.HasPrefix(got, "200") || s.address != fmt.Sprintf("127.0.0.1:%d", port) {
		t.Errorf("%s: %s", s.address, got)
	}
	if err := CheckReady(t.Context(), Options{File: s.file}); err != nil {
		t.Error(err)
	}
	serve(t, database, conf)
}

// TestSockets gives the unix sockets their modes.
func TestSockets(t *testing.T) {
	s := serve(t, testdb.New(t), "server-unix-socket-mode = \"600\"\nadmin-server-unix-socket-mode = \"666\"\n")
	for path, want := range map[string]os.FileMode{s.socket: 0o600, s.admin: 0o666} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%v %v, want %v", info.Mode(), err, want)
		}
	}
}

// TestFullPool: who gets no connection in time is told so, and /metrics counts it.
func TestFullPool(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	s := serve(t, database, "db-pool = 1\ndb-pool-acquisition-timeout = 1\n")
	done := make(chan string)
	go func() { done <- s.ask(s.socket, "/rpc/wait") }()
	time.Sleep(200 * time.Millisecond)
	if got := s.ask(s.socket, "/things"); !strings.HasPrefix(got, "504") || !strings.Contains(got, "PGRST003") || !strings.Contains(got, "Retry-After: 1") {
		t.Error(got)
	}
	if got := <-done; !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	if got := s.ask(s.admin, "/metrics"); !strings.Contains(got, "pgrst_db_pool_timeouts_total 1") || !strings.Contains(got, "pgrst_db_pool_max 1") {
		t.Error(got)
	}
}

// eventually waits until a reply contains want.
func (s *served) eventually(url, want string) {
	s.t.Helper()
	var got string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = s.ask(s.socket, url); strings.Contains(got, want) {
			return
		}
	}
	s.t.Errorf("%s: %s, want %s", url, got, want)
}

// TestReloads: SIGUSR1 and a notification read the schema, SIGUSR2 and another one the file, and neither loses a request.
func TestReloads(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	database.ExecAs("supabase_admin", fmt.Sprintf(`alter role authenticator in database %s set pgrst.db_max_rows = '1'`, database.Name))
	s := serve(t, database, "db-channel = \"another\"\ndb-config = false\n")
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	lost := make(chan string, 1)
	go func() {
		defer close(lost)
		for {
			select {
			case <-stop:
				return
			default:
				if got := s.ask(s.socket, "/things?id=eq.1"); !strings.HasPrefix(got, "200") {
					lost <- got
					return
				}
			}
		}
	}()
	s.eventually("/things?select=id", "Content-Range: 0-2/*") // db-config = false: the database's 1 does not hold

	database.Exec("create table public.first (id int); grant select on first to anon")
	if err := self.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.eventually("/first", "200")

	database.Exec("create table public.second (id int); grant select on second to anon; notify another, 'reload schema'")
	s.eventually("/second", "200")

	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.write(string(text) + "db-max-rows = 2\n")
	if err := self.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	s.eventually("/things?select=id", "Content-Range: 0-1/*")
	s.write(string(text) + "db-max-rows = 1\n")
	database.Exec("notify another, 'reload config'")
	s.eventually("/things?select=id", "Content-Range: 0-0/*")

	// A listener that was cut off comes back, and reads the schema for what it has not heard of.
	database.Exec("create table public.unheard (id int); grant select on unheard to anon")
	if got := s.ask(s.socket, "/unheard"); !strings.HasPrefix(got, "404") {
		t.Errorf("a table that nobody told of: %s", got)
	}
	database.ExecAs("supabase_admin", `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %another%'`)
	s.eventually("/unheard", "200")
	close(stop)
	if got, ok := <-lost; ok {
		t.Errorf("a request was lost: %s", got)
	}

	deaf := serve(t, database, "db-channel-enabled = false\n")
	database.Exec("create table public.third (id int); grant select on third to anon; notify pgrst, 'reload schema'")
	time.Sleep(300 * time.Millisecond)
	if got := deaf.ask(deaf.socket, "/third"); !strings.HasPrefix(got, "404") {
		t.Errorf("db-channel-enabled = false: %s", got)
	}
	if err := self.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	deaf.eventually("/third", "200")
}

// TestLogs: what is logged about requests, and about their SQL.
func TestLogs(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	for level, want := range map[string][2]bool{"crit": {false, false}, "error": {false, false}, "warn": {true, false}, "info": {true, true}} {
		s := serve(t, database, "log-level = \""+level+"\"\nlog-query = true\n")
		s.ask(s.socket, "/nothing")
		s.ask(s.socket, "/things")
		got := s.log.String()
		if strings.Contains(got, "status=404") != want[0] || strings.Contains(got, "status=200") != want[1] {
			t.Errorf("%s: %s", level, got)
		}
		if !strings.Contains(got, `\"things\"`) {
			t.Errorf("log-query: %s", got)
		}
	}
}

// TestTokenCache: a token is checked once, unless nothing is to be remembered.
func TestTokenCache(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	signed := bearer(t, jwt.MapClaims{"role": "authenticated"})
	for size, want := range map[string]string{"0": "pgrst_jwt_cache_hits_total 0", "10": "pgrst_jwt_cache_hits_total 2"} {
		s := serve(t, database, "jwt-secret = \""+settingsSecret+"\"\njwt-cache-max-entries = "+size+"\n")
		for range 3 {
			s.ask(s.socket, "/things", signed)
		}
		if got := s.ask(s.admin, "/metrics"); !strings.Contains(got, want) {
			t.Errorf("%s: no %s in %s", size, want, got)
		}
	}
}
