package app

import (
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/base/config"
)

// TestNoticeCommand checks that notices name commands as this installation runs them.
func TestNoticeCommand(t *testing.T) {
	link := func(row edge.Row) string { return "Read it with: daawo " + row.Table + " show " + row.Value }
	for command, want := range map[string]string{
		"daawo":                                "Read it with: daawo notes show 7",
		"docker compose exec functions /daawo": "Read it with: docker compose exec functions /daawo notes show 7",
	} {
		a := New(Options{RowLink: link, Config: &config.Config{Environment: config.Environment{Command: command}}})
		link, _ := (&services{Installation: a.Installation}).rowLink()
		if got := link(edge.Row{Table: "notes", Value: "7"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNoticeLeadsToAdminSite checks where notices lead: to the administrators' application if a
// reader can open it, before Studio and the command.
func TestNoticeLeadsToAdminSite(t *testing.T) {
	options := Options{
		RowLink:   func(edge.Row) string { return "command" },
		AdminLink: func(address string, row edge.Row) string { return address + " " + row.Value },
	}
	for name, c := range map[string]struct {
		host, adminURL, at string
		link, studio       string
	}{
		"on this machine": {"127.0.0.1", "", "http://127.0.0.1:54323", "http://127.0.0.1:54323 7", ""},
		"public": {"0.0.0.0", "https://desk.example.org", "https://desk.example.org",
			"https://desk.example.org 7", ""},
		"public, loopback only":   {"0.0.0.0", "", "http://127.0.0.1:54323", "command", "https://studio.example.org"},
		"without the application": {"127.0.0.1", "", "", "command", "https://studio.example.org"},
		"address ends with slash ": {"0.0.0.0", "https://desk.example.org/", "https://desk.example.org/",
			"https://desk.example.org 7", ""},
	} {
		a := New(func() Options {
			o := options
			o.Config = &config.Config{Environment: config.Environment{
				Command: "daawo", Host: c.host, AdminURL: c.adminURL, StudioURL: "https://studio.example.org"}}
			return o
		}())
		link, studio := (&services{Installation: a.Installation, Addresses: front.Addresses{Admin: c.at}}).rowLink()
		if got := link(edge.Row{Table: "notes", Value: "7"}); got != c.link || studio != c.studio {
			t.Errorf("%s: %q and Studio %q", name, got, studio)
		}
	}
}
