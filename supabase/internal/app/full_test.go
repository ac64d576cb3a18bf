package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/postgres"
)

// TestStartOnAFullDisk: a machine that is started again while its database takes no writes serves all that is read, and
// the background work begins once there is room.
func TestStartOnAFullDisk(t *testing.T) {
	data := dataFolder(t)
	a := newApp(t, data, nil)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As on a nearly full disk, but for the words in a file that outdoes the product's own.
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
	server, err := postgres.Locate(filepath.Join(data, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	err = withConn(t.Context(), server(postgres.Superuser), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `select pg_reload_conf()`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a report", func() bool { status, _ := report(); return status == 200 })
	waitFor(t, "its notice", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, "New product report")
	})
}
