// Package network names the networks of a client's address, by which all limits count. A home line
// has 2^64 to 2^80 addresses of IPv6, so an address alone limits nothing.
package network

import "net/netip"

// Part is a network of a client.
type Part struct {
	Key   string // for counting
	Share int    // how many times the limit of one client the network may use
}

// levels are the networks of an address, the smallest first. IPv6: a link, a home line, a site.
// IPv4: an address, and what one customer of a host often has; many people share it behind a
// carrier's NAT.
var (
	levels6 = []struct{ bits, share int }{{64, 1}, {56, 4}, {48, 16}}
	levels4 = []struct{ bits, share int }{{32, 1}, {24, 32}}
)

// Shares are the shares that a network can have.
var Shares = []int{1, 4, 16, 32}

// Of returns the networks of a client's address, the smallest first. A text that is no address is
// one network; "" has none.
func Of(client string) []Part {
	if client == "" {
		return nil
	}
	a, err := netip.ParseAddr(client)
	if err != nil {
		return []Part{{client, 1}}
	}
	a = a.Unmap().WithZone("")
	levels := levels4
	if a.Is6() {
		levels = levels6
	}
	parts := make([]Part, len(levels))
	for i, l := range levels {
		prefix := netip.PrefixFrom(a, l.bits).Masked()
		parts[i] = Part{prefix.String(), l.share}
		if prefix.IsSingleIP() {
			parts[i].Key = a.String()
		}
	}
	return parts
}

// Client returns the smallest network of a client's address.
func Client(client string) string {
	if parts := Of(client); len(parts) > 0 {
		return parts[0].Key
	}
	return ""
}

// homeBits is the size of the network of IPv6 that a home line has at least.
const homeBits = 56

// Home returns the network of the line of an address: a /56 of IPv6, an address of IPv4. Limits of
// what a client holds at the same time count by it.
func Home(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is6() {
		return netip.PrefixFrom(a, homeBits).Masked().Addr()
	}
	return a
}
