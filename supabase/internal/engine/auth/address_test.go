package auth

import (
	"strings"
	"testing"
)

// TestAddresses checks which e-mail addresses a sign-up takes: as in GoTrue, they are ASCII and
// have a host name.
func TestAddresses(t *testing.T) {
	w := newWorld(t)
	for address, status := range map[string]int{
		"a@example.org":                         200,
		"a.b+c_d-e!#$%&'*/=?^`{|}~@example.org": 200,
		"A@Sub.Example-1.ORG":                   200,
		"a@localhost":                           200,
		".a..b.@example.org":                    200,
		"ä@example.org":                         400,
		"a@exämple.org":                         400,
		"a\u202eb@example.org":                  400,
		"a\u200b@example.org":                   400,
		"a@[192.0.2.1]":                         400,
		"a@[IPv6:2001:db8::1]":                  400,
		`"a b"@example.org`:                     400,
		"Ada <a@example.org>":                   400,
		"a@-example.org":                        400,
		"a@example.org.":                        400,
		"a@" + strings.Repeat("b", 64) + ".org": 400,
		"a@b@example.org":                       400,
		"a @example.org":                        400,
		"a@example.org\r\nBcc: b@example.org":   400,
		strings.Repeat("a", 256) + "@a.org":     400,
	} {
		r := w.post("/signup", m{"email": address, "password": "password-1"})
		if r.status != status || status == 400 && r.text("error_code") != "validation_failed" {
			t.Errorf("%q: %d %s, want %d", address, r.status, r.raw, status)
		}
	}
}
