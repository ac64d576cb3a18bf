package gateway

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/base/memory"
	"daawo/supabase/internal/base/network"
)

// sendBuffer limits how many bytes of a reply the kernel buffers for a client that does not read;
// Linux doubles it. The kernel's default is up to 4 MB per connection, so a few hundred stalled
// readers would use up the socket memory. 64 KB still allow 10 Mbit/s at 100 ms latency.
const sendBuffer = 64 << 10

// staleAfter is how long a connection with a request may stall before a new connection from its
// address may replace it. It is longer than a phone on a bad network needs to retransmit lost
// packets.
const staleAfter = 3 * time.Second

// ConnLimits are the limits of a LimitListener.
type ConnLimits struct {
	Total int // open connections
	// PerAddress is the number of open connections from one address (IPv6: the /56 network of a
	// home line), and of its WebSockets apart from them; 0 means no limit.
	PerAddress int
	Proxies    []netip.Prefix // addresses without the limit PerAddress, because they forward many clients
}

// limitListener is the listener of a public port. It limits the number of open connections, so that
// idle clients cannot lock others out.
type limitListener struct {
	net.Listener
	limits ConnLimits
	slots  chan struct{} // one token for each open connection
	idled  chan struct{} // receives when a connection has become idle
	closed chan struct{}
	once   sync.Once

	crowded atomic.Bool // many connections are open

	mu         sync.Mutex
	hijacked   int // open connections without a server
	staleAfter time.Duration
	idle       *list.List // connections without a request, the longest idle first
	byAddress  map[netip.Addr][]*conn
	sockets    map[netip.Addr]int // WebSockets, which byAddress does not have
}

// Listener is a listener that limits its open connections.
type Listener interface {
	net.Listener
	// ConnState must be the ConnState of the listener's http.Server.
	ConnState(net.Conn, http.ConnState)
	// StopAccepting closes the listener. A connection that it has already taken from the kernel is
	// still served.
	StopAccepting()
	// AwaitQuiet waits until all connections have ended, except hijacked ones, or until ctx ends.
	// It closes a connection that has had no request for quiet. Call it after StopAccepting.
	AwaitQuiet(ctx context.Context, quiet time.Duration)
}

// LimitListener returns a listener that limits the open connections of l.
//
// When Total is reached, a new connection replaces the connection that has been idle for the
// longest time. If every connection has a request, Accept waits. When PerAddress is reached, a new
// connection replaces the connection of the same address that has been without progress for the
// longest time, if that connection is idle or has stalled for 3 s. Otherwise the new connection is
// closed.
func LimitListener(l net.Listener, limits ConnLimits) Listener { return newLimitListener(l, limits) }

func newLimitListener(l net.Listener, limits ConnLimits) *limitListener {
	return &limitListener{
		Listener: l, limits: limits, staleAfter: staleAfter,
		slots: make(chan struct{}, limits.Total), idled: make(chan struct{}, 1), closed: make(chan struct{}),
		idle: list.New(), byAddress: map[netip.Addr][]*conn{}, sockets: map[netip.Addr]int{},
	}
}

// Accept waits for a connection that its address may open, then for a free slot.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: accepted, listener: l, address: l.countedAddress(accepted)}
		c.progressed.Store(time.Now().UnixNano())
		if !l.register(c) {
			_ = accepted.Close()
			continue
		}
		if !l.acquireSlot() {
			l.deregister(c)
			_ = accepted.Close()
			return nil, net.ErrClosed
		}
		l.watchCrowd()
		if tcp, ok := accepted.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer) // on failure the kernel's default applies
		}
		return c, nil
	}
}

// crowd is the number of open connections from which on their memory counts.
const crowd = 512

// watchCrowd lets less garbage gather while many connections are open, until half of them are
// closed.
func (l *limitListener) watchCrowd() {
	open, before := len(l.slots), l.crowded.Load()
	if now := open > crowd || before && open > crowd/2; now != before && l.crowded.CompareAndSwap(before, now) {
		memory.Crowd(l.crowded.Load)
	}
}

// countedAddress returns the address that a connection counts for. The zero address is not counted.
func (l *limitListener) countedAddress(c net.Conn) netip.Addr {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil || l.limits.PerAddress == 0 {
		return netip.Addr{}
	}
	address := peer.Addr().Unmap()
	if trustedProxies(l.limits.Proxies).contain(address) {
		return netip.Addr{}
	}
	return network.Home(address)
}

// register counts a connection for its address. It returns false if the address has too many
// connections and none of them can be replaced.
func (l *limitListener) register(c *conn) bool {
	if !c.address.IsValid() {
		return true
	}
	l.mu.Lock()
	if len(l.byAddress[c.address]) < l.limits.PerAddress {
		defer l.mu.Unlock()
		l.count(c)
		return true
	}
	stale := l.stalest(c.address)
	if stale == nil {
		l.mu.Unlock()
		return false
	}
	l.removeIdle(stale)
	l.discount(stale)
	l.count(c)
	l.mu.Unlock()
	_ = stale.Close() // its server notices and ends it
	return true
}

