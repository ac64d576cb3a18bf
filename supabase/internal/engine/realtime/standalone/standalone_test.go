package standalone

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

const jwtSecret = "super-secret-jwt-token-with-at-least-32-characters-long"

func required(more map[string]string) map[string]string {
	all := map[string]string{"API_JWT_SECRET": jwtSecret,
		"METRICS_JWT_SECRET": "metrics-secret-of-at-least-32-characters", "SECRET_KEY_BASE": "x"}
	for name, value := range more {
		all[name] = value
	}
	return all
}

func TestFromEnv(t *testing.T) {
	c, err := FromEnv(environment(required(map[string]string{"TENANT_MAX_CONCURRENT_USERS": "7", "DB_SSL": "true"})))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":4000" || c.Tenant != "realtime-dev" || c.Settings.MaxConnections != 7 ||
		c.Settings.MaxEventsPerSecond != 100 ||
		c.Join != 5*time.Second || c.Handshake != 2*time.Second ||
		c.URL() != "postgres://supabase_admin:postgres@127.0.0.1:5432/postgres?sslmode=require" {
		t.Errorf("%+v %s", c, c.URL())
	}
	for missing := range required(nil) {
		vars := required(nil)
		delete(vars, missing)
		if _, err := FromEnv(environment(vars)); err == nil {
			t.Errorf("accepted without %s", missing)
		}
	}
	for name, value := range map[string]string{"PORT": "many", "API_JWT_JWKS": "{", "JWT_CLAIM_VALIDATORS": "[]",
		"TENANT_MAX_JOINS_PER_SECOND": "0", "CLIENT_PRESENCE_WINDOW_MS": "-1"} {
		if _, err := FromEnv(environment(required(map[string]string{name: value}))); err == nil {
			t.Errorf("accepted %s=%s", name, value)
		}
	}
}

