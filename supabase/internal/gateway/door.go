package gateway

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// sendBuffer bounds what the kernel keeps of a reply that nobody takes, in bytes; Linux doubles it. Left to itself the
// kernel gives each connection up to 4 MB, so that a few hundred stalled readers use up the memory of all sockets. It
// still lets 10 Mbit/s through to a phone that is 100 ms away.
const sendBuffer = 64 << 10

// patience is how long a connection with a request may move next to nothing before it has to go for another one of its
// address that asks to come in: longer than a phone on a bad network needs to repeat what was lost.
const patience = 3 * time.Second

// Bounds are those of a Door.
type Bounds struct {
	Most    int            // connections at once
	Each    int            // of them from one address (of IPv6, one network of 64 bits); 0 means no bound
	Proxies []netip.Prefix // addresses that Each does not hold for: many clients come from one of them
}

// Door is the listener of a public port. It holds at most so many connections. When all places are taken, a newcomer gets
// the place of the connection that has been without a request for the longest time: whoever merely sits there cannot
// keep others out, and everybody else keeps the connection for the next page.
//
// One address has only so many of the places. When they are taken, a newcomer from there gets that of the address' own
// connection that has moved nothing for the longest time, if it is idle or beyond patience; else it is turned away.
//
// Its State must be the server's ConnState.
type Door struct {
	net.Listener
	bounds Bounds
	places chan struct{} // one token for each open connection
	sat    chan struct{} // told when a connection has become idle
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	patience time.Duration
	waiting  *list.List // guests without a request, the longest wait first
	of       map[netip.Addr]map[*guest]bool
}

// NewDoor bounds a listener.
func NewDoor(l net.Listener, b Bounds) *Door {
	return &Door{
		Listener: l, bounds: b, patience: patience,
		places: make(chan struct{}, b.Most), sat: make(chan struct{}, 1), closed: make(chan struct{}),
		waiting: list.New(), of: map[netip.Addr]map[*guest]bool{},
	}
}

// Accept waits for a connection that may come in, then for a place.
func (d *Door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g := &guest{Conn: conn, door: d, from: d.addressOf(conn)}
		g.last.Store(time.Now().UnixNano())
		if !d.register(g) {
			_ = conn.Close()
			continue
		}
		if !d.take() {
			d.strike(g)
			_ = conn.Close()
			return nil, net.ErrClosed
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer) // the kernel's own choice is a bound, too
		}
		return g, nil
	}
}

// addressOf is what a connection is counted by; the zero address is not counted.
func (d *Door) addressOf(conn net.Conn) netip.Addr {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || d.bounds.Each == 0 {
		return netip.Addr{}
	}
	address := peer.Addr().Unmap()
	for _, p := range d.bounds.Proxies {
		if p.Contains(address) {
			return netip.Addr{}
		}
	}
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().Addr()
	}
	return address
}

// register notes a newcomer under its address. It returns false when there are too many from there and all of them are
// being served.
func (d *Door) register(g *guest) bool {
	if !g.from.IsValid() {
		return true
	}
	d.mu.Lock()
	if len(d.of[g.from]) < d.bounds.Each {
		defer d.mu.Unlock()
		d.note(g)
		return true
	}
	stale := d.stalest(g.from)
	if stale == nil {
		d.mu.Unlock()
		return false
	}
	d.forget(stale)
	delete(d.of[g.from], stale)
	d.note(g)
	d.mu.Unlock()
	_ = stale.Close() // its server notices and ends it
	return true
}

func (d *Door) note(g *guest) {
	if d.of[g.from] == nil {
		d.of[g.from] = map[*guest]bool{}
	}
	d.of[g.from][g] = true
}

// strike takes a guest off the list of its address.
func (d *Door) strike(g *guest) {
	if !g.from.IsValid() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of[g.from], g)
	if len(d.of[g.from]) == 0 {
		delete(d.of, g.from)
	}
}

// stalest is the connection of an address that has the least claim to its place, nil when each has one.
func (d *Door) stalest(from netip.Addr) *guest {
	var stale *guest
	late := time.Now().Add(-d.patience).UnixNano()
	for g := range d.of[from] {
		last := g.last.Load()
		if (g.state == http.StateIdle || g.state != http.StateHijacked && last < late) && (stale == nil || last < stale.last.Load()) {
			stale = g
		}
	}
	return stale
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
	g := longest.Value.(*guest)
	d.forget(g)
	d.mu.Unlock()
	_ = g.Close() // its server notices and ends it
	return true
}

// Close stops listening; open connections stay.
func (d *Door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Listener.Close()
}

// State notes which connections are without a request.
func (d *Door) State(conn net.Conn, state http.ConnState) {
	g := guestOf(conn)
	if g == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(g)
	g.state = state
	g.last.Store(time.Now().UnixNano())
	if state == http.StateNew || state == http.StateIdle {
		g.waits = d.waiting.PushBack(g)
		select {
		case d.sat <- struct{}{}:
		default: // it has been told
		}
	}
}

func (d *Door) forget(g *guest) {
	if g.waits != nil {
		d.waiting.Remove(g.waits)
		g.waits = nil
	}
}
