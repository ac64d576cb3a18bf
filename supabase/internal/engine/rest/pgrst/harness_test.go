package pgrst

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/database/testdb"
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

// logBuffer collects the log of a server.
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

// testServer is a server that runs from a configuration file.
type testServer struct {
	t             *testing.T
	file          string
	socket, admin string
	address       string
	log           *logBuffer
	stop          func() // stops the server and waits for its end
}

// start starts a server whose configuration file holds the common settings and more.
func start(t *testing.T, database *testdb.DB, more string) *testServer {
	t.Helper()
	dir := t.TempDir()
	s := &testServer{t: t, file: filepath.Join(dir, "rest.conf"), socket: filepath.Join(dir, "s"),
		admin: filepath.Join(dir, "a"), log: &logBuffer{}}
	s.write(fmt.Sprintf("db-uri = %q\ndb-anon-role = \"anon\"\nserver-unix-socket = %q\nadmin-server-unix-socket = %q\n", database.URL("authenticator"), s.socket, s.admin) + more)
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{File: s.file, Stdout: s.log, Stderr: s.log, Ready: func(a string) { ready <- a }})
	}()
	select {
	case s.address = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// write writes the file. If a setting occurs twice, the later value is used.
func (s *testServer) write(text string) {
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

// ask returns the whole reply as text: status, headers and body.
func (s *testServer) ask(socket, url string, header ...string) string {
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

// bearer returns an Authorization header with a signed token.
func bearer(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(settingsSecret))
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: Bearer " + text
}

// eventually waits until a reply contains want.
func (s *testServer) eventually(url, want string) {
	s.t.Helper()
	var got string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = s.ask(s.socket, url); strings.Contains(got, want) {
			return
		}
	}
	s.t.Errorf("%s: %s, want %s", url, got, want)
}

// dialer returns a dial function for a unix socket.
func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}
