package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/network"
)

// trustedProxies are the peers with trusted X-Forwarded-* headers.
type trustedProxies []netip.Prefix

func (p trustedProxies) contain(address netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// trustPeer reports whether the peer of a request is a trusted proxy.
func (p trustedProxies) trustPeer(r *http.Request) bool {
	if len(p) == 0 {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && p.contain(peer.Addr().Unmap())
}

// client walks the chain in X-Forwarded-For from the nearest hop and returns the first address that
// is not a trusted proxy.
func (p trustedProxies) client(forwardedFor []string) netip.Addr {
	hops := strings.Split(strings.Join(forwardedFor, ","), ",")
	var client netip.Addr
	for i := len(hops) - 1; i >= 0; i-- {
		address, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		if client = address.Unmap(); !p.contain(client) {
			break
		}
	}
	return client
}

// clientKey identifies a client by its address, or by its network for IPv6. RemoteAddr must be the
// client's address, as setForwarded leaves it. The key is kept in memory only, for the time window
// of a limit.
func clientKey(r *http.Request) (string, error) {
	return network.Client(hostOf(r.RemoteAddr)), nil
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// homeKey returns the network of the client's line, see network.Home and clientKey.
func homeKey(r *http.Request) string {
	host := hostOf(r.RemoteAddr)
	if address, err := netip.ParseAddr(host); err == nil {
		return network.Home(address).String()
	}
	return host
}

// networkKey returns the network of a client that has a share of the limits, or "" if it has none.
// See clientKey.
func networkKey(r *http.Request, share int) string {
	for _, part := range network.Of(hostOf(r.RemoteAddr)) {
		if part.Share == share {
			return part.Key
		}
	}
	return ""
}

// clientKey is the package's clientKey for a request that setForwarded has not changed.
func (p trustedProxies) clientKey(r *http.Request) string {
	if p.trustPeer(r) {
		if client := p.client(r.Header.Values("X-Forwarded-For")); client.IsValid() {
			return network.Client(client.String())
		}
	}
	key, _ := clientKey(r) // never fails
	return key
}

// setForwarded sets the X-Forwarded-* headers, from a trusted proxy's headers or else from the
// connection, and removes other forwarding headers. RemoteAddr becomes the client's address.
func (p trustedProxies) setForwarded(r *http.Request) {
	proto, host := "http", r.Host
	if r.TLS != nil {
		proto = "https"
	}
	port := ""
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		port = portOf(local)
	}
	if p.trustPeer(r) {
		if given := r.Header.Get("X-Forwarded-Proto"); given == "http" || given == "https" {
			proto = given
			port = map[string]string{"http": "80", "https": "443"}[given]
		}
		if given := r.Header.Get("X-Forwarded-Host"); given != "" {
			host = given
		}
		if given := r.Header.Get("X-Forwarded-Port"); given != "" {
			port = given
		}
		if client := p.client(r.Header.Values("X-Forwarded-For")); client.IsValid() {
			r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
		}
	}
	for _, name := range [...]string{"Forwarded", "X-Real-Ip", "True-Client-Ip", "X-Forwarded-For", "X-Forwarded-Prefix",
		"X-Original-Url", "X-Rewrite-Url"} {
		delete(r.Header, name) // the names are in canonical form
	}
	values := []string{proto, host, port, ""} // one allocation for all
	r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-Host"] = values[0:1:1], values[1:2:2]
	r.Header["X-Forwarded-Port"] = values[2:3:3]
	if client, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		values[3] = client
		r.Header["X-Forwarded-For"] = values[3:]
	}
}

// portOf returns the port of an address, or "" if it has none.
func portOf(address net.Addr) string {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return strconv.Itoa(tcp.Port)
	}
	_, port, _ := net.SplitHostPort(address.String())
	return port
}
