package pgrst

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

// TestPorts checks TCP ports: two servers on one port with server-reuseport, and an admin server on
// another port.
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
	s := start(t, database, conf+fmt.Sprintf("admin-server-port = %d\n", admin))
	if got := s.ask("", "/"); !strings.HasPrefix(got, "200") || s.address != fmt.Sprintf("127.0.0.1:%d", port) {
		t.Errorf("%s: %s", s.address, got)
	}
	if err := CheckReady(t.Context(), Options{File: s.file}, io.Discard); err != nil {
		t.Error(err)
	}
	start(t, database, conf)
}

// TestSockets checks the modes of the unix sockets.
func TestSockets(t *testing.T) {
	s := start(t, testdb.New(t), "server-unix-socket-mode = \"600\"\nadmin-server-unix-socket-mode = \"666\"\n")
	for path, want := range map[string]os.FileMode{s.socket: 0o600, s.admin: 0o666} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%v %v, want %v", info.Mode(), err, want)
		}
	}
}

// TestMissingSocketFile checks that /live and /ready fail when the file of the main socket is gone.
func TestMissingSocketFile(t *testing.T) {
	s := start(t, testdb.New(t), "")
	for _, path := range []string{"/live", "/ready"} {
		if got := s.ask(s.admin, path); !strings.HasPrefix(got, "200") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if err := os.Remove(s.socket); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/live", "/ready"} {
		if got := s.ask(s.admin, path); !strings.HasPrefix(got, "500") {
			t.Errorf("%s without the socket's file: %s", path, got)
		}
	}
}

// TestReadyWithoutDatabase checks that /ready fails while the database takes no connections of the
// server, with a listener and without one, and succeeds afterwards. /live does not depend on the
// database.
func TestReadyWithoutDatabase(t *testing.T) {
	database := testdb.New(t)
	servers := map[string]*testServer{"listener": start(t, database, ""),
		"no listener": start(t, database, "db-channel-enabled = false\n")}
	for name, s := range servers {
		if got := s.ask(s.admin, "/ready"); !strings.HasPrefix(got, "200") {
			t.Errorf("%s: %s", name, got)
		}
	}
	limit := func(n int) {
		database.ExecAs("supabase_admin", fmt.Sprintf(`alter database %s connection limit %d`, database.Name, n))
	}
	limit(0)
	defer limit(-1)
	database.ExecAs("supabase_admin",
		`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'authenticator'`)
	for name, s := range servers {
		t.Log(name)
		s.until(s.admin, "/ready", "503")
		if got := s.ask(s.admin, "/live"); !strings.HasPrefix(got, "200") {
			t.Errorf("%s: %s", name, got)
		}
	}
	limit(-1)
	for name, s := range servers {
		t.Log(name)
		s.until(s.admin, "/ready", "200")
	}
}

// TestFullPool checks the reply to a request that gets no connection in time, and its count in
// /metrics.
func TestFullPool(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	s := start(t, database, "db-pool = 1\ndb-pool-acquisition-timeout = 1\n")
	done := make(chan string)
	go func() { done <- s.ask(s.socket, "/rpc/wait") }()
	time.Sleep(200 * time.Millisecond)
	if got := s.ask(s.socket, "/things"); !strings.HasPrefix(got, "504") || !strings.Contains(got, "PGRST003") ||
		!strings.Contains(got, "Retry-After: 1") {
		t.Error(got)
	}
	if got := <-done; !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	if got := s.ask(s.admin, "/metrics"); !strings.Contains(got, "pgrst_db_pool_timeouts_total 1.0\n") ||
		!strings.Contains(got, "pgrst_db_pool_max 1.0\n") {
		t.Error(got)
	}
}

