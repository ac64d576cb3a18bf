package gateway

import (
	"net/http"
	"net/netip"
	"sync"

	"daawo/supabase/internal/base/network"
)

// forwardedLimit limits the requests of one home line that are served at once and come through a
// trusted proxy. LimitListener cannot count its connections, because the proxy has them.
type forwardedLimit struct {
	limit    int
	mu       sync.Mutex
	inFlight map[netip.Addr]int
}

// begin counts a request of a line. It returns false if the line has too many.
func (l *forwardedLimit) begin(line netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight[line] >= l.limit {
		return false
	}
	l.inFlight[line]++
	return true
}

func (l *forwardedLimit) end(line netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight[line]--; l.inFlight[line] == 0 {
		delete(l.inFlight, line)
	}
}

// realtimeSocket is the path of Realtime's WebSocket.
const realtimeSocket = "/realtime/v1/websocket"

// limitForwarded applies the limit before sanitise removes what tells the client. It does not count
// Realtime's WebSockets, because Realtime has a limit of its own.
func (g *gateway) limitForwarded(next http.HandlerFunc) http.HandlerFunc {
	l := &forwardedLimit{limit: g.Limits.PerLine, inFlight: map[netip.Addr]int{}}
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.proxies.trustPeer(r) || r.URL.Path == realtimeSocket && r.Header.Get("Upgrade") != "" {
			next(w, r)
			return
		}
		client := g.proxies.client(r.Header.Values("X-Forwarded-For"))
		if !client.IsValid() {
			next(w, r)
			return
		}
		line := network.Home(client)
		if !l.begin(line) {
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusServiceUnavailable, "Too many concurrent requests from this address; retry later.")
			return
		}
		defer l.end(line)
		next(w, r)
	}
}
