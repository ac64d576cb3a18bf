package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/scripts/stack"
)

// slowDrill opens thousands of connections that send a byte now and then or never read, and measures what everybody
// else notices of them.
func slowDrill(ctx context.Context, s settings) (string, error) {
	st, err := stack.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	// Warm up, so that the first requests do not set the figure that the later ones are measured by.
	if _, err := readers(ctx, st, time.Second); err != nil {
		return "", err
	}
	window := time.Duration(s.rounds(10, 4)) * time.Second
	before, err := readers(ctx, st, window)
	if err != nil {
		return "", err
	}
	memoryBefore := residentMB(st.PID())
	count := s.rounds(2000, 200)
	attack, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var attackers sync.WaitGroup
	var mu sync.Mutex
	var closedAfter []time.Duration
	open := map[string]int{}
	for i := range count {
		attackers.Go(func() {
			d, closed := slowClient(attack, stack.HostOf(st.Get("API_URL")), i)
			mu.Lock()
			defer mu.Unlock()
			if closed {
				closedAfter = append(closedAfter, d)
			} else {
				open[slowKinds[i%len(slowKinds)]]++
			}
		})
	}
	pause(ctx, 500*time.Millisecond)
	var peak int // MB, looked at while the attack goes on
	watching, stopWatching := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for ; watching.Err() == nil; pause(watching, 200*time.Millisecond) {
			peak = max(peak, residentMB(st.PID()))
		}
	})
	h := &history{}
	watcher.Go(func() { write(watching, st, h, fmt.Sprintf("slow-%d", s.seed)) })
	during, err := readers(ctx, st, window)
	stopWatching()
	watcher.Wait()
	attackers.Wait()
	if err != nil {
		return "", err
	}
	arrived, err := h.check(ctx, st)
	if err != nil {
		return "", err
	}
	fullAfter, err := fullHouse(ctx, st, s.rounds(4500, 0))
	if err != nil {
		return "", err
	}

	p99Before, p99During := percentile(before, 0.99), percentile(during, 0.99)
	last := percentile(closedAfter, 1)
	figures := fmt.Sprintf("%d slow connections, p99 %s → %s, memory %+d MB, last closed after %s, left open %v; reports meanwhile: %s; %s",
		count, p99Before.Round(100*time.Microsecond), p99During.Round(100*time.Microsecond), peak-memoryBefore,
		last.Round(100*time.Millisecond), open, arrived, fullAfter)
	switch {
	case len(open) > 0 || last > 15*time.Second:
		return figures, fmt.Errorf("slow connections are not closed within 15 s")
	case peak-memoryBefore > 50:
		return figures, fmt.Errorf("slow connections cost more than 50 MB")
	case !s.short && p99During > 2*p99Before+2*time.Millisecond: // among other tests the time is theirs, too
		return figures, fmt.Errorf("others waited more than twice as long")
	}
	return figures, nil
}

// fullHouse opens more connections than the server holds, each of which has been answered once and then sits there, and
// says how long a visitor then waits for a page.
func fullHouse(ctx context.Context, st *stack.Stack, count int) (string, error) {
	if count == 0 {
		return "full house not tried", nil
	}
	address := stack.HostOf(st.Get("API_URL"))
	var guests []net.Conn
	defer func() {
		for _, g := range guests {
			g.Close()
		}
	}()
	answer := make([]byte, 4096)
	for range count {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return "", fmt.Errorf("connection %d of %d: %w", len(guests)+1, count, err)
		}
		guests = append(guests, conn)
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", address)
		if _, err := conn.Read(answer); err != nil {
			return "", fmt.Errorf("connection %d of %d is not answered: %w", len(guests), count, err)
		}
	}
	client.CloseIdleConnections()
	begun := time.Now()
	code, _ := get(ctx, st.Get("API_URL")+"/so/report/")
	took := time.Since(begun)
	if code != 200 || took > time.Second {
		return "", fmt.Errorf("with %d idle connections a visitor is answered %d after %s", count, code, took)
	}
	return fmt.Sprintf("with %d idle ones a visitor waits %s", count, took.Round(100*time.Microsecond)), nil
}

var slowKinds = []string{"header", "body", "reader", "reader with a small window", "upload"}

// slowClient holds one connection in one of five ways and says when the server ended it.
func slowClient(ctx context.Context, address string, kind int) (time.Duration, bool) {
	dialer := &net.Dialer{}
	if kind%5 == 3 {
		dialer.Control = smallWindow
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, true
	}
	defer conn.Close()
	begun := time.Now()
	switch kind % 5 {
	case 0: // a header that never ends
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n", address)
	case 1: // a body that never ends
		fmt.Fprintf(conn, "POST /functions/v1/submit-report HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", address)
	case 2, 3: // readers that ask again and again and read nothing; every second one lets the server send little
		return stalledReader(ctx, conn, address)
	case 4: // an upload that trickles
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

// stalledReader asks for far more than the kernel's buffers hold. Whether the server let go is seen by writing: reading
// would free its buffers.
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

// smallWindow has the kernel take little for a client that reads nothing.
func smallWindow(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
	})
	return errors.Join(err, failed)
}

// readers opens pages one after the other for a while, as four ordinary visitors, and says how long each took.
func readers(ctx context.Context, st *stack.Stack, howLong time.Duration) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var visitors sync.WaitGroup
	paths := []string{"/", "/so/learn/", "/resources/", "/rest/v1/resources?select=id,title&is_active=eq.true&apikey=" + st.Get("ANON_KEY")}
	for v := range 4 {
		visitors.Go(func() {
			for end := time.Now().Add(howLong); time.Now().Before(end) && ctx.Err() == nil; {
				begun := time.Now()
				code, _ := get(ctx, st.Get("API_URL")+paths[v])
				mu.Lock()
				all = append(all, time.Since(begun))
				if code != 200 {
					failed = fmt.Errorf("%s answered %d to an ordinary visitor", paths[v], code)
				}
				mu.Unlock()
				pause(ctx, 5*time.Millisecond)
			}
		})
	}
	visitors.Wait()
	return all, failed
}

// residentMB is the resident memory of a process in MB, from /proc; 0 where there is none.
func residentMB(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb / 1024
		}
	}
	return 0
}
