package realtime

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/engine/realtime/changes"
)

func TestPrivateOnly(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.PrivateOnly, o.Messages = true, &store{} })
	c := connect(t, s)
	if got := c.join("realtime:a", `{"config":{}}`); !strings.Contains(got,
		`"PrivateOnly: This project only allows private channels"`) {
		t.Errorf("public: %s", got)
	}
	user := sign(t, "authenticated", map[string]any{"read": "a"})
	if got := c.join("realtime:a", `{"access_token":"`+user+`","config":{"private":true}}`); !strings.Contains(got,
		`"status":"ok"`) {
		t.Errorf("private: %s", got)
	}
}

// TestPresenceRate: beyond the rate, tracks and joins with presence end their channel.
func TestPresenceRate(t *testing.T) {
	s := serve(t, func(o *Options) {
		o.Settings.MaxPresenceEventsPerSecond, o.Settings.ClientPresenceEvents = 1, 1000
	})
	c := connect(t, s)
	c.join("realtime:a", `{"config":{}}`)
	for n := range 6 {
		c.send("realtime:a", "presence", fmt.Sprintf(`{"event":"track","payload":{"n":%d}}`, n))
		c.want(`"phx_reply"`, `"status":"ok"`)
	}
	s.clock.move(6 * time.Second) // six in five seconds
	c.send("realtime:a", "presence", `{"event":"track","payload":{"n":7}}`)
	c.want(`"realtime:a","system"`, `"message":"Too many presence messages per second","status":"error"`)
	c.want(`"realtime:a","phx_close"`)
	c.send("realtime:b", "phx_join", `{"config":{"presence":{"enabled":true}}}`)
	c.want(`"realtime:b","system"`, "Too many presence messages per second")
	s.clock.move(time.Minute + 10*time.Second)
	c.join("realtime:a", `{"config":{"presence":{"enabled":true}}}`)
	c.want(`"realtime:a","presence_state"`)
}

// TestClientPresenceWindow: the window and the number of messages within it are settings.
func TestClientPresenceWindow(t *testing.T) {
	s := serve(t, func(o *Options) {
		o.Settings.ClientPresenceEvents, o.Settings.ClientPresenceWindow = 2, 10*time.Second
	})
	c := connect(t, s)
	c.join("realtime:a", `{"config":{}}`)
	for range 3 {
		for range 2 {
			c.send("realtime:a", "presence", `{"event":"untrack"}`)
			c.want(`"phx_reply"`, `"status":"ok"`)
		}
		s.clock.move(11 * time.Second)
		c.heartbeat()
	}
	for range 3 {
		c.send("realtime:a", "presence", `{"event":"untrack"}`)
	}
	c.want(`"system"`, `Client presence rate limit exceeded`)
}

// TestHandshakeJoinRate: beyond the rate of joins, handshakes are refused, too.
func TestHandshakeJoinRate(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxJoinsPerSecond, o.Settings.JoinsInTotal = 1, true })
	c := connect(t, s)
	for n := range 6 {
		c.join(fmt.Sprint("realtime:", n), `{"config":{}}`)
	}
	s.clock.move(6 * time.Second)
	status, body := do(t, get(t, s, "/socket/websocket?apikey="+sign(t, "anon", nil)))
	if status != 429 || body != `{"error":"Too many joins per second"}` {
		t.Errorf("%d %s", status, body)
	}
}

// TestLargeMessage: a client whose message is above the limit of the socket is disconnected, one
// below it is not.
func TestLargeMessage(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxPayloadKB = 10_000 })
	c := connect(t, s)
	c.join("realtime:a", `{"config":{"broadcast":{"ack":true}}}`)
	c.send("realtime:a", "broadcast", `{"x":"`+strings.Repeat("x", maxMessage-1000)+`"}`)
	c.want(`"phx_reply"`, `"status":"ok"`)
	c.raw(websocket.MessageText, `["1","9","realtime:a","broadcast",{"x":"`+strings.Repeat("x", maxMessage)+`"}]`)
	c.ended()
}

func TestLargeBody(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxPayloadKB = 20_000 })
	for _, path := range []string{"/api/broadcast", "/api/broadcast/a/events/e"} {
		body := `{"x":"` + strings.Repeat("x", maxBody) + `"}`
		if status, reply := post(t, s, path, sign(t, "anon", nil), "application/json", body); status != 413 ||
			reply != `{"message":"Request Entity Too Large"}` {
			t.Errorf("%s: %d %s", path, status, reply)
		}
	}
}

