package network

import (
	"fmt"
	"net/netip"
	"testing"
)

// TestPublic checks that addresses of this machine, of its network and of translations that may
// lead there are not public.
func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"203.0.113.7": true, "2606:4700::1111": true, "::ffff:203.0.113.7": true,
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "172.16.0.1": false,
		"192.168.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false,
		"224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false, "::ffff:10.0.0.1": false, "fd00::1": false,
		"fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "64:ff9b::7f00:1": false,
		"64:ff9b:1::a00:1": false, "2001:0:4136:e378::1": false, "2002:7f00:1::": false,
	} {
		if got := Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestOf(t *testing.T) {
	for client, want := range map[string]string{
		"":                      "[]",
		"192.0.2.7":             "[{192.0.2.7 1} {192.0.2.0/24 32}]",
		"::ffff:192.0.2.7":      "[{192.0.2.7 1} {192.0.2.0/24 32}]",
		"2001:db8:1:2:3:4:5:6":  "[{2001:db8:1:2::/64 1} {2001:db8:1::/56 4} {2001:db8:1::/48 16}]",
		"2001:db8:1:102::1%eth": "[{2001:db8:1:102::/64 1} {2001:db8:1:100::/56 4} {2001:db8:1::/48 16}]",
		"a proxy":               "[{a proxy 1}]",
	} {
		if got := fmt.Sprint(Of(client)); got != want {
			t.Errorf("%q: %s, want %s", client, got, want)
		}
	}
	for address, want := range map[string]string{
		"2001:db8:1:1ff::1%eth": "2001:db8:1:100::", "192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7",
	} {
		if got := Home(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("home of %s: %s", address, got)
		}
	}
	if got := Client("2001:db8::1"); got != "2001:db8::/64" {
		t.Error(got)
	}
}
