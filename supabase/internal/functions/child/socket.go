package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"syscall"
)

const (
	idleSockets  = 64       // connections kept for the next calls
	briefBody    = 4 << 10  // bytes of a body that is sent before the reply is read
	replyHeaders = 10 << 20 // bytes of a reply's headers, as in http.Transport
	earlyReplies = 5        // replies such as 103 before the final one, as in http.Transport
)

// socketTransport is an http.RoundTripper for the process behind a Unix socket. The goroutine of
// the caller writes the request and reads the reply. http.Transport has two further goroutines for
// each connection, and their wake-ups double the time of a short call.
type socketTransport struct {
	path string

	mu   sync.Mutex
	idle []*socketConn
}

// socketConn is a connection to the process. Its reader ends after left bytes, which bounds the
// headers of a reply.
type socketConn struct {
	net.Conn
	raw    syscall.RawConn
	reader *bufio.Reader
	writer *bufio.Writer
	left   int64
}

// RoundTrip sends a request and returns its reply. A request that may have reached the process is
// not sent again.
func (t *socketTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := t.acquire(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	leave := context.AfterFunc(r.Context(), func() { _ = c.Close() })
	written := c.send(r)
	res, err := c.receive(r)
	if err != nil {
		leave()
		_ = c.Close()
		if cause := context.Cause(r.Context()); cause != nil {
			return nil, cause
		}
		select {
		case sending := <-written:
			return nil, errors.Join(sending, err)
		default:
			return nil, err
		}
	}
	finish := c.finisher(t, leave, written, !res.Close)
	switch {
	case res.StatusCode == http.StatusSwitchingProtocols:
		res.Body = &switchedBody{c, leave}
	case res.Body == http.NoBody:
		finish(true)
	default:
		arrived := 0 <= res.ContentLength && res.ContentLength <= int64(c.reader.Buffered())
		res.Body = &socketBody{res.Body, finish, arrived}
	}
	return res, nil
}

// acquire returns an idle connection that the process has not closed, or a new one.
func (t *socketTransport) acquire(ctx context.Context) (*socketConn, error) {
	for {
		t.mu.Lock()
		last := len(t.idle) - 1
		if last < 0 {
			t.mu.Unlock()
			break
		}
		c := t.idle[last]
		t.idle = t.idle[:last]
		t.mu.Unlock()
		if c.alive() {
			return c, nil
		}
		_ = c.Close()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", t.path)
	if err != nil {
		return nil, err
	}
	c := &socketConn{Conn: conn}
	if c.raw, err = conn.(*net.UnixConn).SyscallConn(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	c.reader, c.writer = bufio.NewReader(c), bufio.NewWriter(conn)
	return c, nil
}

// release keeps a connection for the next call.
func (t *socketTransport) release(c *socketConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.idle) >= idleSockets {
		_ = c.Close()
		return
	}
	t.idle = append(t.idle, c)
}

// CloseIdleConnections closes the connections without a call.
func (t *socketTransport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.idle {
		_ = c.Close()
	}
	t.idle = nil
}

// alive reports whether an idle connection is open: there is nothing to read, not even its end.
func (c *socketConn) alive() bool {
	open := false
	err := c.raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		open = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && open
}

// Read reads at most left bytes.
func (c *socketConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the reply has more than %d bytes of headers", replyHeaders)
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// send writes the request. The channel then has the result. A body that is long or of unknown
// length (0 beside a Body) is sent while the reply is read, since the process can reply before it
// has read the body.
func (c *socketConn) send(r *http.Request) <-chan error {
	written := make(chan error, 1)
	write := func() {
		err := r.Write(c.writer)
		if err == nil {
			err = c.writer.Flush()
		}
		written <- err
	}
	if r.Body == nil || r.Body == http.NoBody || 0 < r.ContentLength && r.ContentLength <= briefBody {
		write()
	} else {
		go write()
	}
	return written
}

// receive reads the head of the final reply and tells the request's trace of those before it, such
// as 103.
func (c *socketConn) receive(r *http.Request) (*http.Response, error) {
	c.left = replyHeaders
	defer func() { c.left = math.MaxInt64 }()
	trace := httptrace.ContextClientTrace(r.Context())
	for range earlyReplies {
		res, err := http.ReadResponse(c.reader, r)
		if err != nil {
			return nil, err
		}
		if res.StatusCode >= http.StatusOK || res.StatusCode == http.StatusSwitchingProtocols {
			return res, nil
		}
		if trace != nil && trace.Got1xxResponse != nil {
			if err := trace.Got1xxResponse(res.StatusCode, textproto.MIMEHeader(res.Header)); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("more than %d replies before the final one", earlyReplies)
}

// finisher returns a function for the end of a reply, whole or given up, which has an effect once.
// Only after a whole request and a whole reply another call can use the connection.
func (c *socketConn) finisher(t *socketTransport, leave func() bool, written <-chan error, keep bool) func(whole bool) {
	var once sync.Once
	return func(whole bool) {
		once.Do(func() {
			open := leave()
			select {
			case err := <-written:
				if open && whole && keep && err == nil && c.reader.Buffered() == 0 {
					t.release(c)
					return
				}
			default: // the process replied before it had read the whole body
			}
			_ = c.Close()
		})
	}
}

// copyBuffers are the buffers through which a ReverseProxy copies replies.
var copyBuffers bufferPool

type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) Get() []byte {
	if b, ok := p.pool.Get().(*[32 << 10]byte); ok {
		return b[:]
	}
	return make([]byte, 32<<10)
}

func (p *bufferPool) Put(b []byte) { p.pool.Put((*[32 << 10]byte)(b)) }

// socketBody is the body of a reply.
type socketBody struct {
	body    io.Reader
	finish  func(whole bool)
	arrived bool // the whole body was received with the head
}

func (b *socketBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil {
		b.finish(errors.Is(err, io.EOF))
	}
	return n, err
}

// Close gives the rest of the body up.
func (b *socketBody) Close() error {
	b.finish(false)
	return nil
}

// switchedBody is the connection after a switch of protocols, such as a WebSocket's.
type switchedBody struct {
	*socketConn
	leave func() bool
}

func (b *switchedBody) Read(p []byte) (int, error) { return b.reader.Read(p) }

func (b *switchedBody) Close() error {
	b.leave()
	return b.socketConn.Close()
}
