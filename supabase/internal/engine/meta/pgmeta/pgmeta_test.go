package pgmeta

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// from reads settings from a map.
func from(values map[string]string) (*Config, error) {
	return FromEnv(func(name string) (string, bool) { v, ok := values[name]; return v, ok })
}

func TestFromEnv(t *testing.T) {
	c, err := from(nil)
	if err != nil || c.Listen != "0.0.0.0:1337" ||
		c.Database != "postgresql://postgres:postgres@localhost:5432/postgres?sslmode=disable" ||
		c.Engine.CryptoKey != "SAMPLE_KEY" || c.Engine.QueryTimeout != 55*time.Second || c.Engine.MaxResult != 2<<30 {
		t.Errorf("defaults: %+v %v", c, err)
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("p@ss"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = from(map[string]string{"PG_META_PORT": "8080", "PG_META_DB_HOST": "db", "PG_META_DB_PASSWORD_FILE": file,
		"PG_META_DB_NAME": "other", "PG_META_DB_SSL_MODE": "require", "CRYPTO_KEY": "key", "PG_QUERY_TIMEOUT_SECS": "5",
		"PG_META_MAX_RESULT_SIZE_MB": "20"})
	if err != nil || c.Listen != "0.0.0.0:8080" || c.Engine.MaxResult != 20<<20 || c.Engine.CryptoKey != "key" ||
		c.Database != "postgresql://postgres:p%40ss@db:5432/other?sslmode=require" {
		t.Errorf("%+v %v", c, err)
	}
	for name, value := range map[string]string{"PG_META_PORT": "x", "PG_META_DB_SSL_ROOT_CERT": "no certificate"} {
		if _, err := from(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRun(t *testing.T) {
	c, err := from(map[string]string{"PG_META_HOST": "127.0.0.1", "PG_META_PORT": "0",
		"PG_META_DB_URL": testdb.New(t).URL("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	address, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		done <- Run(ctx, c, slog.New(slog.DiscardHandler), func(a net.Addr) { address <- a })
	}()
	base := url.URL{Scheme: "http", Host: (<-address).String(), Path: "/query"}
	res, err := http.Post(base.String(), "application/json", strings.NewReader(`{"query":"select 1 as a"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != `[{"a":1}]` {
		t.Errorf("%s %v", body, err)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