func (l *limitListener) count(c *conn) {
	l.byAddress[c.address] = append(l.byAddress[c.address], c)
}

// discount undoes count. The lock is held.
func (l *limitListener) discount(c *conn) {
	left := l.byAddress[c.address]
	if i := slices.Index(left, c); i >= 0 {
		left = slices.Delete(left, i, i+1)
	}
	if len(left) == 0 {
		delete(l.byAddress, c.address)
		return
	}
	l.byAddress[c.address] = left
}

// countSocket counts a connection that became a WebSocket apart from those with requests, so that
// sockets leave an address its requests. It returns false if the address has too many sockets. The
// lock is held.
func (l *limitListener) countSocket(c *conn) bool {
	if !c.address.IsValid() {
		return true
	}
	l.discount(c)
	if l.sockets[c.address] >= l.limits.PerAddress {
		return false
	}
	l.sockets[c.address]++
	c.socket = true
	return true
}

// deregister undoes register and countSocket.
func (l *limitListener) deregister(c *conn) {
	if !c.address.IsValid() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.discount(c)
	if !c.socket {
		return
	}
	c.socket = false
	if l.sockets[c.address]--; l.sockets[c.address] == 0 {
		delete(l.sockets, c.address)
	}
}

// stalest returns the idle or stalled connection of an address that has been without progress for
// the longest time, or nil.
func (l *limitListener) stalest(address netip.Addr) *conn {
	var stalest *conn
	limit := time.Now().Add(-l.staleAfter).UnixNano()
	for _, c := range l.byAddress[address] {
		last := c.progressed.Load()
		if (c.state == http.StateIdle || c.state != http.StateHijacked && last < limit) &&
			(stalest == nil || last < stalest.progressed.Load()) {
			stalest = c
		}
	}
	return stalest
}

// acquireSlot takes a slot, if necessary from the connection that has been idle for the longest
// time. While every connection has a request it waits; each request is limited in time. It returns
// false after Close.
func (l *limitListener) acquireSlot() bool {
	for {
		select {
		case l.slots <- struct{}{}:
			return true
		default:
		}
		if l.closeIdle() {
			continue
		}
		select {
		case l.slots <- struct{}{}:
			return true
		case <-l.idled:
		case <-l.closed:
			return false
		}
	}
}

// closeIdle closes the connection that has been idle for the longest time. It returns false if no
// connection is idle.
func (l *limitListener) closeIdle() bool {
	l.mu.Lock()
	longest := l.idle.Front()
	if longest == nil {
		l.mu.Unlock()
		return false
	}
	c := longest.Value.(*conn)
	l.removeIdle(c)
	l.mu.Unlock()
	_ = c.Close() // its server notices and ends it
	return true
}

// Close stops listening. Open connections stay open.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// StopAccepting is part of Listener. It does not wake up Accept from its wait for a slot, because
// that has a connection.
func (l *limitListener) StopAccepting() { _ = l.Listener.Close() }

// quietPoll is how often AwaitQuiet looks.
const quietPoll = 20 * time.Millisecond

// AwaitQuiet is part of Listener.
func (l *limitListener) AwaitQuiet(ctx context.Context, quiet time.Duration) {
	// a client may be about to use a connection that it got just now, however long it was idle
	// before
	since := time.Now()
	for {
		l.mu.Lock()
		open := len(l.slots) - l.hijacked
		var ended []*conn
		for e := l.idle.Front(); e != nil; e = e.Next() {
			c := e.Value.(*conn)
			last := since
			if progressed := time.Unix(0, c.progressed.Load()); progressed.After(last) {
				last = progressed
			}
			if time.Since(last) > quiet {
				ended = append(ended, c)
			}
		}
		for _, c := range ended {
			l.removeIdle(c)
		}
		l.mu.Unlock()
		for _, c := range ended {
			_ = c.Close() // its server notices and ends it
		}
		if open <= 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(quietPoll):
		}
	}
}

// ConnState records which connections are idle.
func (l *limitListener) ConnState(served net.Conn, state http.ConnState) {
	c := connOf(served)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeIdle(c)
	if state == http.StateHijacked {
		if c.ended { // it stalled in its handshake and was replaced
			return
		}
		l.hijacked++
		if !l.countSocket(c) {
			go func() { _ = c.Close() }() // takes the lock
		}
	}
	c.state = state
	c.progressed.Store(time.Now().UnixNano())
	if state == http.StateNew || state == http.StateIdle {
		c.idle = l.idle.PushBack(c)
		select {
		case l.idled <- struct{}{}:
		default: // a signal is already pending
		}
	}
}

func (l *limitListener) removeIdle(c *conn) {
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
}
