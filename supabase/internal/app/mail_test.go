package app

import (
	"testing"

	"daawo/functions/edge"
	"daawo/supabase/internal/config"
)

// TestMailTLSIsASetting checks that SMTP_TLS alone decides about TLS. The form of the host's name does not.
func TestMailTLSIsASetting(t *testing.T) {
	for _, host := range []string{"relay", "mail.example.org"} {
		for _, tls := range []string{"", "starttls", "implicit", "off"} {
			server := mailServer(&config.Config{Environment: config.Environment{SMTP: config.SMTP{Host: host, Port: 587, TLS: tls}}})
			if server.TLS != tls || server.Plain {
				t.Errorf("%s with SMTP_TLS=%s: %+v", host, tls, server)
			}
		}
	}
}

// TestNoticeCommand checks that notices name commands as this installation runs them.
func TestNoticeCommand(t *testing.T) {
	link := func(row edge.Row) string { return "Read it with: daawo " + row.Table + " show " + row.Value }
	for command, want := range map[string]string{
		"daawo":                                "Read it with: daawo notes show 7",
		"docker compose exec functions /daawo": "Read it with: docker compose exec functions /daawo notes show 7",
	} {
		a := New(Options{RowLink: link, Config: &config.Config{Environment: config.Environment{Command: command}}})
		if got := (&services{App: a}).rowLink()(edge.Row{Table: "notes", Value: "7"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
