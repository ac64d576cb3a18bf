package pool_test

import (
	"net"
	"net/url"
	"testing"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// TestConnectErrors checks that the error of a failed connection names the cause once, and what to
// do.
func TestConnectErrors(t *testing.T) {
	right, err := url.Parse(testdb.New(t).TCPURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := closed.Addr().String()
	closed.Close()
	wrong, missing, absent := *right, *right, *right
	wrong.User, missing.Path, absent.Host = url.UserPassword("postgres", "wrong"), "/missing", free
	for _, tt := range []struct {
		url  url.URL
		want string
	}{
		{wrong, "Postgres on " + right.Host +
			` refuses the password of the user "postgres": correct the user or the password in the URL`},
		{missing, "Postgres on " + right.Host + `: FATAL: database "missing" does not exist (SQLSTATE 3D000)`},
		{absent, "no Postgres listens on " + free + ": start it, or correct the host or the port in the URL"},
	} {
		_, err := pool.Connect(t.Context(), tt.url.String())
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
		if away := pool.IsUnavailable(err); away != (tt.url == absent) {
			t.Errorf("%v: unavailable: %v", err, away)
		}
	}
}
