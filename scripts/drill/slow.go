package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"daawo/scripts/server"
)

// slowDrill opens thousands of connections that send slowly or never read, and measures the effect
// on other clients.
func slowDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	memoryBefore := idleMB(st.PID(), s.rounds(10, 1))
	if memoryBefore == 0 {
		return "", errors.New("/proc has no private memory of the server")
	}
	// Warm up, so that slow first requests do not raise the reference value.
	if _, err := readers(ctx, st, time.Second); err != nil {
		return "", err
	}
	window := time.Duration(s.rounds(10, 4)) * time.Second
	before, err := readers(ctx, st, window)
	if err != nil {
		return "", err
	}
	count := s.rounds(2000, 200)
	// The memory guarantee is for an attacker with one address. For many addresses only the total
	// number of connections is limited, and the drill reports the cost.
	one, err := attack(ctx, st, s, count, window, func(int) net.IP { return loopback(0, 2) })
	if err != nil {
		return "", err
	}
	many, err := attack(ctx, st, s, s.rounds(2000, 0), window, func(i int) net.IP { return loopback(1+i/250, 1+i%250) })
	if err != nil {
		return "", err
	}
	one.memory, many.memory = one.peak-memoryBefore, many.peak-memoryBefore
	fullAfter, err := idleConnections(ctx, st, s.rounds(4500, 0))
	if err != nil {
		return "", err
	}

	p99Before := percentile(before, 0.99)
	figures := fmt.Sprintf("p99 %s; from one address %s", p99Before.Round(100*time.Microsecond), one)
	if many.clients > 0 {
		figures += fmt.Sprintf("; from %d addresses %s", many.clients, many)
	}
	figures += "; " + fullAfter
	var broken []error
	for _, g := range []load{one, many} {
		if len(g.open) > 0 || g.last > 15*time.Second {
			broken = append(broken, fmt.Errorf("slow connections are not closed within 15 s: %s", g))
		}
		if !s.short && g.p99 > 2*p99Before+2*time.Millisecond { // the short form shares the CPU with other tests
			broken = append(broken, fmt.Errorf("other clients waited more than twice as long: %s", g))
		}
	}
	if one.memory > 50 {
		broken = append(broken, fmt.Errorf("slow connections of one address cost more than 50 MB"))
	}
	return figures, errors.Join(broken...)
}

// load describes the server while slow clients held connections.
type load struct {
	clients int
	p99     time.Duration  // of normal clients
	peak    int            // memory of the server, MB
	memory  int            // private memory above the idle server's, MB
	last    time.Duration  // the longest time until a connection was closed
	held    int            // most open connections
	open    map[string]int // connections that were not closed, by kind
	arrived string
}

func (b load) String() string {
	left := "none left open"
	if len(b.open) > 0 {
		left = fmt.Sprintf("left open: %v", b.open)
	}
	return fmt.Sprintf("%d slow clients, %d held: p99 %s, memory %+d MB, closed after at most %s, %s, reports: %s",
		b.clients, b.held, b.p99.Round(100*time.Microsecond), b.memory, b.last.Round(100*time.Millisecond), left,
		b.arrived)
}

// attack has slow clients hold as many connections as possible and reconnect when they are closed.
// It measures the latency of normal clients and the server's memory.
func attack(ctx context.Context, st *server.Stack, s settings, count int, window time.Duration,
	from func(int) net.IP) (load, error) {
	b := load{clients: count, open: map[string]int{}}
	if count == 0 {
		return b, nil
	}
	attacking, cancel := context.WithTimeout(ctx, window+20*time.Second)
	defer cancel()
	var attackers sync.WaitGroup
	var mu sync.Mutex
	var held atomic.Int64
	end := time.Now().Add(window)
	for i := range count {
		attackers.Go(func() {
			for time.Now().Before(end) && attacking.Err() == nil {
				held.Add(1)
				d, closed := slowClient(attacking, from(i), server.HostOf(st.Get("API_URL")), i)
				held.Add(-1)
				mu.Lock()
				b.last = max(b.last, d)
				if !closed {
					b.open[slowKinds[i%len(slowKinds)]]++
				}
				mu.Unlock()
				pause(attacking, time.Second)
			}
		})
	}
	pause(ctx, 500*time.Millisecond)
	watching, stopWatching := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	peak := 0
	watcher.Go(func() {
		for ; watching.Err() == nil; pause(watching, 200*time.Millisecond) {
			peak = max(peak, privateMB(st.PID()))
			b.held = max(b.held, int(held.Load()))
		}
	})
	h := &history{}
	watcher.Go(func() { write(watching, st, h, fmt.Sprintf("slow-%d-%d", s.seed, time.Now().UnixNano())) })
	during, err := readers(ctx, st, window)
	stopWatching()
	watcher.Wait()
	attackers.Wait()
	if err != nil {
		return b, err
	}
	b.peak, b.p99 = peak, percentile(during, 0.99)
	b.arrived, err = h.check(ctx, st)
	return b, err
}