// TestReloads checks that SIGUSR1 and a notification reload the schema, that SIGUSR2 and a
// notification reload the file, and that requests succeed during reloads.
func TestReloads(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	database.ExecAs("supabase_admin",
		fmt.Sprintf(`alter role authenticator in database %s set pgrst.db_max_rows = '1'`, database.Name))
	s := start(t, database, "db-channel = \"another\"\ndb-config = false\n")
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	failed := make(chan string, 1)
	go func() {
		defer close(failed)
		for {
			select {
			case <-stop:
				return
			default:
				if got := s.ask(s.socket, "/things?id=eq.1"); !strings.HasPrefix(got, "200") {
					failed <- got
					return
				}
			}
		}
	}()
	s.eventually("/things?select=id", "Content-Range: 0-2/*") // db-config = false: the 1 in the database is ignored

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

	// A listener whose connection is lost reconnects and reloads the schema.
	database.Exec("create table public.missed (id int); grant select on missed to anon")
	if got := s.ask(s.socket, "/missed"); !strings.HasPrefix(got, "404") {
		t.Errorf("a table without a notification: %s", got)
	}
	database.ExecAs("supabase_admin",
		`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %another%'`)
	s.eventually("/missed", "200")
	close(stop)
	if got, ok := <-failed; ok {
		t.Errorf("a request failed during a reload: %s", got)
	}

	silent := start(t, database, "db-channel-enabled = false\n")
	database.Exec("create table public.third (id int); grant select on third to anon; notify pgrst, 'reload schema'")
	time.Sleep(300 * time.Millisecond)
	if got := silent.ask(silent.socket, "/third"); !strings.HasPrefix(got, "404") {
		t.Errorf("db-channel-enabled = false: %s", got)
	}
	if err := self.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	silent.eventually("/third", "200")
}

// TestReloadReachesConnections checks that a reload of the schema replaces all connections of the
// pool, so that a changed setting of the login role is in use.
func TestReloadReachesConnections(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	database.Exec(`create function public.memory() returns text language sql volatile as $$ select pg_sleep(0.3)::text || current_setting('work_mem') $$`)
	s := start(t, database, "db-pool = 4\n")
	settings := func() (out [4]string) { // one for each connection
		var all sync.WaitGroup
		for i := range out {
			all.Go(func() { out[i] = s.ask(s.socket, "POST /rpc/memory") })
		}
		all.Wait()
		return out
	}
	s.eventually("/things", "200")
	settings()
	database.ExecAs("supabase_admin",
		fmt.Sprintf(`alter role authenticator in database %s set work_mem = '7MB'`, database.Name))
	for _, got := range settings() {
		if !strings.Contains(got, "4MB") {
			t.Errorf("before the reload: %s", got)
		}
	}
	database.Exec("create table public.loaded (id int); grant select on loaded to anon; notify pgrst, 'reload schema'")
	s.eventually("/loaded", "200")
	for _, got := range settings() {
		if !strings.Contains(got, "7MB") {
			t.Errorf("after the reload: %s", got)
		}
	}
}

// TestLogAndListenerReload checks that SIGUSR2 reloads log-level, log-query and db-channel-enabled.
func TestLogAndListenerReload(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	s := start(t, database, "log-level = \"crit\"\ndb-channel-enabled = false\n")
	s.ask(s.socket, "/nothing")
	s.ask(s.socket, "/things")
	if got := s.log.String(); strings.Contains(got, "404") || strings.Contains(got, `"things`) {
		t.Errorf("log-level = crit: %s", got)
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.write(string(text) + "log-level = \"info\"\nlog-query = true\ndb-channel-enabled = true\n")
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		s.ask(s.socket, "/things")
		if got := s.log.String(); strings.Contains(got, "/things") && strings.Contains(got, `"things"`) {
			break
		}
	}
	if got := s.log.String(); !strings.Contains(got, "/things") || !strings.Contains(got, `"things"`) {
		t.Errorf("log-level = info, log-query = true: %s", got)
	}
	for testdb.Value[int](database,
		`select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen %pgrst%'`) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("db-channel-enabled = true: nothing listens")
		}
		time.Sleep(20 * time.Millisecond)
	}
	database.Exec("create table public.fourth (id int); grant select on fourth to anon; notify pgrst, 'reload schema'")
	s.eventually("/fourth", "200")
}

