package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/gateway"
)

// serveTest serves a handler as the public port does.
func serveTest(t *testing.T, h http.Handler, change func(*http.Server)) (address string,
	shutdown func(context.Context) error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httpServer(h, slog.New(slog.DiscardHandler))
	change(s)
	shutdown = serve(s, l, gateway.ConnLimits{Total: 10, PerAddress: 10}, nil, func(err error) { t.Error(err) }).close
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String(), shutdown
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// TestShutdown checks that a shutdown waits for running requests, rejects new connections, and
// closes requests that do not end.
func TestShutdown(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "whole")
	})
	for _, tt := range []struct {
		name    string
		patient bool
	}{{"ends in time", true}, {"never ends", false}} {
		t.Run(tt.name, func(t *testing.T) {
			release = make(chan struct{})
			address, shutdown := serveTest(t, h, func(*http.Server) {})
			conn := dial(t, address)
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			<-begun
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- shutdown(ctx) }()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				late, err := net.Dial("tcp", address)
				if err != nil {
					break
				}
				late.Close()
				if time.Now().After(deadline) {
					t.Fatal("new connections are still accepted")
				}
			}
			if !tt.patient {
				cancel() // as after ten seconds
				if err := <-closed; err == nil {
					t.Error("the shutdown reports success")
				}
				close(release)
				return
			}
			select {
			case err := <-closed:
				t.Fatal("it did not wait:", err)
			case <-time.After(50 * time.Millisecond):
			}
			close(release)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if body, err := io.ReadAll(res.Body); err != nil || string(body) != "whole" {
				t.Errorf("%q %v", body, err)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
		})
	}
	if installation.DrainTimeout > 10*time.Second {
		t.Error("a shutdown may take", installation.DrainTimeout)
	}
}

// TestHeaderLimits checks the limits for the size and the duration of a request header.
func TestHeaderLimits(t *testing.T) {
	address, _ := serveTest(t, http.NotFoundHandler(), func(s *http.Server) {
		if s.ReadHeaderTimeout == 0 || s.ReadHeaderTimeout > 15*time.Second {
			t.Error("a header may take", s.ReadHeaderTimeout)
		}
		s.ReadHeaderTimeout = 100 * time.Millisecond
	})
	for _, tt := range []struct {
		name, header string
		status       string // of the reply; "" means no reply
	}{
		{"short", "X-A: " + strings.Repeat("a", 1000) + "\r\n\r\n", "404"},
		{"long", "X-A: " + strings.Repeat("a", maxHeader+8<<10) + "\r\n\r\n", "431"},
		{"many", strings.Repeat("X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", 2000) + "\r\n", "431"},
		{"endless", "X-A: a\r\n", ""},
	} {
		conn := dial(t, address)
		// the server may close the connection before the end
		_, _ = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n%s", tt.header)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if status := strings.TrimPrefix(line, "HTTP/1.1 "); !strings.HasPrefix(status, tt.status) || tt.status == "" &&
			(line != "" || err != io.EOF) {
			t.Errorf("%s: %q %v", tt.name, line, err)
		}
	}
}

// TestConnectionsForOpenFiles checks that the listener leaves files for the rest of the program.
func TestConnectionsForOpenFiles(t *testing.T) {
	for files, want := range map[uint64]int{1 << 20: MaxConnections, 1024: 384, 256: 32, 64: 32} {
		if got := connectionsFor(files); got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
}

// TestServedStandsDown checks that a replaced listener serves the connections that it has, with the
// word that they end, and that the new one on the same socket gets all others.
func TestServedStandsDown(t *testing.T) {
	sockets, log := handover.NewSockets(), slog.New(slog.DiscardHandler)
	limits := connLimits(&config.Config{})
	l, err := sockets.Listen(handover.PlainSocket, "127.0.0.1", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	files, err := sockets.Files()
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	word := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	}
	old := serve(httpServer(word("old"), log), l, limits, nil, func(err error) { t.Error(err) })
	kept, idle := dial(t, l.Addr().String()), dial(t, l.Addr().String())
	get := func(want string, closes bool) {
		t.Helper()
		fmt.Fprint(kept, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		text, err := readReply(kept)
		if err != nil || !strings.HasSuffix(text, want) || strings.Contains(text, "Connection: close") != closes {
			t.Errorf("%q %v", text, err)
		}
	}
	get("old", false)
	old.standDown()
	if _, err := handover.StartWithin(t.Context(), nil, files, func(connect handover.Connect) error {
		k, err := connect(&struct{}{})
		if err != nil {
			return err
		}
		next, err := k.Sockets.Listen(handover.PlainSocket, "127.0.0.1", 0, false)
		if err != nil {
			return err
		}
		v := serve(httpServer(word("new"), log), next, limits, nil, func(err error) { t.Error(err) })
		late := dial(t, l.Addr().String())
		fmt.Fprint(late, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if text, err := readReply(late); err != nil || !strings.HasSuffix(text, "new") {
			t.Errorf("a new connection: %q %v", text, err)
		}
		get("old", true)
		return errors.Join(v.close(context.Background()), k.Close())
	}); err == nil {
		t.Error("a server that ends without a word is ready")
	}
	began := time.Now()
	if err := old.close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < quietBeforeClose {
		t.Errorf("a connection without a request was closed after %s", took)
	}
	if _, err := readReply(idle); err == nil {
		t.Error("the idle connection is open")
	}
}

// readReply reads what comes first from a connection.
func readReply(conn interface{ Read([]byte) (int, error) }) (string, error) {
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	return string(b[:n]), err
}