// stuckConn is a connection whose peer reads nothing: a write returns when its deadline has passed.
type stuckConn struct {
	net.Conn
	deadline chan time.Time
	closed   chan bool
}

func (c *stuckConn) SetWriteDeadline(at time.Time) error {
	c.deadline <- at
	return nil
}

func (c *stuckConn) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func (c *stuckConn) Close() error {
	close(c.closed)
	return nil
}

// TestStuckWriteIsCutOff: a write that takes too long ends the connection and counts as a slow
// client.
func TestStuckWriteIsCutOff(t *testing.T) {
	conn := &stuckConn{deadline: make(chan time.Time, 1), closed: make(chan bool)}
	slow := make(chan bool, 1)
	q := &queue{conn: conn, slow: func() { slow <- true }}
	if err := q.send([]byte("frame")); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(<-conn.deadline); left > maxWriteTime || left < maxWriteTime-patience {
		t.Errorf("the write may take %s", left)
	}
	<-slow
	<-conn.closed
	if err := q.send([]byte("frame")); err == nil {
		t.Error("a frame was accepted after the end")
	}
}

// TestClientJoins checks that the joins of one home line are limited before the joins of all
// clients.
func TestClientJoins(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxJoinsPerSecond, o.Settings.MaxChannelsPerClient = 20, 1000 })
	from := func(client string) *client {
		return dialWith(t, s, "vsn=2.0.0&apikey="+sign(t, "anon", nil), http.Header{"X-Forwarded-For": {client}})
	}
	attacker := from("2001:db8:1:2::1")
	for i := range 40 {
		join := fmt.Sprintf(`["1","%d","realtime:%d","phx_join",{"config":{}}]`, i, i)
		if attacker.conn.Write(t.Context(), websocket.MessageText, []byte(join)) != nil {
			break // the server has closed the connection
		}
	}
	attacker.ended()
	s.clock.move(6 * time.Second) // the end of a tick of the limit of all
	other := from("2001:db8:2::1")
	if got := other.join("realtime:a", `{"config":{}}`); !strings.Contains(got, `"status":"ok"`) {
		t.Errorf("another client: %s", got)
	}
}

// TestSocketsOfOneLine checks that one home line gets a part of the places for sockets, and that an
// ended socket frees its place.
func TestSocketsOfOneLine(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxConnectionsPerLine = 3 })
	from := func(client string) (*websocket.Conn, error) {
		conn, _, err := websocket.Dial(t.Context(), s.url+"/socket/websocket?vsn=2.0.0&apikey="+
			sign(t, "anon", nil), &websocket.DialOptions{HTTPHeader: http.Header{"X-Forwarded-For": {client}}})
		return conn, err
	}
	var open []*websocket.Conn
	for i := range 4 {
		conn, err := from(fmt.Sprintf("2001:db8:0:%x::1", i))
		if (err == nil) != (i < 3) {
			t.Fatalf("socket %d of a line: %v", i+1, err)
		}
		open = append(open, conn)
	}
	if _, err := from("2001:db8:0:100::1"); err != nil {
		t.Errorf("the next line: %v", err)
	}
	if _, err := from(""); err != nil {
		t.Errorf("a program of this machine: %v", err)
	}
	_ = open[0].CloseNow()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := from("2001:db8:0:1::1"); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after the end of a socket: %v", err)
		}
	}
}

// TestClientLimitByNetwork checks that the links of one home line, a /56, share four times the rate
// of a client.
func TestClientLimitByNetwork(t *testing.T) {
	var limit clientLimit
	now := time.Unix(1_800_000_000, 0)
	for i := range 10 { // at once a client may use the rate of five seconds
		client := network.Of(fmt.Sprintf("2001:db8:0:%x::1", i))
		if allowed := limit.allow(client, 5, 1, now); allowed != (i < 4) {
			t.Errorf("link %d of the line: %t", i+1, allowed)
		}
	}
	if !limit.allow(network.Of("2001:db8:0:100::1"), 5, 1, now) {
		t.Error("the next line is refused")
	}
}

