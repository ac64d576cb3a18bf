package gateway

import (
	"container/list"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
)

// sendBuffer bounds what the kernel keeps of a reply that nobody takes, in bytes; Linux doubles it. Left to itself the
// kernel gives each connection up to 4 MB, so that a few hundred stalled readers use up the memory of all sockets. It
// still lets 10 Mbit/s through to a phone that is 100 ms away.
const sendBuffer = 64 << 10

// Door is the listener of a public port. It holds at most so many connections. When all places are taken, a newcomer gets
// the place of the connection that has been without a request for the longest time: whoever merely sits there cannot
// keep others out, and everybody else keeps the connection for the next page.
//
// Its State must be the server's ConnState.
type Door struct {
	net.Listener
	places chan struct{} // one token for each open connection
	sat    chan struct{} // told when a connection has become idle
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	waiting *list.List // connections without a request, the longest wait first
	at      map[net.Conn]*list.Element
}

// NewDoor bounds a listener to most connections.
func NewDoor(l net.Listener, most int) *Door {
	return &Door{
		Listener: l, places: make(chan struct{}, most), sat: make(chan struct{}, 1), closed: make(chan struct{}),
		waiting: list.New(), at: map[net.Conn]*list.Element{},
	}
}

// Accept waits for a place, then for a connection.
func (d *Door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !d.take() {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // the kernel's own choice is a bound, too
	}
	return &guest{Conn: conn, leave: sync.OnceFunc(func() { <-d.places })}, nil
}

// take gets a place, if need be that of the connection that has waited longest. While every connection has a request it
// waits: each request is bounded in time. It returns false when the door is closed.
func (d *Door) take() bool {
	for {
		select {
		case d.places <- struct{}{}:
			return true
		default:
		}
		if d.sendAway() {
			continue
		}
		select {
		case d.places <- struct{}{}:
			return true
		case <-d.sat: // somebody has become idle
		case <-d.closed:
			return false
		}
	}
}

// sendAway closes the connection that has waited longest, if any waits.
func (d *Door) sendAway() bool {
	d.mu.Lock()
	longest := d.waiting.Front()
	if longest == nil {
		d.mu.Unlock()
		return false
	}
	conn := longest.Value.(net.Conn)
	d.forget(conn)
	d.mu.Unlock()
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // without the farewell, which would wait for the client to take it
	}
	_ = conn.Close() // its server notices and ends it
	return true
}

// Close stops listening; open connections stay.
func (d *Door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Listener.Close()
}

// State notes which connections are without a request.
func (d *Door) State(conn net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(conn)
	if state == http.StateNew || state == http.StateIdle {
		d.at[conn] = d.waiting.PushBack(conn)
		select {
		case d.sat <- struct{}{}:
		default: // it has been told
		}
	}
}

func (d *Door) forget(conn net.Conn) {
	if e, ok := d.at[conn]; ok {
		d.waiting.Remove(e)
		delete(d.at, conn)
	}
}

// guest gives its place back when it is closed.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	err := g.Conn.Close()
	g.leave()
	return err
}

// CloseWrite lets the server say its last word to a client that is still sending.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ReadFrom lets the kernel copy files to the connection.
func (g *guest) ReadFrom(src io.Reader) (int64, error) {
	if below, ok := g.Conn.(io.ReaderFrom); ok {
		return below.ReadFrom(src)
	}
	return io.Copy(struct{ io.Writer }{g.Conn}, src)
}
