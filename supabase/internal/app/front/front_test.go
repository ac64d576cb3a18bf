package front

import (
	"testing"

	"daawo/supabase/internal/base/config"
)

// TestPlainHost checks that only this machine reaches the port without TLS if certificates are
// fetched.
func TestPlainHost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*config.Config)
		want   string
	}{
		{"fetched certificates", func(c *config.Config) { c.TLSDomains = config.List{"example.org"} }, "127.0.0.1"},
		{"behind a proxy", func(*config.Config) {}, "0.0.0.0"},
		{"own certificate", func(c *config.Config) {
			c.TLSDomains, c.API.TLS.Enabled = config.List{"example.org"}, true
		}, "0.0.0.0"},
	} {
		c := &config.Config{Environment: config.Environment{Host: "0.0.0.0"}}
		tt.change(c)
		if got := PlainHost(c); got != tt.want {
			t.Errorf("%s: the port without TLS listens on %s, want %s", tt.name, got, tt.want)
		}
	}
}
