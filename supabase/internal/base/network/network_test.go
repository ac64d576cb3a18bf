package network

import (
	"fmt"
	"net/netip"
	"testing"
)

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
