package cli

import "testing"

func TestDownloadable(t *testing.T) {
	const none = "example.org/none"
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", "v0.1.0-beta": "v0.1.0-beta",
		"dev": "", "": "", "1.2.3": "", "v1.2.3-4-g0123abc": "", "v1.2.3-dirty": "", "0123abc": "",
	} {
		if got := downloadable(none, version); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}
