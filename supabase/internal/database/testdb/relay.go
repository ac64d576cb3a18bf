package testdb

import (
	"io"
	"net"
	"net/url"
	"testing"
)

// Relay returns a URL that relays to the database of a TCP URL. It passes each reply of the server
// to onReply. If onReply returns true, Relay drops the reply and the connection: the server has run
// the statement, but the client gets no reply. onRequest, which may be nil, gets what the client
// sends before the server does.
func Relay(t *testing.T, database string, onRequest func([]byte), onReply func([]byte) (drop bool)) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	server := u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go relay(client, server, onRequest, onReply)
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

func relay(client net.Conn, address string, onRequest func([]byte), onReply func([]byte) bool) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	go func() {
		defer server.Close()
		forward(server, client, func(b []byte) bool {
			if onRequest != nil {
				onRequest(b)
			}
			return false
		})
	}()
	forward(client, server, onReply)
}

// forward copies until either side ends or drop returns true.
func forward(to io.Writer, from io.Reader, drop func([]byte) bool) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil || drop(chunk[:n]) {
			return
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}
