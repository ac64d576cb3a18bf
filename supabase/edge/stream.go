package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// Events is an open stream of server-sent events.
type Events struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// NewEvents starts a stream of server-sent events. The context of the request ends when the client
// disconnects.
func NewEvents(w http.ResponseWriter) *Events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &Events{w, http.NewResponseController(w)}
}

// Send writes and flushes one event. event is its type, or "". Strings and bytes are sent as text,
// one data line for each line; other values are sent as JSON.
func (s *Events) Send(event string, data any) error {
	var text string
	switch d := data.(type) {
	case string:
		text = d
	case []byte:
		text = string(d)
	default:
		b, err := json.Marshal(d)
		if err != nil {
			return err
		}
		text = string(b)
	}
	var b bytes.Buffer
	if event != "" {
		fmt.Fprintf(&b, "event: %s\n", strings.NewReplacer("\n", " ", "\r", " ").Replace(event))
	}
	// CR, LF and CRLF each end a data line (HTML standard, "Interpreting an event stream").
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	b.WriteByte('\n')
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return err
	}
	return s.rc.Flush()
}

// AcceptWebSocket upgrades the call to a WebSocket. It allows any origin, as Supabase does. The
// handler must close the connection. Func.Timeout does not apply after the upgrade.
func AcceptWebSocket(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
}
