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

// pipes is a listener whose connections are pipes, so that their time is the test's.
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

// inPipe posts a body that send writes to a gateway with its own limits, and gives the reply's status line and the time
// until it came.
func inPipe(t *testing.T, service http.HandlerFunc, length int, send func(io.Writer)) (line string, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: testGateway(func(o *Options) { o.Storage = service })}
		go func() { _ = server.Serve(p) }()
		here, there := net.Pipe()
		p.conns <- there
		begun := time.Now()
		go func() {
			fmt.Fprintf(here, "POST /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
			send(here)
		}()
		line, _ = bufio.NewReader(here).ReadString('\n')
		took = time.Since(begun)
		_ = here.Close()
		_ = server.Close()
		time.Sleep(time.Minute) // whatever the server and the sender still wait for
	})
	return strings.TrimSpace(line), took
}

// steps writes piece, then waits, over and over until the connection is gone or n pieces are sent.
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

// TestAFastBeginningSavesNoTime: a client that sent much at once may not trickle the rest for hours.
func TestAFastBeginningSavesNoTime(t *testing.T) {
	line, took := inPipe(t, readAll, 2<<20, func(w io.Writer) {
		steps(1, strings.Repeat("x", 1<<20), 0)(w)
		steps(10_000, "x", time.Second)(w)
	})
	if !strings.Contains(line, "408") || took > 12*time.Second {
		t.Errorf("it got %q after %v", line, took)
	}
}

// TestASlowPhoneIsServed: 512 bytes a second are enough for a report with a small photo, through nine seconds without any.
func TestASlowPhoneIsServed(t *testing.T) {
	const pieces = 400
	line, took := inPipe(t, readAll, pieces*512, func(w io.Writer) {
		steps(pieces/2, strings.Repeat("x", 512), 999*time.Millisecond)(w)
		time.Sleep(9 * time.Second)
		steps(pieces/2, strings.Repeat("x", 512), 999*time.Millisecond)(w)
	})
	if !strings.Contains(line, "200") || took < 6*time.Minute {
		t.Errorf("it got %q after %v", line, took)
	}
}

// TestASlowServiceIsNotTheClientsFault: the time in which nobody reads does not count against who sends.
func TestASlowServiceIsNotTheClientsFault(t *testing.T) {
	line, _ := inPipe(t, func(w http.ResponseWriter, r *http.Request) {
		for part := make([]byte, 1000); ; time.Sleep(time.Minute) {
			if _, err := io.ReadFull(r.Body, part); err != nil {
				break
			}
		}
		readAll(w, r)
	}, 100_000, steps(1, strings.Repeat("x", 100_000), 0))
	if !strings.Contains(line, "200") {
		t.Errorf("it got %q", line)
	}
}
