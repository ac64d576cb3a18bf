package mail

import (
	"strings"
	"testing"
)

// TestTLSSetting checks that a server without TLS gets mail only if TLS is off.
func TestTLSSetting(t *testing.T) {
	_, server := newInbox(t)
	server.Plain = false
	for tls, refused := range map[string]string{"": "STARTTLS", "starttls": "STARTTLS", "implicit": "tls", "off": ""} {
		server.TLS = tls
		err := server.Send(t.Context(), Message{To: []string{"a@example.org"}, Subject: "s", Text: "t"})
		if (err != nil) != (refused != "") || err != nil && !strings.Contains(err.Error(), refused) {
			t.Errorf("TLS %q: %v", tls, err)
		}
	}
}
