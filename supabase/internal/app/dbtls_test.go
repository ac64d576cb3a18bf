package app

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// testDatabaseTLS checks that the port of Postgres serves TLS and, for this machine, connections
// without it.
func testDatabaseTLS(t *testing.T, _ *App, info Info) {
	url := info.Get("DB_URL")
	if !strings.HasSuffix(url, "?sslmode=require") {
		t.Fatalf("DB_URL is %s", url)
	}
	for _, mode := range []string{"require", "require&sslnegotiation=direct", "prefer", "disable"} {
		conn, err := pgx.Connect(t.Context(), strings.Replace(url, "require", mode, 1))
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		_, secure := conn.PgConn().Conn().(*tls.Conn)
		if want := mode != "disable"; secure != want {
			t.Errorf("%s: TLS is %v", mode, secure)
		}
		var sum int
		if err := conn.QueryRow(t.Context(), `select 1 + length(repeat('x', 100000))`).Scan(&sum); err != nil ||
			sum != 100001 {
			t.Errorf("%s: %d %v", mode, sum, err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
