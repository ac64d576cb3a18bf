package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveTotal serves a handler with a total limit of connections and returns its address.
func serveTotal(t *testing.T, total int, h http.Handler) string {
	t.Helper()
	address, _ := serveLimited(t, ConnLimits{Total: total}, h)
	return address
}

func serveLimited(t *testing.T, limits ConnLimits, h http.Handler) (string, *limitListener) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := newLimitListener(l, limits)
	s := &http.Server{Handler: h, ConnState: limited.ConnState}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(limited) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
		// Close does not wait until the connections have ended.
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			limited.mu.Lock()
			left := len(limited.slots) + limited.idle.Len() + len(limited.byAddress)
			limited.mu.Unlock()
			if left == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("%d slots and entries are left of closed connections", left)
				return
			}
		}
	})
	return l.Addr().String(), limited
}

// client is one connection. get sends a request on it.
type client struct {
	net.Conn
	in *bufio.Reader
}

func connect(t *testing.T, address string) *client { return connectFrom(t, "127.0.0.1", address) }

// connectFrom connects from another address of this machine.
func connectFrom(t *testing.T, from, address string) *client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &client{conn, bufio.NewReader(conn)}
}

func (c *client) get(path string) error {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// TestIdleConnectionIsReplaced fills the listener: a new connection replaces the longest idle one,
// and none with a request.
func TestIdleConnectionIsReplaced(t *testing.T) {
	served, release := make(chan struct{}), make(chan struct{})
	address := serveTotal(t, 3, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			served <- struct{}{}
			<-release
		}
	}))
	busy := connect(t, address)
	answered := make(chan error, 1)
	go func() { answered <- busy.get("/long") }()
	<-served
	silent := connect(t, address) // sends nothing
	idle := connect(t, address)
	if err := idle.get("/"); err != nil {
		t.Fatal(err)
	}

	if err := connect(t, address).get("/"); err != nil {
		t.Error("fourth connection:", err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Error("the silent connection is still open:", err)
	}
	if err := idle.get("/"); err != nil {
		t.Error("the connection that was idle for less time was closed:", err)
	}
	for range 20 {
		if err := connect(t, address).get("/"); err != nil {
			t.Error("new connection:", err)
		}
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error("request in flight:", err)
	}
}

// TestAcceptWaitsForSlot: while every connection has a request, a new connection waits.
func TestAcceptWaitsForSlot(t *testing.T) {
	served, release := make(chan struct{}), make(chan struct{})
	address := serveTotal(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			served <- struct{}{}
			<-release
		}
	}))
	for range 2 {
		busy := connect(t, address)
		go func() { _ = busy.get("/long") }() // may fail: its connection may be replaced after the reply
		<-served
	}
	answered := make(chan error, 1)
	late := connect(t, address)
	go func() { answered <- late.get("/") }()
	select {
	case err := <-answered:
		t.Error("third connection did not wait:", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error("third connection:", err)
	}
}

// TestSendBufferIsLimited: the kernel buffers little for a client that does not read.
func TestSendBufferIsLimited(t *testing.T) {
	sent := make(chan int, 1)
	address := serveTotal(t, 1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for part := make([]byte, 16<<10); ; n += len(part) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			if _, err := w.Write(part); err != nil {
				break
			}
		}
		sent <- n
	}))
	dialer := net.Dialer{Control: smallWindow}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if n := <-sent; n > 512<<10 {
		t.Errorf("%d KB were sent to a client that does not read", n>>10)
	}
}

func isTimeout(err error) bool { return strings.Contains(err.Error(), "timeout") }

// smallWindow sets a small receive buffer, as an attacker would.
func smallWindow(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
	})
	return errors.Join(err, failed)
}

// TestAddressLimit: an address at its limit loses stalled connections, and other addresses are not
// affected.
func TestAddressLimit(t *testing.T) {
	begun := make(chan struct{}, 100)
	address, limited := serveLimited(t,
		ConnLimits{Total: 100, PerAddress: 3, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			_, _ = io.Copy(io.Discard, r.Body)
		}))
	const slow = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
	var slowClients []*client
	for range 3 {
		v := connect(t, address)
		if _, err := io.WriteString(v, slow); err != nil {
			t.Fatal(err)
		}
		<-begun
		slowClients = append(slowClients, v)
	}
	if err := connect(t, address).get("/"); err == nil {
		t.Error("a fourth connection was accepted before the others stalled")
	}
	for _, from := range []string{"127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9", "127.0.0.9"} {
		if err := connectFrom(t, from, address).get("/"); err != nil {
			t.Errorf("%s: %v", from, err)
		}
	}

	setStaleAfter(limited, 0)
	if err := connect(t, address).get("/"); err != nil {
		t.Error("fourth connection after a stall:", err)
	}
	if _, err := slowClients[0].Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Error("the slowest connection is still open:", err)
	}
	for range 5 { // idle connections are replaced at once
		if err := connect(t, address).get("/"); err != nil {
			t.Error(err)
		}
	}
}

