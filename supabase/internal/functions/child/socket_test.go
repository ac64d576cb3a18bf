package child

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"net/http/httptrace"
)

// onSocket serves connections of a Unix socket with serve and returns a transport to it and the
// number of connections.
func onSocket(t *testing.T, serve func(net.Conn)) (*socketTransport, *atomic.Int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	count := new(atomic.Int64)
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			running.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	transport := &socketTransport{path: path}
	t.Cleanup(func() {
		_ = l.Close()
		transport.CloseIdleConnections()
		running.Wait()
	})
	return transport, count
}

// httpOnSocket serves a handler on a Unix socket.
func httpOnSocket(t *testing.T, h http.HandlerFunc) (*socketTransport, *atomic.Int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	count := new(atomic.Int64)
	server := httptest.NewUnstartedServer(h)
	server.Listener = l
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			count.Add(1)
		}
	}
	server.Start()
	transport := &socketTransport{path: path}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return transport, count
}

func ask(t *testing.T, ctx context.Context, transport http.RoundTripper, method string, body io.Reader) (*http.Response,
	error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://functions/hello", body)
	if err != nil {
		t.Fatal(err)
	}
	return transport.RoundTrip(r)
}

// TestSocketTransport checks replies of a real server, and on how many connections they came.
func TestSocketTransport(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	transport, connections := httpOnSocket(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
		w.Header().Set("X-Sum", "16")
	})
	for _, c := range []struct {
		method string
		body   func() io.Reader
		want   []byte
	}{
		{"GET", func() io.Reader { return nil }, nil},
		{"POST", func() io.Reader { return strings.NewReader("short") }, []byte("short")},
		{"POST", func() io.Reader { return bytes.NewReader(long) }, long},
		{"POST", func() io.Reader { return io.MultiReader(bytes.NewReader(long)) }, long}, // of unknown length
		{"HEAD", func() io.Reader { return nil }, nil},
	} {
		res, err := ask(t, t.Context(), transport, c.method, c.body())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, %v; want %d", c.method, len(got), err, len(c.want))
		}
		if c.method != "HEAD" && res.Trailer.Get("X-Sum") != "16" {
			t.Errorf("%s: trailer %v", c.method, res.Trailer)
		}
	}
	if n := connections.Load(); n > 3 { // the sender of a long body can end after its reply
		t.Errorf("5 calls used %d connections", n)
	}
}

// TestSocketTransportReuse checks that a connection serves the next call only after a whole reply.
func TestSocketTransportReuse(t *testing.T) {
	transport, connections := httpOnSocket(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "reply")
	})
	for _, step := range []struct {
		read bool
		want int64
	}{{true, 1}, {true, 1}, {false, 1}, {true, 2}, {true, 2}} {
		res, err := ask(t, t.Context(), transport, "GET", nil)
		if err != nil {
			t.Fatal(err)
		}
		if step.read {
			_, _ = io.Copy(io.Discard, res.Body)
		}
		_ = res.Body.Close()
		if n := connections.Load(); n != step.want {
			t.Errorf("%d connections, want %d", n, step.want)
		}
	}
	transport.CloseIdleConnections()
	if len(transport.idle) > 0 {
		t.Error("idle connections are left")
	}
}

// TestSocketTransportNeverRepeats checks that a call whose connection ends without a reply fails.
// The process may have begun it.
func TestSocketTransportNeverRepeats(t *testing.T) {
	var calls atomic.Int64
	transport, _ := onSocket(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for range 2 {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			if calls.Add(1) == 1 {
				_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
			}
		}
	})
	if _, err := ask(t, t.Context(), transport, "GET", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, t.Context(), transport, "GET", nil); err == nil {
		t.Error("a call without a reply succeeded")
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("2 calls reached the process %d times", n)
	}
}

