package pgnet

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"daawo/supabase/internal/base/network"
)

// Targets say which addresses requests may reach.
type Targets struct {
	Public  string         // the stack's address for browsers, such as https://example.org
	Inside  string         // its address for programs of this machine
	Private bool           // requests may reach every private address
	Allowed []netip.Prefix // private networks that requests may reach in any case
}

// gateways are the names of the gateway in Supabase's own stacks, with port 8000.
// Projects have them in their webhooks. Where the name has an address, that is used.
var gateways = []string{"kong", "api.supabase.internal"}

// hostOfDocker is the name of the host of a Docker container.
const hostOfDocker = "host.docker.internal"

// reroute sends a request for the stack itself to its inside address. The public
// one may not be reachable from this machine.
func (t Targets) reroute(r *http.Request) {
	if t.Inside == "" || !sameOrigin(t.Public, r.URL) {
		return
	}
	inside, err := url.Parse(t.Inside)
	if err != nil {
		return
	}
	r.Host = cmp.Or(r.Host, r.URL.Host)
	r.URL.Scheme, r.URL.Host = inside.Scheme, inside.Host
}

func sameOrigin(origin string, u *url.URL) bool {
	o, err := url.Parse(origin)
	return err == nil && o.Host != "" && o.Scheme == u.Scheme && strings.EqualFold(hostPort(o), hostPort(u))
}

// hostPort returns the host and port of a URL, with the port of its scheme.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// dial returns a dialer that resolves the names of Supabase's gateways to the
// stack if they have no address.
func (t Targets) dial(d *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		var dns *net.DNSError
		if err == nil || !errors.As(err, &dns) {
			return conn, err
		}
		if own := t.alias(address); own != "" {
			return d.DialContext(ctx, network, own)
		}
		return nil, err
	}
}

// alias returns the stack's own address for a name of the gateway, else "".
func (t Targets) alias(address string) string {
	host, port, err := net.SplitHostPort(address)
	inside, err2 := url.Parse(t.Inside)
	if err != nil || err2 != nil || t.Inside == "" {
		return ""
	}
	host = strings.ToLower(host)
	isGateway := slices.Contains(gateways, host) || strings.HasPrefix(host, "supabase_kong_")
	if isGateway && port == "8000" || host == hostOfDocker && port == inside.Port() {
		return hostPort(inside)
	}
	return ""
}

// refusedError is the error of an address that requests must not reach.
type refusedError struct{ address netip.Addr }

func (e *refusedError) Error() string {
	return "requests to the private address " + e.address.String() +
		" are refused on a public installation; PG_NET_PRIVATE allows it"
}

// check refuses private addresses. It runs after the name was resolved, so a name
// cannot hide an address.
func (t Targets) check(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap().WithZone("")
	if t.Private || network.Public(ip) || t.own(netip.AddrPortFrom(ip, at.Port())) ||
		slices.ContainsFunc(t.Allowed, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return nil
	}
	return &refusedError{ip}
}

// own reports whether an address belongs to the stack on this machine.
func (t Targets) own(at netip.AddrPort) bool {
	inside, err := url.Parse(t.Inside)
	if err != nil || t.Inside == "" {
		return false
	}
	own, err := netip.ParseAddrPort(hostPort(inside))
	if err != nil {
		return false
	}
	return own.Port() == at.Port() && (own.Addr() == at.Addr() || own.Addr().IsLoopback() && at.Addr().IsLoopback())
}