func setStaleAfter(l *limitListener, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.staleAfter = d
}

// TestSlowConnectionIsKept: a slow connection that makes progress is not replaced.
func TestSlowConnectionIsKept(t *testing.T) {
	got := make(chan int, 1)
	address, limited := serveLimited(t, ConnLimits{Total: 100, PerAddress: 2},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			if n == 4096 {
				got <- int(n)
			}
		}))
	setStaleAfter(limited, 50*time.Millisecond)
	moving, stalled := connect(t, address), connect(t, address)
	for _, v := range []*client{moving, stalled} {
		if _, err := io.WriteString(v, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		time.Sleep(30 * time.Millisecond)
		if _, err := moving.Write(make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
		_ = connect(t, address).get("/") // may fail, depending on the moment
	}
	if n := <-got; n != 4096 {
		t.Errorf("%d bytes arrived", n)
	}
	if _, err := stalled.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Error("the stalled connection is still open:", err)
	}
}

// TestSocketsLeaveRequests checks that the WebSockets of an address have a limit of their own, so
// that its requests are still served.
func TestSocketsLeaveRequests(t *testing.T) {
	address, _ := serveLimited(t, ConnLimits{Total: 20, PerAddress: 3},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/socket" {
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			go func() {
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 1))
			}()
		}))
	var open []*client
	for i := range 4 {
		c := connect(t, address)
		err := c.get("/socket")
		if i < 3 && err != nil {
			t.Fatalf("socket %d: %v", i+1, err)
		}
		open = append(open, c)
	}
	if _, err := open[3].in.ReadByte(); err == nil {
		t.Error("the fourth socket stays open")
	}
	if err := connect(t, address).get("/"); err != nil {
		t.Errorf("a request beside the sockets: %v", err)
	}
}

// TestSocketClosedInHandshake checks that a connection that is closed before it becomes a WebSocket
// leaves no count behind.
func TestSocketClosedInHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := newLimitListener(l, ConnLimits{Total: 2, PerAddress: 2})
	defer limited.Close()
	connect(t, l.Addr().String())
	c, err := limited.Accept()
	if err != nil {
		t.Fatal(err)
	}
	limited.ConnState(c, http.StateActive)
	_ = c.Close()
	limited.ConnState(c, http.StateHijacked)
	_ = c.Close()
	if len(limited.sockets) > 0 || limited.hijacked != 0 || len(limited.slots) > 0 {
		t.Errorf("left: %v, %d, %d slots", limited.sockets, limited.hijacked, len(limited.slots))
	}
}

// from is a connection from an address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.address))
}

// TestHomeLineIsOneAddress checks that the networks of a home line share one limit of connections
// and of bodies.
func TestHomeLineIsOneAddress(t *testing.T) {
	l := newLimitListener(nil, ConnLimits{Total: 1, PerAddress: 1})
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"[2001:db8:1:1::1]:1", "[2001:db8:1:2::2]:2", true}, {"[2001:db8:1:1::1]:1", "[2001:db8:1:101::1]:1", false},
		{"192.0.2.1:1", "192.0.2.1:2", true}, {"192.0.2.1:1", "192.0.2.2:1", false},
	} {
		if same := l.countedAddress(from{nil, tt.a}) == l.countedAddress(from{nil, tt.b}); same != tt.same {
			t.Errorf("connections of %s and %s: %t", tt.a, tt.b, same)
		}
		if same := homeKey(&http.Request{RemoteAddr: tt.a}) == homeKey(&http.Request{RemoteAddr: tt.b}); same != tt.same {
			t.Errorf("bodies of %s and %s: %t", tt.a, tt.b, same)
		}
	}
}

// TestCrowd: a listener is crowded from a number of open connections on, until half of them are
// closed.
func TestCrowd(t *testing.T) {
	l := newLimitListener(nil, ConnLimits{Total: 2 * crowd})
	for _, step := range []struct {
		open    int
		crowded bool
	}{{crowd, false}, {crowd + 1, true}, {crowd/2 + 1, true}, {crowd / 2, false}, {crowd/2 + 1, false}} {
		for len(l.slots) < step.open {
			l.slots <- struct{}{}
			l.watchCrowd()
		}
		for len(l.slots) > step.open {
			<-l.slots
			l.watchCrowd()
		}
		if got := l.crowded.Load(); got != step.crowded {
			t.Errorf("%d open: crowded %t", step.open, got)
		}
	}
}