// TestSocketTransportClosedIdle checks that a call does not use a connection that the process has
// closed.
func TestSocketTransportClosedIdle(t *testing.T) {
	closed := make(chan struct{}, 2)
	transport, _ := onSocket(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		}
		_ = c.Close()
		closed <- struct{}{}
	})
	for range 2 {
		if _, err := ask(t, t.Context(), transport, "POST", nil); err != nil {
			t.Fatal(err)
		}
		<-closed
	}
}

// TestSocketTransportEarlyReply checks that a reply arrives although the process reads none of a
// long body.
func TestSocketTransportEarlyReply(t *testing.T) {
	transport, _ := onSocket(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.Copy(io.Discard, c) // until the other end closes
	})
	body, sender := io.Pipe()
	defer sender.Close()
	res, err := ask(t, t.Context(), transport, "POST", body)
	if err != nil || res.StatusCode != 413 {
		t.Fatal(res, err)
	}
	if len(transport.idle) > 0 {
		t.Error("a connection with half a request is kept")
	}
}

// TestSocketTransportCanceled checks that the end of the caller's context ends a call, before and
// during the reply.
func TestSocketTransportCanceled(t *testing.T) {
	for _, begun := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"} {
		received := make(chan struct{})
		transport, _ := onSocket(t, func(c net.Conn) {
			r := bufio.NewReader(c)
			_, _ = http.ReadRequest(r)
			_, _ = io.WriteString(c, begun)
			close(received)
			_, _ = r.ReadByte() // until the other end closes
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-received
			cancel()
		}()
		res, err := ask(t, ctx, transport, "GET", nil)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		} else if !errors.Is(err, context.Canceled) {
			t.Error("want the context's error:", err)
		}
		if err == nil || len(transport.idle) > 0 {
			t.Errorf("after %q: %v, %d connections kept", begun, err, len(transport.idle))
		}
	}
}

// TestSocketTransportEarlyHints checks that replies before the final one reach the trace, and that
// there are few.
func TestSocketTransportEarlyHints(t *testing.T) {
	hint := "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
	for n, want := range map[int]bool{0: true, 1: true, 4: true, 5: false, 100: false} {
		transport, _ := onSocket(t, func(c net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, strings.Repeat(hint, n)+"HTTP/1.1 204 No Content\r\n\r\n")
		})
		seen := 0
		ctx := httptrace.WithClientTrace(t.Context(),
			&httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				if code == 103 && h.Get("Link") == "</style.css>" {
					seen++
				}
				return nil
			}})
		res, err := ask(t, ctx, transport, "GET", nil)
		if ok := err == nil && res.StatusCode == 204 && seen == n; ok != want {
			t.Errorf("%d hints: %v, %v, seen %d", n, res, err, seen)
		}
	}
}

// TestSocketTransportBounds checks that headers without an end are refused.
func TestSocketTransportBounds(t *testing.T) {
	transport, _ := onSocket(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for {
			if _, err := io.WriteString(c, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
				return
			}
		}
	})
	if _, err := ask(t, t.Context(), transport, "GET", nil); err == nil ||
		!strings.Contains(err.Error(), "bytes of headers") {
		t.Error(err)
	}
}

// TestSocketTransportUpgrade checks a switch of protocols through the proxy of a process.
func TestSocketTransportUpgrade(t *testing.T) {
	transport, _ := onSocket(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		_, _ = http.ReadRequest(r)
		_, _ = io.WriteString(c,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ")
		_, _ = io.Copy(c, r)
	})
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://functions/hello", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	conn, ok := res.Body.(io.ReadWriteCloser)
	if !ok || res.StatusCode != 101 {
		t.Fatalf("%d, body %T", res.StatusCode, res.Body)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "you"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("hello you"))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello you" {
		t.Errorf("%q %v", got, err)
	}
}

// TestSocketTransportAbsent checks the error when no process listens.
func TestSocketTransportAbsent(t *testing.T) {
	transport := &socketTransport{path: filepath.Join(t.TempDir(), "none")}
	begun := time.Now()
	if _, err := ask(t, t.Context(), transport, "POST", strings.NewReader("x")); err == nil {
		t.Error("no error after", time.Since(begun))
	}
}
