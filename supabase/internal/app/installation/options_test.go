package installation

import (
	"testing"

	"daawo/supabase/internal/base/config"
)

// TestMailTLSIsASetting checks that SMTP_TLS alone decides about TLS. The form of the host's name
// does not.
func TestMailTLSIsASetting(t *testing.T) {
	for _, host := range []string{"relay", "mail.example.org"} {
		for _, tls := range []string{"", "starttls", "implicit", "off"} {
			server := Options{Config: &config.Config{Environment: config.Environment{
				SMTP: config.SMTP{Host: host, Port: 587, TLS: tls}}}}.MailServer()
			if server.TLS != tls || server.Plain {
				t.Errorf("%s with SMTP_TLS=%s: %+v", host, tls, server)
			}
		}
	}
}
