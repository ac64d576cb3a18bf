package realtime

import (
	"bytes"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// TestUnfinishedMessages checks that one line cannot fill the memory with messages that it does not
// finish, and that others can send large messages beside them.
func TestUnfinishedMessages(t *testing.T) {
	s := serve(t, nil)
	from := func(client string) *client {
		return dialWith(t, s, "vsn=2.0.0&apikey="+sign(t, "anon", nil), http.Header{"X-Forwarded-For": {client}})
	}
	part := bytes.Repeat([]byte("x"), maxMessage-1)
	attackers := make([]*client, 8)
	for i := range attackers {
		attackers[i] = from("2001:db8:1::1")
		w, err := attackers[i].conn.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(part) // the last ones are cut off
	}
	attackers[len(attackers)-1].ended()
	s.incoming.mu.Lock()
	held := s.incoming.total
	s.incoming.mu.Unlock()
	if held > maxIncoming/4 {
		t.Errorf("one line holds %d bytes", held)
	}
	other := from("2001:db8:2::1")
	other.join("realtime:a", `{"config":{"broadcast":{"ack":true}}}`)
	other.send("realtime:a", "broadcast", `{"x":"`+strings.Repeat("x", maxMessage-1000)+`"}`)
	other.want(`"phx_reply"`, "payload_size_exceeded") // it was read
}

func TestIncomingShares(t *testing.T) {
	i, a, b := &incoming{}, netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for _, c := range []struct {
		line netip.Addr
		n    int
		want bool
	}{
		{a, maxIncoming / 4, true}, {a, 1, false}, {b, maxIncoming * 3 / 16, true}, {b, 1, false},
		{netip.Addr{}, maxIncoming * 9 / 16, true}, {netip.Addr{}, 1, false},
	} {
		if got := i.reserve(c.line, c.n); got != c.want {
			t.Errorf("%v of %v: %t", c.n, c.line, got)
		}
	}
	i.release(a, maxIncoming/4)
	i.release(b, maxIncoming*3/16)
	i.release(netip.Addr{}, maxIncoming*9/16)
	if i.total != 0 || len(i.lines) != 0 {
		t.Errorf("%d bytes of %v", i.total, i.lines)
	}
}
