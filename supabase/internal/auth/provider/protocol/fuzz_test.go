package protocol

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzRedirectURI: what is taken leads to a host by a scheme that runs nothing, in clear text to this machine only, and comes
// back from the column as it went in.
func FuzzRedirectURI(f *testing.F) {
	for _, uri := range []string{"https://a.example.org/b?c=d", "myapp://back", "http://[::1]:80/", "JAVASCRIPT://a/%0aalert(1)", "https://a,b/", "https://a@b/", "http://localhost.example.org"} {
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
		if u.Host == "" || u.Opaque != "" || u.User != nil || slices.Contains([]string{"", "javascript", "data", "file", "vbscript", "about", "blob"}, strings.ToLower(u.Scheme)) {
			t.Errorf("%q is taken", uri)
		}
		if u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
			t.Errorf("%q is taken in clear text", uri)
		}
		if kept := strings.Split(strings.Join([]string{uri, uri}, ","), ","); len(kept) != 2 || kept[1] != uri {
			t.Errorf("%q is kept as %q", uri, kept)
		}
	})
}
