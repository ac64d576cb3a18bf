package database

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"
)

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
		front := &tlsFront{target: "127.0.0.1:1", config: &tls.Config{}, life: t.Context()}
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
