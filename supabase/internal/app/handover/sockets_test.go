package handover

import (
	"net"
	"strings"
	"testing"
)

// TestPortInUse checks that the error of a port in use names the setting of that port.
func TestPortInUse(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, want := range map[string]string{
		PlainSocket: "--port or api.port", AdminSocket: "DESK_PORT", InboxSocket: "--inbox-port or local_smtp.port",
		DatabaseSocket: "--db-port or db.port", StudioSocket: "studio.port", FunctionsSocket: "PORT",
	} {
		_, err := NewSockets().Listen(name, "127.0.0.1", uint16(Port(other)), false)
		if err == nil || !strings.Contains(err.Error(), "another port with "+want+" ") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