// loopback returns a loopback address, or nil if the system has only 127.0.0.1.
func loopback(c, d int) net.IP {
	if runtime.GOOS != "linux" {
		return nil
	}
	return net.IPv4(127, 0, byte(c), byte(d))
}

// idleConnections opens more connections than the server allows. Each gets one reply and then stays
// idle. It returns how long a new client then waits for a page.
func idleConnections(ctx context.Context, st *server.Stack, count int) (string, error) {
	if count == 0 {
		return "idle connections not tried", nil
	}
	address := server.HostOf(st.Get("API_URL"))
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	answer := make([]byte, 4096)
	for range count {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return "", fmt.Errorf("connection %d of %d: %w", len(conns)+1, count, err)
		}
		conns = append(conns, conn)
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", address)
		if _, err := conn.Read(answer); err != nil {
			return "", fmt.Errorf("connection %d of %d got no reply: %w", len(conns), count, err)
		}
	}
	client.CloseIdleConnections()
	begun := time.Now()
	code := get(ctx, st, "/so/report/")
	took := time.Since(begun)
	if code != 200 || took > time.Second {
		return "", fmt.Errorf("with %d idle connections a page returned %d after %s", count, code, took)
	}
	return fmt.Sprintf("with %d idle connections a page takes %s", count, took.Round(100*time.Microsecond)), nil
}

var slowKinds = []string{"header", "body", "reader", "reader with a small window", "upload"}

// slowClient holds one connection in one of five ways. It returns how long the server took to close
// it.
func slowClient(ctx context.Context, from net.IP, address string, kind int) (time.Duration, bool) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	if kind%5 == 3 {
		dialer.Control = smallWindow
	}
	begun := time.Now()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, true
	}
	defer conn.Close()
	switch kind % 5 {
	case 0: // a header that never ends
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n", address)
	case 1: // a body that never ends
		fmt.Fprintf(conn, "POST /functions/v1/submit-report HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", address)
	case 2, 3: // readers that send requests and read nothing; half of them have a small receive window
		return stalledReader(ctx, conn, address)
	case 4: // a very slow upload
		fmt.Fprintf(conn, "POST /storage/v1/object/report-photos/1700000000000.png HTTP/1.1\r\nHost: %s\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n\r\n", address)
	}
	buffer := make([]byte, 512)
	for ctx.Err() == nil {
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte("a"))
		if _, err := conn.Read(buffer); err != nil && !os.IsTimeout(err) {
			return time.Since(begun), true
		}
	}
	return 0, false
}

// stalledReader requests more data than the kernel's buffers hold. It detects a closed connection
// by writing, because reading would free the buffers.
func stalledReader(ctx context.Context, conn net.Conn, address string) (time.Duration, bool) {
	begun := time.Now()
	request := fmt.Sprintf("GET /report/ HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: identity\r\n\r\n", address)
	_ = conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
	_, _ = io.WriteString(conn, strings.Repeat(request, 200))
	for ctx.Err() == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := conn.Write([]byte("G")); err != nil && !os.IsTimeout(err) {
			return time.Since(begun), true
		}
		pause(ctx, 400*time.Millisecond)
	}
	return 0, false
}

// smallWindow sets a small receive buffer.
func smallWindow(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
	})
	return errors.Join(err, failed)
}

// readers opens pages in sequence as four normal clients and returns the time of each request.
func readers(ctx context.Context, st *server.Stack, howLong time.Duration) ([]time.Duration, error) {
	paths := []string{"/", "/so/learn/", "/resources/", "/rest/v1/resources?select=id,title&is_active=eq.true&apikey=" +
		st.Get("ANON_KEY")}
	return fourClients(ctx, howLong, func(ctx context.Context, client int) error {
		if code := get(ctx, st, paths[client]); code != http.StatusOK {
			return fmt.Errorf("%s returned %d to a normal client", paths[client], code)
		}
		return nil
	})
}

// fourClients sends requests as four clients, each one after the other, and returns how long each
// took and one of the errors. The last requests go on when ctx ends.
func fourClients(ctx context.Context, howLong time.Duration, request func(ctx context.Context, client int) error) (
	took []time.Duration, failed error) {
	var mu sync.Mutex
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			for end := time.Now().Add(howLong); time.Now().Before(end) && ctx.Err() == nil; {
				begun := time.Now()
				err := request(context.WithoutCancel(ctx), client)
				mu.Lock()
				took = append(took, time.Since(begun))
				failed = cmp.Or(err, failed)
				mu.Unlock()
				pause(ctx, 5*time.Millisecond)
			}
		})
	}
	clients.Wait()
	return took, failed
}

// idleMB returns the least private memory of a process in the next seconds, in which the work of
// its start ends. It is measured before any load, because garbage of a load would hide what
// connections cost.
func idleMB(pid, seconds int) int {
	least := privateMB(pid)
	for range 4 * seconds {
		time.Sleep(250 * time.Millisecond)
		least = min(least, privateMB(pid))
	}
	return least
}

// privateMB returns the private memory of a process in MB from /proc, or 0 without /proc. Pages of
// the program file do not count: any request brings them back, and the system takes them when it
// needs memory.
func privateMB(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb / 1024
		}
	}
	return 0
}