// TestManyClientsJoinAgain checks that clients which connect again at once may all join their
// channels again, and that one client which joins too often is told when it may.
func TestManyClientsJoinAgain(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxJoinsPerSecond, o.Settings.MaxConnections = 25, 1000 })
	from := func(n int) *client {
		return dialWith(t, s, "vsn=2.0.0&apikey="+sign(t, "anon", nil),
			http.Header{"X-Forwarded-For": {fmt.Sprintf("10.%d.%d.1", n/200, n%200)}})
	}
	for n := range 100 { // 500 joins within one second
		c := from(n)
		for channel := range 5 {
			if got := c.join(fmt.Sprint("realtime:", channel), `{"config":{}}`); !strings.Contains(got, `"status":"ok"`) {
				t.Fatalf("client %d: %s", n, got)
			}
		}
	}
	s.clock.move(6 * time.Second) // the end of a tick
	c := from(0)
	for n := range 25 {
		c.join(fmt.Sprint("realtime:", n), `{"config":{}}`)
	}
	c.send("realtime:last", "phx_join", `{"config":{}}`)
	c.want("ClientJoinRateLimitReached: Too many joins per second; join again in 1 s")
}

// TestClientBytes checks that the broadcasts of one line are limited by the bytes that they
// cause, over a socket and over HTTP, and that other clients and the secret key have theirs.
func TestClientBytes(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxClientKBPerSecond = 1 })
	from := func(client string) *client {
		c := dialWith(t, s, "vsn=2.0.0&apikey="+sign(t, "anon", nil), http.Header{"X-Forwarded-For": {client}})
		c.join("realtime:a", `{"config":{"broadcast":{"ack":true}}}`)
		return c
	}
	send := func(c *client, want string) {
		t.Helper()
		c.send("realtime:a", "broadcast", `{"x":"`+strings.Repeat("x", 3000)+`"}`)
		c.want(`"phx_reply"`, want)
	}
	receiver, attacker := from("2001:db8:2::1"), from("2001:db8:1:2::1")
	send(attacker, `"status":"ok"`) // 3 kB to two channels
	receiver.want(`"broadcast"`)
	send(attacker, "client_broadcast_rate_exceeded")
	send(from("2001:db8:1:2::2"), "client_broadcast_rate_exceeded") // the same link
	body := `{"messages":[{"topic":"a","event":"e","payload":{}}]}`
	overHTTP := func(role string) int {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/broadcast", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Forwarded-For": {"2001:db8:1:2::3"}, "Content-Type": {"application/json"},
			"Authorization": {"Bearer " + sign(t, role, nil)}}
		status, _ := do(t, r)
		return status
	}
	if got := overHTTP("anon"); got != http.StatusTooManyRequests {
		t.Errorf("over HTTP: %d", got)
	}
	if got := overHTTP("service_role"); got != http.StatusAccepted {
		t.Errorf("with the secret key: %d", got)
	}
	send(receiver, `"status":"ok"`)
	s.clock.move(time.Minute)
	send(from("2001:db8:1:2::4"), `"status":"ok"`)
}

// TestAwaitRoom: a sender waits until a client has read most of what was queued, or its connection
// is closed.
func TestAwaitRoom(t *testing.T) {
	for _, ends := range []bool{false, true} {
		client, server := net.Pipe()
		q := &queue{conn: server}
		if err := q.send(make([]byte, maxQueued/2)); err != nil {
			t.Fatal(err)
		}
		room := make(chan struct{})
		go func() {
			defer close(room)
			q.awaitRoom(t.Context())
		}()
		select {
		case <-room:
			t.Error("did not wait")
		case <-time.After(3 * roomEvery):
		}
		if ends {
			q.abort()
		} else if _, err := io.CopyN(io.Discard, client, maxQueued/2); err != nil {
			t.Error(err)
		}
		<-room
		q.abort()
		_ = client.Close()
	}
}

// TestReplayTurns: a client has its own turns before those of its networks, in which it leaves
// turns to its neighbours. A program of this machine does not wait.
func TestReplayTurns(t *testing.T) {
	got := replayTurns(network.Of("192.0.2.7"))
	want := []changes.Turn{{Key: network.Client("192.0.2.7"), AtOnce: 4}, {Key: "192.0.2.0/24", AtOnce: 128}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := replayTurns(network.Of("")); len(got) != 0 {
		t.Errorf("a program of this machine waits for %v", got)
	}
}
