package pgrst

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"daawo/supabase/internal/database/testdb"
)

// TestCheckReady checks the texts of --ready.
func TestCheckReady(t *testing.T) {
	status := http.StatusOK
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6:", err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	port := l.Addr().(*net.TCPAddr).Port
	check := func(environ ...string) string {
		var out bytes.Buffer
		if err := CheckReady(t.Context(), Options{Environ: environ}, &out); err != nil {
			return err.Error() + "\n"
		}
		return out.String()
	}
	admin := fmt.Sprintf("PGRST_ADMIN_SERVER_PORT=%d", port)
	for _, c := range [...]struct {
		status  int
		environ []string
		want    string
	}{
		{200, []string{"PGRST_SERVER_HOST=::1", admin}, fmt.Sprintf("OK: http://[::1]:%d/ready\n", port)},
		{503, []string{"PGRST_SERVER_HOST=::1", admin}, fmt.Sprintf("ERROR: http://[::1]:%d/ready\n", port)},
		{200, []string{"PGRST_SERVER_HOST=localhost", "PGRST_ADMIN_SERVER_PORT=1"},
			"ERROR: connection refused to http://localhost:1/ready\n"},
		{200, []string{"PGRST_SERVER_HOST=localhost", "PGRST_ADMIN_SERVER_PORT=-1"},
			"ERROR: invalid url - http://localhost:-1/ready\n"},
		{200, []string{"PGRST_SERVER_HOST=*4", admin},
			"ERROR: The `--ready` flag cannot be used when server-host is configured as \"*4\". Please update your server-host config to \"localhost\".\n"},
		{200, nil, "ERROR: Admin server is not running. Please check admin-server-port config.\n"},
	} {
		status = c.status
		if got := check(c.environ...); got != c.want {
			t.Errorf("%v: %q, want %q", c.environ, got, c.want)
		}
	}
}

// TestSecretFromPipe checks that a secret and a URI of /dev/stdin or another pipe are in use after
// all sources were read, and after a reload.
func TestSecretFromPipe(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(pipe, []byte(settingsSecret+"\n"), 0o600) }()
	s := start(t, database, "jwt-secret = \"@"+pipe+"\"\n")
	header := bearer(t, map[string]any{"role": "authenticated"})
	if got := s.ask(s.socket, "/things?id=eq.1", header); !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	database.Exec("create table public.later (id int); grant select on later to anon, authenticated; notify pgrst")
	s.eventually("/later", "200")
	if got := s.ask(s.socket, "/later", header); !strings.HasPrefix(got, "200") {
		t.Errorf("after a reload: %s", got)
	}
}

// TestDumpConfigWithoutDatabase checks that the settings of the file are dumped when no database
// answers.
func TestDumpConfigWithoutDatabase(t *testing.T) {
	log, out := &logBuffer{}, &bytes.Buffer{}
	o := Options{Environ: []string{"PGRST_DB_URI=postgresql://none@127.0.0.1:1/none", "PGRST_DB_MAX_ROWS=7"},
		Log: slog.New(slog.NewTextHandler(log, nil))}
	if err := DumpConfig(t.Context(), o, out); err != nil || !strings.Contains(out.String(), "db-max-rows = 7\n") {
		t.Errorf("%v: %s", err, out)
	}
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("no warning: %s", log)
	}
}

// TestExample checks that the example file with its settings uncommented is valid and holds the
// defaults.
func TestExample(t *testing.T) {
	if got := VersionText(); got != "PostgREST 16.2\n" {
		t.Error(got)
	}
	defaults, err := loadSettings(sources{})
	if err != nil {
		t.Fatal(err)
	}
	_, settings, _ := strings.Cut(Example(), "\n\n")
	if lines := strings.Count(defaults.dump(), "\n"); strings.Count(settings, "\n# ")+1 != lines {
		t.Errorf("not one comment for each of %d settings:\n%s", lines, settings)
	}
	s, err := load(t, strings.ReplaceAll("\n"+settings, "\n# ", "\n"))
	if err != nil || s.dump() != defaults.dump() {
		t.Errorf("%v\n%s", err, Example())
	}
}

// TestUnknownSchema checks that an unknown schema keeps the schema cache from loading, in
// db-schemas and in db-extra-search-path.
func TestUnknownSchema(t *testing.T) {
	database := testdb.New(t)
	for _, setting := range []string{"db-schemas = \"public, nowhere\"\n", "db-extra-search-path = \"nowhere\"\n"} {
		s := start(t, database, setting)
		if got := s.ask(s.socket, "/things"); !strings.HasPrefix(got, "503") || !strings.Contains(got, "PGRST002") {
			t.Errorf("%s: %s", setting, got)
		}
		if got := s.ask(s.admin, "/ready"); !strings.HasPrefix(got, "503") {
			t.Errorf("%s: /ready: %s", setting, got)
		}
	}
}

// TestFatalErrors checks the errors of the database that end the server: a wrong password, and any
// without db-pool-automatic-recovery.
func TestFatalErrors(t *testing.T) {
	database := testdb.New(t)
	u, err := url.Parse(database.URL("authenticator"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) error {
		environ := append([]string{"PGRST_SERVER_UNIX_SOCKET=" + filepath.Join(t.TempDir(), "s")}, more...)
		return Run(t.Context(), Options{Environ: environ, Log: slog.New(slog.DiscardHandler)})
	}
	u.Path = "/unknown_database"
	if err := run("PGRST_DB_URI="+u.String(), "PGRST_DB_POOL_AUTOMATIC_RECOVERY=false"); err == nil ||
		!strings.Contains(err.Error(), "recovery disabled") {
		t.Errorf("without automatic recovery: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go refuseLogins(l)
	err = run("PGRST_DB_URI=postgresql://a:b@" + l.Addr().String() + "/c?sslmode=disable")
	if err == nil || !strings.HasPrefix(err.Error(), `Failed to establish a connection. {"code":"PGRST000",`) {
		t.Errorf("a wrong password: %v", err)
	}
}

// refuseLogins answers as a Postgres that refuses every password.
func refuseLogins(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		b := pgproto3.NewBackend(conn, conn)
		if _, err := b.ReceiveStartupMessage(); err == nil {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "28P01",
				Message: "password authentication failed"})
			_ = b.Flush()
		}
		conn.Close()
	}
}
