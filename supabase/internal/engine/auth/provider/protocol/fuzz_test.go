package protocol

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzRedirectURI checks that an accepted URI has a host and a harmless scheme, uses http for
// loopback only, and survives the comma-separated column.
func FuzzRedirectURI(f *testing.F) {
	for _, uri := range []string{"https://a.example.org/b?c=d", "myapp://back", "http://[::1]:80/",
		"JAVASCRIPT://a/%0aalert(1)", "https://a,b/", "https://a@b/", "http://localhost.example.org"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if checkRedirectURI(uri) != nil {
			return
		}
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		if u.Host == "" || u.Opaque != "" || u.User != nil ||
			slices.Contains([]string{"", "javascript", "data", "file", "vbscript", "about", "blob"},
				strings.ToLower(u.Scheme)) {
			t.Errorf("%q is accepted", uri)
		}
		if u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
			t.Errorf("%q is accepted with http", uri)
		}
		if stored := strings.Split(strings.Join([]string{uri, uri}, ","), ","); len(stored) != 2 || stored[1] != uri {
			t.Errorf("%q is stored as %q", uri, stored)
		}
	})
}
