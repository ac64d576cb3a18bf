package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/database/server"
)

// TestRestartOnFullDisk checks that a restart serves everything that only reads while the database
// accepts no writes, and that reports and background work succeed when it accepts them again.
func TestRestartOnFullDisk(t *testing.T) {
	data := dataFolder(t)
	a := newApp(t, data, nil)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The setting that the program makes on a nearly full disk, in a file that takes precedence
	// over the program's own.
	setting := filepath.Join(data, "postgres", "postgresql.auto.conf")
	if err := os.WriteFile(setting, []byte("default_transaction_read_only = on\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	info := start(t, newApp(t, data, nil))
	api, anon := info.Get("API_URL"), info.Get("ANON_KEY")
	for _, path := range []string{"/healthz", "/", "/rest/v1/resources?select=id&apikey=" + anon} {
		if status, body := call(t, "GET", api+path, ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	report := func() (int, string) {
		return call(t, "POST", api+"/functions/v1/submit-report", `{"product_name":"Full","issue_description":"x"}`,
			"apikey", anon, "Content-Type", "application/json")
	}
	if status, body := report(); status != 503 {
		t.Errorf("a report on a full disk: %d %s", status, body)
	}

	if err := os.WriteFile(setting, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pg, err := server.Locate(filepath.Join(data, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	query(t, pg(server.Superuser), `select pg_reload_conf()`)
	waitFor(t, "a report", func() bool { status, _ := report(); return status == 200 })
	waitFor(t, "its notice", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, "New product report")
	})
}
