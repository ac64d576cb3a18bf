package app

import (
	"testing"

	"daawo/supabase/internal/config"
)

// TestPlainHost: with certificates to fetch, nobody but this machine reaches the site without TLS.
func TestPlainHost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*config.Config)
		want   string
	}{
		{"certificates are fetched", func(c *config.Config) { c.TLSDomains = config.List{"example.org"} }, "127.0.0.1"},
		{"a proxy is in front", func(*config.Config) {}, "0.0.0.0"},
		{"a certificate of one's own", func(c *config.Config) {
			c.TLSDomains, c.API.TLS.Enabled = config.List{"example.org"}, true
		}, "0.0.0.0"},
	} {
		a := newApp(t, t.TempDir(), nil)
		a.cfg.Host = "0.0.0.0"
		tt.change(a.cfg)
		if got := a.plainHost(); got != tt.want {
			t.Errorf("%s: the port without TLS is opened on %s, not %s", tt.name, got, tt.want)
		}
	}
}
