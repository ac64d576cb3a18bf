package gateway

import (
	"container/list"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// minProgress is how many bytes a connection must move to count as making progress.
const minProgress = 512

// conn is a connection of a limitListener. Close releases its slot.
type conn struct {
	net.Conn
	listener *limitListener
	address  netip.Addr // zero if the address is not counted
	once     sync.Once

	progressed atomic.Int64 // time of the last progress or change of state, in ns since 1970
	moved      atomic.Int64 // bytes since then

	// Guarded by listener.mu.
	state  http.ConnState
	socket bool          // counted in listener.sockets
	ended  bool          // Close has begun
	idle   *list.Element // in listener.idle; nil while the connection has a request
}

// connOf returns the conn below a connection of an http.Server, or nil.
func connOf(served net.Conn) *conn {
	if secure, ok := served.(*tls.Conn); ok {
		served = secure.NetConn()
	}
	c, _ := served.(*conn)
	return c
}

// Close closes the connection without TLS close_notify, which would wait for a client that does not
// read.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.listener.mu.Lock()
		c.ended = true
		c.listener.mu.Unlock()
		c.listener.deregister(c)
		c.listener.mu.Lock()
		if c.state == http.StateHijacked {
			c.listener.hijacked--
		}
		<-c.listener.slots
		c.listener.mu.Unlock()
		c.listener.watchCrowd()
	})
	return err
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.move(int64(n))
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.move(int64(n))
	return n, err
}

// move counts n bytes as progress.
func (c *conn) move(n int64) {
	if c.moved.Add(n) >= minProgress {
		c.moved.Store(0)
		c.progressed.Store(time.Now().UnixNano())
	}
}

// CloseWrite lets the server send its last reply to a client that is still sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ReadFrom lets the kernel copy files to the connection (sendfile).
func (c *conn) ReadFrom(src io.Reader) (n int64, err error) {
	if below, ok := c.Conn.(io.ReaderFrom); ok {
		n, err = below.ReadFrom(src)
	} else {
		n, err = io.Copy(struct{ io.Writer }{c.Conn}, src)
	}
	c.move(n)
	return n, err
}