func sign(t *testing.T, secret, role string) string {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"role": role, "exp": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	token, err := keys.Secret("", secret).Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func ask(t *testing.T, method, target, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// configured returns the configuration for a test's database.
func configured(t *testing.T, db *testdb.DB) *Config {
	t.Helper()
	at, err := url.Parse(db.URL("supabase_admin"))
	if err != nil {
		t.Fatal(err)
	}
	host, port := at.Query().Get("host"), at.Query().Get("port")
	if host == "" {
		host, port = at.Hostname(), at.Port()
	}
	c, err := FromEnv(environment(required(map[string]string{
		"DB_HOST": host, "DB_PORT": port, "DB_NAME": strings.TrimPrefix(at.Path, "/"), "DB_USER": "supabase_admin",
		"CHANNEL_ERROR_BACKOFF_MS": "1", "CONNECT_ERROR_BACKOFF_MS": "1", "JWT_CLAIM_VALIDATORS": `{"role":"anon"}`,
	})))
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = "127.0.0.1:0"
	return c
}

// newDatabase returns a database that is dropped once the server has noticed the end of all
// replication connections.
func newDatabase(t *testing.T) *testdb.DB {
	t.Helper()
	db := testdb.New(t)
	t.Cleanup(func() {
		for end := time.Now().Add(time.Minute); testdb.Value[int](db,
			`select count(*) from pg_replication_slots where database = current_database()`) > 0; {
			if time.Now().After(end) {
				t.Error("a replication slot remains")
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return db
}

// TestRun starts on a database without the realtime schema, and again on the same database.
func TestRun(t *testing.T) {
	db := newDatabase(t)
	db.ExecAs("supabase_admin",
		`drop schema realtime cascade; create schema realtime; drop publication supabase_realtime, supabase_realtime_messages_publication`)
	c := configured(t, db)
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		address, ended := make(chan net.Addr, 1), make(chan error, 1)
		go func() {
			ended <- Run(ctx, c, slog.New(slog.DiscardHandler), func(a net.Addr) { address <- a })
		}()
		select {
		case err := <-ended:
			t.Fatal(err)
		case a := <-address:
			checkServer(t, db, "http://"+a.String())
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestRunAsSchemaOwner starts as the role that owns Realtime's tables, which may not read the
// ledger of migrations.
func TestRunAsSchemaOwner(t *testing.T) {
	db := newDatabase(t)
	c := configured(t, db)
	c.Database.User = "supabase_realtime_admin"
	at, stop := start(t, c)
	checkServer(t, db, at)
	stop()
	db.ExecAs("supabase_admin", `drop function realtime.send_binary`)
	err := Run(t.Context(), c, slog.New(slog.DiscardHandler), func(net.Addr) {})
	if err == nil || !strings.Contains(err.Error(), "realtime schema is incomplete") {
		t.Errorf("on an incomplete schema: %v", err)
	}
}

// checkServer calls every API of a running server.
func checkServer(t *testing.T, db *testdb.DB, at string) {
	anon, metrics := sign(t, jwtSecret, "anon"), sign(t, "metrics-secret-of-at-least-32-characters", "x")
	for _, c := range []struct {
		method, path, token, body string
		status                    int
		contains                  string
	}{
		{"GET", "/health", "", "", 200, "ok"},
		{"GET", "/healthcheck", "", "", 200, "ok"},
		{"GET", "/api/ping", "", "", 200, "Success"},
		{"GET", "/metrics", anon, "", 403, ""},
		{"GET", "/metrics", metrics, "", 200, "daawo_realtime_connections 0"},
		{"GET", "/api/tenants", "", "", 403, ""},
		{"GET", "/api/tenants", anon, "", 200, `"external_id":"realtime-dev"`},
		{"GET", "/api/tenants/realtime-dev", anon, "", 200, `"max_concurrent_users":200`},
		{"HEAD", "/api/tenants/realtime-dev/health", anon, "", 200, ""},
		{"GET", "/api/tenants/realtime-dev/health", anon, "", 200, `"healthy":true`},
		{"GET", "/api/tenants/other", anon, "", 404, "not found"},
		{"PUT", "/api/tenants/realtime-dev", anon, `{"tenant":{"max_events_per_second":500}}`, 200,
			`"max_events_per_second":500`},
		{"PUT", "/api/tenants/realtime-dev", anon, `{}`, 400, ""},
		{"POST", "/api/tenants/realtime-dev/reload", anon, "", 204, ""},
		{"DELETE", "/api/tenants/realtime-dev", anon, "", 422, ""},
		{"OPTIONS", "/api/broadcast", "", "", 204, ""},
		// JWT_CLAIM_VALIDATORS
		{"POST", "/api/broadcast", sign(t, jwtSecret, "authenticated"), `{}`, 401, "Unauthorized"},
		{"POST", "/api/broadcast", anon, `{"messages":[{"topic":"t","event":"e","payload":{}}]}`, 202, ""},
	} {
		if status, body := ask(t, c.method, at+c.path, c.token, c.body); status != c.status ||
			!strings.Contains(body, c.contains) {
			t.Errorf("%s %s: got %d %s, want %d %s", c.method, c.path, status, body, c.status, c.contains)
		}
	}
	checkDatabaseBroadcast(t, db, at, anon)
}

// checkDatabaseBroadcast checks that a message of the database reaches a socket.
func checkDatabaseBroadcast(t *testing.T, db *testdb.DB, at, token string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, at+"/socket/websocket?vsn=2.0.0&apikey="+token, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	join := `["1","1","realtime:notes","phx_join",{"config":{"broadcast":{"replication_ready":true}}}]`
	if err := conn.Write(ctx, websocket.MessageText, []byte(join)); err != nil {
		t.Fatal(err)
	}
	next := func(part string) {
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("waiting for %s: %v", part, err)
			}
			if strings.Contains(string(text), part) {
				return
			}
		}
	}
	next("Replication connection established")
	db.Exec(`select realtime.send('{"n":1}', 'added', 'notes', false)`)
	next(fmt.Sprintf(`"event":%q`, "added"))
}
