package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
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

	count := s.rounds(2000, 300)
	attack, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var attackers sync.WaitGroup
	var mu sync.Mutex
	var closedAfter []time.Duration
	var open int
	for i := range count {
		attackers.Go(func() {
			d, closed := slowClient(attack, strings.TrimPrefix(st.Get("API_URL"), "http://"), i)
			mu.Lock()
			defer mu.Unlock()
			if closed {
				closedAfter = append(closedAfter, d)
			} else {
				open++
			}
		})
	}
	pause(ctx, 500*time.Millisecond)
	during, err := readers(ctx, st, window)
	memoryDuring := residentMB(st.PID())
	attackers.Wait()
	if err != nil {
		return "", err
	}

	p99Before, p99During := percentile(before, 0.99), percentile(during, 0.99)
	last := percentile(closedAfter, 1)
	figures := fmt.Sprintf("%d slow connections, p99 %s → %s, memory %+d MB, last closed after %s, left open %d",
		count, p99Before.Round(100*time.Microsecond), p99During.Round(100*time.Microsecond), memoryDuring-memoryBefore,
		last.Round(time.Second), open)
	switch {
	case open > 0 || last > 16*time.Second:
		return figures, fmt.Errorf("slow connections are not closed within 15 s")
	case memoryDuring-memoryBefore > 50:
		return figures, fmt.Errorf("slow connections cost more than 50 MB")
	case p99During > 2*p99Before+2*time.Millisecond:
		return figures, fmt.Errorf("others waited more than twice as long")
	}
	return figures, nil
}

// slowClient holds one connection in one of three ways and says when the server ended it.
func slowClient(ctx context.Context, address string, kind int) (time.Duration, bool) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, true
	}
	defer conn.Close()
	begun := time.Now()
	switch kind % 3 {
	case 0: // a header that never ends
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n", address)
	case 1: // a body that never ends
		fmt.Fprintf(conn, "POST /functions/v1/submit-report HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", address)
	case 2: // a reader that asks again and again and reads nothing
		request := fmt.Sprintf("GET /report/ HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: identity\r\n\r\n", address)
		_ = conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
		_, _ = io.WriteString(conn, strings.Repeat(request, 400))
		// Whether the server let go is seen by writing: reading would free its buffers.
		for ctx.Err() == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := conn.Write([]byte("G")); err != nil && !os.IsTimeout(err) {
				return time.Since(begun), true
			}
			pause(ctx, 400*time.Millisecond)
		}
		return 0, false
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
