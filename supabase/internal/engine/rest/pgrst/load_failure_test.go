package pgrst

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// TestFailedReload checks that /ready and /metrics report a failed reload of the schema while the
// schema of before serves requests, and that a later reload repairs it. The time-out of the login
// role ends the delayed read of the catalogue.
func TestFailedReload(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	s := start(t, database, "internal-schema-cache-query-sleep = 60\ninternal-schema-cache-query-sleep-before-queries = \"60\"\n")
	if took := s.metric("pgrst_schema_cache_query_time_seconds"); took < "0.12" {
		t.Errorf("the schema was read in %s s, want at least 0.12", took)
	}
	timeout := func(value string) {
		database.ExecAs("supabase_admin",
			fmt.Sprintf(`alter role authenticator in database %s set statement_timeout = '%s'`, database.Name, value))
	}
	timeout("100ms")
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.until(s.admin, "/ready", "503")
	if got := s.metric(`pgrst_schema_cache_loads_total{status="FAIL"}`); got == "0.0" || got == "" {
		t.Errorf("%q failed loads", got)
	}
	if got := s.ask(s.socket, "/things?select=id"); !strings.HasPrefix(got, "200") {
		t.Errorf("after a failed reload: %s", got)
	}
	timeout("0")
	s.until(s.admin, "/ready", "200")
}

// metric returns the value of a metric.
func (s *testServer) metric(name string) string {
	s.t.Helper()
	_, rest, _ := strings.Cut(s.ask(s.admin, "/metrics"), "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// until waits until a path has a status.
func (s *testServer) until(socket, url, status string) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.HasPrefix(s.ask(socket, url),
		status); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not answer %s", url, status)
		}
	}
}

// TestUnknownHost checks that the log names a host without an address in libpq's words.
func TestUnknownHost(t *testing.T) {
	err := fmt.Errorf("connect: %w", &net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true})
	if got := connectionText(err); got != `could not translate host name "nowhere" to address: no such host` {
		t.Error(got)
	}
	if got := failureText(err); !strings.Contains(got,
		`"details":"could not translate host name \"nowhere\" to address: no such host"`) {
		t.Error(got)
	}
}