// TestInDatabaseSettings checks that the database sets only the settings that it may hold, and that
// an invalid one neither stops the server nor keeps Overlay from applying the others.
func TestInDatabaseSettings(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	set := func(name, value string) {
		database.ExecAs("supabase_admin",
			fmt.Sprintf(`alter role authenticator in database %s set pgrst.%s = '%s'`, database.Name, name, value))
	}
	for name, value := range map[string]string{"db_max_rows": "2", "log_level": "info", "log_query": "true",
		"jwt_cache_max_entries": "0", "db_channel_enabled": "false", "server_host": "nowhere",
		"openapi_mode": "disabled"} {
		set(name, value)
	}
	s := start(t, database, "log-level = \"crit\"\n")
	if got := s.ask(s.socket, "/things?select=id"); !strings.Contains(got, "Content-Range: 0-1/*") {
		t.Errorf("db_max_rows: %s", got)
	}
	if got := s.log.String(); strings.Contains(got, "/things") {
		t.Errorf("log_level of the database is in use: %s", got)
	}

	set("openapi_mode", "nonsense")
	s = start(t, database, "")
	if got := s.ask(s.socket, "/things?select=id"); !strings.Contains(got, "Content-Range: 0-2/*") {
		t.Errorf("an invalid setting: %s", got)
	}
	pool, err := pool.Open(t.Context(), pool.Config{URL: database.URL("authenticator"), MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	log := &logBuffer{}
	base := rest.Default()
	c, err := Overlay(t.Context(), pool, base, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil || c.MaxRows == nil || *c.MaxRows != 2 || c.OpenAPI != rest.FollowPrivileges {
		t.Errorf("%+v, %v", c, err)
	}
	if got := log.String(); !strings.Contains(got, "pgrst.openapi_mode") {
		t.Errorf("the log does not name the invalid setting: %s", got)
	}
}

// TestLogs checks the log of requests and of their SQL.
func TestLogs(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	for level, want := range map[string][2]bool{"crit": {false, false}, "error": {false, false}, "warn": {true, false},
		"info": {true, true}} {
		s := start(t, database, "log-level = \""+level+"\"\nlog-query = true\n")
		s.ask(s.socket, "/nothing")
		s.ask(s.socket, "/things")
		got := s.log.String()
		if strings.Contains(got, `- - anon [`) != want[0] ||
			strings.Contains(got, `"GET /nothing HTTP/1.1" 404 `) != want[0] ||
			strings.Contains(got, `"GET /things HTTP/1.1" 200 `) != want[1] {
			t.Errorf("%s: %s", level, got)
		}
		if strings.Contains(got, `"api"."things"`) || strings.Contains(got, `"things"`) != want[1] {
			t.Errorf("log-query: %s", got)
		}
	}
}

// TestTokenCache checks that a token is verified once, also one that has expired, or each time with
// a cache of size 0.
func TestTokenCache(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	signed := bearer(t, jwt.MapClaims{"role": "authenticated"})
	expired := bearer(t, jwt.MapClaims{"role": "authenticated", "exp": 1})
	for size, want := range map[string]string{"0": "pgrst_jwt_cache_hits_total 0.0\n",
		"10": "pgrst_jwt_cache_hits_total 4.0\n"} {
		s := start(t, database, "jwt-secret = \""+settingsSecret+"\"\njwt-cache-max-entries = "+size+"\n")
		for range 3 {
			s.ask(s.socket, "/things", signed)
			if got := s.ask(s.socket, "/things", expired); !strings.HasPrefix(got, "401") ||
				!strings.Contains(got, "JWT expired") {
				t.Errorf("%s: an expired token: %s", size, got)
			}
		}
		if got := s.ask(s.admin, "/metrics"); !strings.Contains(got, want) {
			t.Errorf("%s: %s is missing in %s", size, want, got)
		}
	}
}
