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

// house serves a handler through a door with few places and says where.
func house(t *testing.T, places int, h http.Handler) string {
	t.Helper()
	address, _ := houseOf(t, Bounds{Most: places}, h)
	return address
}

func houseOf(t *testing.T, b Bounds, h http.Handler) (string, *Door) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := NewDoor(l, b)
	s := &http.Server{Handler: h, ConnState: door.State}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(door) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
		// Close does not wait for the connections' own ends.
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			door.mu.Lock()
			left := len(door.places) + door.waiting.Len() + len(door.of)
			door.mu.Unlock()
			if left == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("%d places and notes are left of connections that are gone", left)
				return
			}
		}
	})
	return l.Addr().String(), door
}

// visitor is one connection; ask is one request on it.
type visitor struct {
	net.Conn
	in *bufio.Reader
}

func visit(t *testing.T, address string) *visitor { return visitFrom(t, "127.0.0.1", address) }

// visitFrom comes from another address of this machine.
func visitFrom(t *testing.T, from, address string) *visitor {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &visitor{conn, bufio.NewReader(conn)}
}

func (v *visitor) ask(path string) error {
	if _, err := fmt.Fprintf(v, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		return err
	}
	res, err := http.ReadResponse(v.in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// TestAFullHouse: who sits there without asking gives the place to who asks; who is being served keeps it.
func TestAFullHouse(t *testing.T) {
	served, release := make(chan struct{}), make(chan struct{})
	address := house(t, 3, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			served <- struct{}{}
			<-release
		}
	}))
	busy := visit(t, address)
	answered := make(chan error, 1)
	go func() { answered <- busy.ask("/long") }()
	<-served
	silent := visit(t, address) // never says a word
	idle := visit(t, address)
	if err := idle.ask("/"); err != nil {
		t.Fatal(err)
	}

	if err := visit(t, address).ask("/"); err != nil {
		t.Error("the fourth finds no place:", err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Error("the silent one kept its place:", err)
	}
	if err := idle.ask("/"); err != nil {
		t.Error("the one that waited less was sent away:", err)
	}
	for range 20 {
		if err := visit(t, address).ask("/"); err != nil {
			t.Error("a newcomer finds no place:", err)
		}
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error("the request under way was cut:", err)
	}
}

// TestEverybodyBusy: when all are being served a newcomer waits for the first that is done.
func TestEverybodyBusy(t *testing.T) {
	served, release := make(chan struct{}), make(chan struct{})
	address := house(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			served <- struct{}{}
			<-release
		}
	}))
	for range 2 {
		busy := visit(t, address)
		go func() { _ = busy.ask("/long") }() // its connection may be taken once it is answered
		<-served
	}
	answered := make(chan error, 1)
	late := visit(t, address)
	go func() { answered <- late.ask("/") }()
	select {
	case err := <-answered:
		t.Error("a third was let in:", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error("the newcomer was not let in:", err)
	}
}

// TestStalledReaderFillsNoKernel: what a client does not take is bounded in the kernel, too.
func TestStalledReaderFillsNoKernel(t *testing.T) {
	sent := make(chan int, 1)
	address := house(t, 1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		t.Errorf("%d KB went out to somebody who takes nothing", n>>10)
	}
}

func isTimeout(err error) bool { return strings.Contains(err.Error(), "timeout") }

// smallWindow has the kernel take little for a client that reads nothing, as an attacker would.
func smallWindow(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
	})
	return errors.Join(err, failed)
}

// TestOneAddress: who takes all the places of an address loses those that do nothing, and keeps nobody from elsewhere out.
func TestOneAddress(t *testing.T) {
	begun := make(chan struct{}, 100)
	address, door := houseOf(t, Bounds{Most: 100, Each: 3, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			_, _ = io.Copy(io.Discard, r.Body)
		}))
	const slow = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
	var crowd []*visitor
	for range 3 {
		v := visit(t, address)
		if _, err := io.WriteString(v, slow); err != nil {
			t.Fatal(err)
		}
		<-begun
		crowd = append(crowd, v)
	}
	if err := visit(t, address).ask("/"); err == nil {
		t.Error("a fourth of the address was let in while the others had just begun")
	}
	for _, from := range []string{"127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9", "127.0.0.9"} {
		if err := visitFrom(t, from, address).ask("/"); err != nil {
			t.Errorf("%s is kept out: %v", from, err)
		}
	}

	setPatience(door, 0)
	if err := visit(t, address).ask("/"); err != nil {
		t.Error("the slow ones of the address keep the others out:", err)
	}
	if _, err := crowd[0].Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Error("the slowest kept its place:", err)
	}
	for range 5 { // idle ones leave at once
		if err := visit(t, address).ask("/"); err != nil {
			t.Error(err)
		}
	}
}

func setPatience(d *Door, p time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.patience = p
}

// TestSlowButMoving: of the connections of an address the one that moves keeps its place.
func TestSlowButMoving(t *testing.T) {
	got := make(chan int, 1)
	address, door := houseOf(t, Bounds{Most: 100, Each: 2}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		if n == 4096 {
			got <- int(n)
		}
	}))
	setPatience(door, 50*time.Millisecond)
	moving, stalled := visit(t, address), visit(t, address)
	for _, v := range []*visitor{moving, stalled} {
		if _, err := io.WriteString(v, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		time.Sleep(30 * time.Millisecond)
		if _, err := moving.Write(make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
		newcomer := visit(t, address)
		_ = newcomer.ask("/") // whether there is a place depends on the moment
	}
	if n := <-got; n != 4096 {
		t.Errorf("%d bytes arrived", n)
	}
	if _, err := stalled.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Error("the stalled one kept its place:", err)
	}
}
