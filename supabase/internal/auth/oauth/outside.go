package oauth

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// errInside means that an address of a provider is one of this machine or of its network.
var errInside = errors.New("the address is not a public one")

// shared is the space between a carrier's customers and its own network (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// Outside makes a client that reaches public addresses only, whatever a name resolves to and wherever a redirect leads: what
// somebody says to the API must not make the server ask its neighbours.
func Outside() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		ip := at.Addr().Unmap()
		if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip) {
			return errInside
		}
		return nil
	}}
	return &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second, DisableKeepAlives: true},
	}
}
