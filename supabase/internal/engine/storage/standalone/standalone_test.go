package standalone

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestFromEnv(t *testing.T) {
	full := map[string]string{"DATABASE_URL": "postgres://x", "PGRST_JWT_SECRET": "s", "FILE_SIZE_LIMIT": "10",
		"STORAGE_BACKEND": "file", "FILE_STORAGE_BACKEND_PATH": "/x"}
	c, err := FromEnv(environment(full))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "0.0.0.0:5000" || c.Tenant != "storage-single-tenant" || c.Engine.SignedUploadTTL != time.Minute ||
		c.Engine.TUSExpiry != time.Hour ||
		!c.Engine.S3 || c.Engine.ImageTransformation || c.JWTSecret != "s" || c.Disk == nil || c.S3 != nil {
		t.Errorf("%+v", c)
	}
	for missing := range full {
		less := map[string]string{}
		for name, v := range full {
			if name != missing {
				less[name] = v
			}
		}
		if _, err := FromEnv(environment(less)); err == nil {
			t.Errorf("accepted without %s", missing)
		}
	}
	for name, value := range map[string]string{"PORT": "many", "JWT_JWKS": "{", "MULTI_TENANT": "true",
		"STORAGE_BACKEND": "tape"} {
		bad := map[string]string{}
		for n, v := range full {
			bad[n] = v
		}
		bad[name] = value
		if _, err := FromEnv(environment(bad)); err == nil {
			t.Errorf("accepted %s=%s", name, value)
		}
	}
}

// TestRun starts on a database without the storage schema, and again on the same database.
func TestRun(t *testing.T) {
	db := testdb.New(t)
	db.ExecAs("supabase_admin", `drop schema storage cascade; grant create on database `+quoted(t, db)+
		` to supabase_storage_admin`)
	demo := keys.Demo()
	c, err := FromEnv(environment(map[string]string{"DATABASE_URL": db.URL("supabase_storage_admin"),
		"AUTH_JWT_SECRET": demo.JWTSecret, "FILE_SIZE_LIMIT": "1000", "STORAGE_BACKEND": "file",
		"FILE_STORAGE_BACKEND_PATH": t.TempDir(), "SERVER_HOST": "127.0.0.1"}))
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = "127.0.0.1:0"
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		address, ended := make(chan net.Addr, 1), make(chan error, 1)
		go func() {
			ended <- Run(ctx, c, slog.New(slog.DiscardHandler), func(a net.Addr) { address <- a })
		}()
		select {
		case a := <-address:
			get(t, "http://"+a.String()+"/status", "", 200)
			get(t, "http://"+a.String()+"/bucket", demo.ServiceRole, 200)
		case err := <-ended:
			t.Fatal(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	conn := db.Conn("postgres")
	var rows, last int
	if err := conn.QueryRow(t.Context(), `select count(*), max(id) from storage.migrations`).Scan(&rows,
		&last); err != nil || rows != last+1 || last < requiredMigration {
		t.Errorf("%d migrations up to %d, %v", rows, last, err)
	}
	db.ExecAs("supabase_admin", `delete from storage.migrations where id > 50`)
	if err := Run(t.Context(), c, slog.New(slog.DiscardHandler), func(net.Addr) {}); err == nil ||
		!strings.Contains(err.Error(), "migration 50") {
		t.Errorf("old schema: %v", err)
	}
}

func quoted(t *testing.T, db *testdb.DB) string {
	t.Helper()
	var name string
	if err := db.Conn("postgres").QueryRow(t.Context(),
		`select quote_ident(current_database())`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func get(t *testing.T, url, token string, status int) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != status {
		t.Errorf("%s: %d %s", url, res.StatusCode, body)
	}
}
