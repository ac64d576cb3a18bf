package idp

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// errPrivateAddress: the address belongs to this machine or its network.
var errPrivateAddress = errors.New("the address is not a public one")

// sharedSpace is the address space between the customers of a carrier and its own network (RFC
// 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// public reports whether an address is neither of this machine nor of its network.
func public(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !sharedSpace.Contains(ip)
}

// SafeTransport returns a transport that connects to public addresses only. It checks the address
// after name resolution, also for redirects, so that a URL which a client names cannot reach the
// server's own network.
func SafeTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !public(at.Addr().Unmap()) {
			return errPrivateAddress
		}
		return nil
	}}
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second,
		DisableKeepAlives: true}
}
