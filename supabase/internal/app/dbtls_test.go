package app

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestDatabaseTLS checks that the port of Postgres serves TLS and, for this machine, connections
// without it.
func TestDatabaseTLS(t *testing.T) {
	a := newApp(t, dataFolder(t), map[string]string{"DB_TLS": "true"})
	info := start(t, a)
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

// TestDatabaseTLSRequired checks that another machine gets an error without TLS, and that bytes
// before the handshake end the connection.
func TestDatabaseTLSRequired(t *testing.T) {
	startup := "\x00\x00\x00\x17\x00\x03\x00\x00user\x00postgres\x00\x00"
	request := "\x00\x00\x00\x08\x04\xd2\x16\x2f"
	for _, tt := range []struct{ name, send, want string }{
		{"startup without TLS", startup, "28000"},
		{"startup behind the request for TLS", request + startup, ""},
		{"no protocol of Postgres", "GET / HTTP/1.1\r\n\r\n", ""},
	} {
		client, server := net.Pipe() // its addresses are not of loopback
		front := &dbFront{target: "127.0.0.1:1", config: &tls.Config{}, life: t.Context()}
		done := make(chan error, 1)
		go func() {
			done <- front.serve(server)
			_ = server.Close()
		}()
		go func() { _, _ = client.Write([]byte(tt.send)) }()
		_ = client.SetReadDeadline(time.Now().Add(time.Minute))
		reply := make([]byte, 200)
		var got strings.Builder
		for {
			n, err := client.Read(reply)
			got.Write(reply[:n])
			if err != nil {
				break
			}
		}
		<-done
		silent := got.String() == "" || got.String() == "S" // S accepts the request for TLS
		if !strings.Contains(got.String(), tt.want) || silent != (tt.want == "") {
			t.Errorf("%s: %q", tt.name, got.String())
		}
	}
}
