package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of net.Pipe connections, for tests with synthetic time.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.ended); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// postInPipe posts a body that send writes to a gateway with the default limits. It returns the status line of the reply and
// the time until it arrived.
func postInPipe(t *testing.T, service http.HandlerFunc, length int, send func(io.Writer)) (line string, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: testGateway(func(o *Options) { o.Storage = service })}
		go func() { _ = server.Serve(p) }()
		here, there := net.Pipe()
		p.conns <- there
		start := time.Now()
		go func() {
			fmt.Fprintf(here, "POST /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
			send(here)
		}()
		line, _ = bufio.NewReader(here).ReadString('\n')
		took = time.Since(start)
		_ = here.Close()
		_ = server.Close()
		time.Sleep(time.Minute) // until the server and the sender have ended
	})
	return strings.TrimSpace(line), took
}

// steps writes piece n times with a pause after each. It stops when the connection fails.
func steps(n int, piece string, gap time.Duration) func(io.Writer) {
	return func(w io.Writer) {
		for range n {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			time.Sleep(gap)
		}
	}
}

// TestInitialBurstEarnsNoCredit: after a fast start a client may not trickle the rest.
func TestInitialBurstEarnsNoCredit(t *testing.T) {
	line, took := postInPipe(t, readAll, 2<<20, func(w io.Writer) {
		steps(1, strings.Repeat("x", 1<<20), 0)(w)
		steps(10_000, "x", time.Second)(w)
	})
	if !strings.Contains(line, "408") || took > 12*time.Second {
		t.Errorf("got %q after %v", line, took)
	}
}

// TestSlowClientIsServed: 512 bytes per second are enough, also with a pause of nine seconds.
func TestSlowClientIsServed(t *testing.T) {
	const pieces = 400
	line, took := postInPipe(t, readAll, pieces*512, func(w io.Writer) {
		steps(pieces/2, strings.Repeat("x", 512), 999*time.Millisecond)(w)
		time.Sleep(9 * time.Second)
		steps(pieces/2, strings.Repeat("x", 512), 999*time.Millisecond)(w)
	})
	if !strings.Contains(line, "200") || took < 6*time.Minute {
		t.Errorf("got %q after %v", line, took)
	}
}

// TestSlowServiceIsNotCounted: time in which the service does not read does not count against the client.
func TestSlowServiceIsNotCounted(t *testing.T) {
	line, _ := postInPipe(t, func(w http.ResponseWriter, r *http.Request) {
		for part := make([]byte, 1000); ; time.Sleep(time.Minute) {
			if _, err := io.ReadFull(r.Body, part); err != nil {
				break
			}
		}
		readAll(w, r)
	}, 100_000, steps(1, strings.Repeat("x", 100_000), 0))
	if !strings.Contains(line, "200") {
		t.Errorf("got %q", line)
	}
}

// TestReplyBeforeBody replies while another goroutine of the service still reads the body, as a proxy does. The race
// detector checks that the two may run together.
func TestReplyBeforeBody(t *testing.T) {
	service := func(w http.ResponseWriter, r *http.Request) {
		begun := make(chan struct{})
		go func() {
			_, _ = r.Body.Read(make([]byte, 1))
			close(begun)
			_, _ = io.Copy(io.Discard, r.Body)
		}()
		<-begun
		w.WriteHeader(http.StatusNoContent)
	}
	line, _ := postInPipe(t, service, 1<<20, steps(1<<10, strings.Repeat("x", 1<<10), 0))
	if line != "HTTP/1.1 204 No Content" {
		t.Errorf("got %q", line)
	}
}
