package idp

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"daawo/supabase/internal/base/network"
)

// errPrivateAddress: the address belongs to this machine or its network.
var errPrivateAddress = errors.New("the address is not a public one")

// SafeTransport returns a transport that connects to public addresses only. It checks the address
// after name resolution, also for redirects, so that a URL which a client names cannot reach the
// server's own network.
func SafeTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !network.Public(at.Addr()) {
			return errPrivateAddress
		}
		return nil
	}}
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second,
		DisableKeepAlives: true}
}
