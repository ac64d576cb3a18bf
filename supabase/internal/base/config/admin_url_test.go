package config

import (
	"strings"
	"testing"
)

// TestAdminURL checks which addresses the administrators' application may have.
func TestAdminURL(t *testing.T) {
	for address, want := range map[string]string{
		"":                               "",
		"https://desk.example.org":       "",
		"http://127.0.0.1:54323":         "",
		"https://desk.example.org/":      "without a path",
		"https://desk.example.org/admin": "without a path",
		"https://example.org":            "must differ from SITE_URL",
		"http://desk.example.org":        "must start with https://",
		"desk.example.org":               "is not a URL",
	} {
		env := map[string]string{"DESK_URL": address, "SITE_URL": "https://example.org"}
		_, err := Load(Sources{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %q", address, got, want)
			}
		} else if want != "" {
			t.Errorf("%s is accepted, want %q", address, want)
		}
	}
}
