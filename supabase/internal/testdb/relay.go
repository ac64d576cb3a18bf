package testdb

import (
	"io"
	"net"
	"net/url"
	"testing"
)

// Relay gives an address that leads to the database of a TCP URL. Every connection's answers pass through answered, which
// gets each as it comes and says whether it is lost, and the connection with it: the server has done what it was asked,
// and nobody hears of it. sent, which may be nil, sees what the client sends before the server does.
func Relay(t *testing.T, database string, sent func([]byte), answered func([]byte) (lost bool)) string {
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
			go relay(client, server, sent, answered)
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

func relay(client net.Conn, address string, sent func([]byte), answered func([]byte) bool) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	go func() {
		defer server.Close()
		pass(server, client, func(b []byte) bool {
			if sent != nil {
				sent(b)
			}
			return false
		})
	}()
	pass(client, server, answered)
}

// pass copies until either side ends or a piece is lost.
func pass(to io.Writer, from io.Reader, lost func([]byte) bool) {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if err != nil || lost(piece[:n]) {
			return
		}
		if _, err := to.Write(piece[:n]); err != nil {
			return
		}
	}
}
