package doctor

import (
	"testing"
)

// TestDoctorFindsHiddenClients checks that doctor recognizes a Docker that shows all clients under
// one address.
func TestDoctorFindsHiddenClients(t *testing.T) {
	const all, rootless = "         0          0 4294967295\n",
		"         0       1000          1\n         1     100000      65536\n"
	for _, tt := range []struct{ kernel, uidMap, want string }{
		{"6.8.0-45-generic", all, ""},
		{"6.10.14-linuxkit", all, "Docker Desktop"},
		{"5.15.167.4-microsoft-standard-WSL2", all, "Docker Desktop"},
		{"6.8.0-45-generic", rootless, "rootless Docker"},
		{"", "", ""},
	} {
		if got := hidesClients(tt.kernel, tt.uidMap); got != tt.want {
			t.Errorf("kernel %s: %q, want %q", tt.kernel, got, tt.want)
		}
	}
	public := map[string]string{"PUBLISHED_ON": "0.0.0.0", "SITE_URL": "https://example.org"}
	for _, tt := range []struct {
		env   map[string]string
		found bool
	}{
		{public, true},
		{map[string]string{"PUBLISHED_ON": "0.0.0.0", "SITE_URL": "https://example.org",
			"TRUSTED_PROXIES": "172.16.0.0/12"}, true},
		{map[string]string{"PUBLISHED_ON": "127.0.0.1"}, false},
		{map[string]string{"DAAWO_HOST": "0.0.0.0", "SITE_URL": "https://example.org"}, false},
	} {
		c := &checker{Options: options(t, "", tt.env)}
		c.container()
		if (len(c.findings) == 1) != tt.found {
			t.Errorf("%v: %v", tt.env, c.findings)
		}
		if tt.env["TRUSTED_PROXIES"] != "" && c.findings[0].Verdict != Good {
			t.Errorf("with a proxy: %v", c.findings)
		}
	}
}
