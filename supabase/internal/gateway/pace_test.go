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

// inPipes serves a gateway on pipes in synthetic time, and calls work with a function that opens a
// connection.
func inPipes(t *testing.T, change func(*Options), work func(dial func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: testGateway(change)}
		go func() { _ = server.Serve(p) }()
		var all []net.Conn
		work(func() net.Conn {
			here, there := net.Pipe()
			p.conns <- there
			all = append(all, here)
			return here
		})
		for _, conn := range all {
			_ = conn.Close()
		}
		_ = server.Close()
		time.Sleep(time.Minute) // until the server and the senders have ended
	})
}

// postInPipe posts a body that send writes to a gateway with the default limits. It returns the
// reply until the gateway closes the connection, or only its status line without untilClosed, and
// the time until it arrived.
func postInPipe(t *testing.T, service http.HandlerFunc, length int, untilClosed bool,
	send func(io.Writer)) (reply string, took time.Duration) {
	inPipes(t, func(o *Options) { o.Storage = service }, func(dial func() net.Conn) {
		conn := dial()
		start := time.Now()
		go func() {
			fmt.Fprintf(conn, "POST /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
			send(conn)
		}()
		if untilClosed {
			all, _ := io.ReadAll(conn) // an aborted connection is closed as well
			reply = string(all)
		} else {
			reply, _ = bufio.NewReader(conn).ReadString('\n')
		}
		took = time.Since(start)
	})
	return strings.TrimSpace(reply), took
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
	line, took := postInPipe(t, readAll, 2<<20, false, func(w io.Writer) {
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
	line, took := postInPipe(t, readAll, pieces*512, false, func(w io.Writer) {
		steps(pieces/2, strings.Repeat("x", 512), 999*time.Millisecond)(w)
		time.Sleep(9 * time.Second)
		steps(pieces/2, strings.Repeat("x", 512), 999*time.Millisecond)(w)
	})
	if !strings.Contains(line, "200") || took < 6*time.Minute {
		t.Errorf("got %q after %v", line, took)
	}
}

// TestSlowServiceIsNotCounted: time in which the service does not read does not count against the
// client.
func TestSlowServiceIsNotCounted(t *testing.T) {
	line, _ := postInPipe(t, func(w http.ResponseWriter, r *http.Request) {
		for part := make([]byte, 1000); ; time.Sleep(time.Minute) {
			if _, err := io.ReadFull(r.Body, part); err != nil {
				break
			}
		}
		readAll(w, r)
	}, 100_000, false, steps(1, strings.Repeat("x", 100_000), 0))
	if !strings.Contains(line, "200") {
		t.Errorf("got %q", line)
	}
}

// TestReplyBeforeBody replies while another goroutine of the service still reads the body, as a
// proxy does. The race detector checks that the two may run together.
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
	line, _ := postInPipe(t, service, 1<<20, false, steps(1<<10, strings.Repeat("x", 1<<10), 0))
	if line != "HTTP/1.1 204 No Content" {
		t.Errorf("got %q", line)
	}
}

// TestSlowBody: a trickling client gets 408.
func TestSlowBody(t *testing.T) {
	line, took := postInPipe(t, readAll, 100_000, false, steps(100_000, "x", time.Second))
	if !strings.Contains(line, "408") || took > 12*time.Second {
		t.Errorf("got %q after %v", line, took)
	}
}

// TestStoppedBody: a body that stops is aborted after one stall, even after a fast start.
func TestStoppedBody(t *testing.T) {
	reply, took := postInPipe(t, readAll, 1_000_000, true, steps(1, strings.Repeat("x", 100_000), 0))
	if !strings.Contains(reply, "408") || took > 12*time.Second {
		t.Errorf("got %q after %v", reply, took)
	}
}

// TestUnreadBodyIsPaced: the pace also holds when a service replies without reading the body,
// because net/http then reads the rest.
func TestUnreadBodyIsPaced(t *testing.T) {
	for _, text := range []string{"short", strings.Repeat("long ", 10_000)} {
		_, took := postInPipe(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }, 100_000, true,
			steps(100_000, "x", time.Second))
		if took > 12*time.Second {
			t.Errorf("the connection is open for %v", took)
		}
	}
}

// TestSlowReply: a reply with a long pause arrives, although every write has a deadline.
func TestSlowReply(t *testing.T) {
	reply, _ := postInPipe(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "started ")
		w.(http.Flusher).Flush()
		select {
		case <-time.After(30 * time.Second): // three times the stall
		case <-r.Context().Done():
			fmt.Fprint(w, "aborted ")
		}
		fmt.Fprint(w, "ended")
	}, 1, true, steps(1, "x", 0))
	if !strings.Contains(reply, "started ") || !strings.Contains(reply, "ended") || strings.Contains(reply, "aborted") {
		t.Errorf("got %q", reply)
	}
}
