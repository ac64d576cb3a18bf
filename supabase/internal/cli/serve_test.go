package cli

import (
	"strings"
	"testing"

	"daawo/supabase/internal/app"
)

// Only the well-known local keys are printed at the start: a service writes its output to a log.
func TestAnnounce(t *testing.T) {
	whole := []app.Value{
		{Name: "SITE_URL", Label: "Site", Value: "https://example.org"},
		{Name: "DB_URL", Label: "Database", Value: "postgresql://postgres:hidden@127.0.0.1"},
		{Name: "STUDIO_URL", Label: "Studio", Value: "http://127.0.0.1:8000"},
		{Name: "PUBLISHABLE_KEY", Label: "Publishable key", Value: "sb_publishable_1"},
		{Name: "SECRET_KEY", Label: "Secret key", Value: "sb_secret_hidden"},
	}
	for _, tt := range []struct {
		name         string
		info         app.Info
		secret, more bool
	}{
		{"local", app.Info{Values: whole, Demo: true}, true, false},
		{"public", app.Info{Values: whole}, false, true},
		{"gateway alone, which has no other values", app.Info{Values: whole[:1]}, false, false},
	} {
		var out strings.Builder
		(&Invocation{Env: &Env{Stdout: &out}}).announce(tt.info)
		text := out.String()
		if !strings.Contains(text, "Site  https://example.org") || strings.Contains(text, "hidden") != tt.secret ||
			strings.Contains(text, "daawo status") != tt.more {
			t.Errorf("%s: %s", tt.name, text)
		}
	}
}
