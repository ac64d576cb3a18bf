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

// progress is how many bytes a connection must have moved to count as moving.
const progress = 512

// guest is a connection that came in by a Door. It gives its place back when it is closed.
type guest struct {
	net.Conn
	door *Door
	from netip.Addr // zero when its address is not counted
	gone sync.Once

	last atomic.Int64 // when it last moved something or changed its state, in ns since 1970
	sum  atomic.Int64 // bytes since then

	// Guarded by the door.
	state http.ConnState
	waits *list.Element // its place among those without a request
}

// guestOf finds the guest below what the server knows of a connection.
func guestOf(conn net.Conn) *guest {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	g, _ := conn.(*guest)
	return g
}

// Close ends the connection without the farewell of TLS, which would wait for the client to take it.
func (g *guest) Close() error {
	err := g.Conn.Close()
	g.gone.Do(func() {
		g.door.strike(g)
		<-g.door.places
	})
	return err
}

func (g *guest) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.moved(int64(n))
	return n, err
}

func (g *guest) Write(p []byte) (int, error) {
	n, err := g.Conn.Write(p)
	g.moved(int64(n))
	return n, err
}

func (g *guest) moved(n int64) {
	if g.sum.Add(n) >= progress {
		g.sum.Store(0)
		g.last.Store(time.Now().UnixNano())
	}
}

// CloseWrite lets the server say its last word to a client that is still sending.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ReadFrom lets the kernel copy files to the connection.
func (g *guest) ReadFrom(src io.Reader) (n int64, err error) {
	if below, ok := g.Conn.(io.ReaderFrom); ok {
		n, err = below.ReadFrom(src)
	} else {
		n, err = io.Copy(struct{ io.Writer }{g.Conn}, src)
	}
	g.moved(n)
	return n, err
}
