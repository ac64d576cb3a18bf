package realtime

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"daawo/supabase/internal/engine/realtime/bus"
)

func TestHandshake(t *testing.T) {
	s := serve(t, nil)
	expired := sign(t, "anon", map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})
	for _, c := range []struct {
		name, query, header string
		status              int
		body                string
	}{
		{"no key", "", "", 401, `{"error":"API key is missing"}`},
		{"malformed", "apikey=x", "", 401, `{"error":"The token provided is not a valid JWT"}`},
		{"expired", "apikey=" + expired, "", 401, `{"error":"Token has expired"}`},
		{"another key", "apikey=" + sign(t, "anon", nil) + "x", "", 401,
			`{"error":"Failed to validate JWT signature"}`},
		{"without role", "", sign(t, "", map[string]any{"role": nil}), 401,
			"{\"error\":\"Fields `role` and `exp` are required in JWT\"}"},
		{"without exp", "", sign(t, "anon", map[string]any{"exp": nil}), 401,
			"{\"error\":\"Fields `role` and `exp` are required in JWT\"}"},
		{"unknown version", "vsn=9.0.0", "", 403, ""},
	} {
		r, err := http.NewRequest(http.MethodGet, s.url+"/socket/websocket?"+c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			r.Header.Set("X-Api-Key", c.header)
		}
		if status, body := do(t, r); status != c.status || body != c.body {
			t.Errorf("%s: got %d %s, want %d %s", c.name, status, body, c.status, c.body)
		}
	}
}

func TestJoinLeave(t *testing.T) {
	s := serve(t, nil)
	c := connect(t, s)
	if got := c.join("realtime:a", `{"config":{"broadcast":{"ack":"TRUE"}}}`); !strings.HasSuffix(got,
		`"phx_reply",{"response":{"postgres_changes":[]},"status":"ok"}]`) {
		t.Errorf("join: %s", got)
	}
	if got := c.join("realtime:", `{}`); !strings.Contains(got, "TopicNameRequired: You must provide a topic name") {
		t.Errorf("join without a name: %s", got)
	}
	if got := c.join("other", `{}`); !strings.Contains(got, `{"reason":"unmatched topic"},"status":"error"`) {
		t.Errorf("join of another topic: %s", got)
	}
	if got := c.join("realtime:"+strings.Repeat("x", maxTopic), `{}`); !strings.Contains(got, "unmatched topic") {
		t.Errorf("join of a topic with a long name: %s", got)
	}
	if got := c.join("realtime:k", `{"config":{"presence":{"key":"`+strings.Repeat("x", maxTopic+1)+
		`"}}}`); !strings.Contains(got, "The presence key is too long") {
		t.Errorf("join with a long presence key: %s", got)
	}
	c.send("realtime:b", "broadcast", `{}`)
	c.want(`"realtime:b"`, "unmatched topic")
	c.raw(websocket.MessageText, `{"not":"an array"}`)
	c.raw(websocket.MessageText, "[null,\"1\",\"realtime:a\",\"broadcast\",{\"event\":\"\xff\"}]")
	c.join("realtime:a", `{"config":{}}`) // replaces the channel
	ref := c.send("realtime:a", "phx_leave", `{}`)
	c.want(`"phx_reply"`, ref, `"status":"ok"`)
	c.want(`"phx_close"`)
	ref = c.send("realtime:a", "phx_leave", `{}`)
	c.want(`"phx_reply"`, ref, `"status":"ok"`)
	c.heartbeat()
	s.hub.mu.RLock()
	defer s.hub.mu.RUnlock()
	if got := len(s.hub.topics); got != 0 {
		t.Errorf("%d topics remain", got)
	}
}

func TestDuplicateJoinCloses(t *testing.T) {
	s := serve(t, nil)
	c := connect(t, s)
	c.join("realtime:a", `{"config":{"broadcast":{"self":true}}}`)
	ref := c.send("realtime:a", "phx_join", `{"config":{"broadcast":{"self":true}}}`)
	c.want(`["1","1","realtime:a","phx_close",{}]`)
	c.want(`"phx_reply"`, ref, `"status":"ok"`)
	c.send("realtime:a", "broadcast", `{"type":"broadcast","event":"e","payload":{}}`)
	c.want(`"broadcast"`)
	c.none(`"broadcast"`) // the closed channel gets no copy
}

func TestBroadcast(t *testing.T) {
	s := serve(t, nil)
	sender, self, old := connect(t, s), connect(t, s), dial(t, s, "apikey="+sign(t, "anon", nil))
	sender.join("realtime:a", `{"config":{"broadcast":{"ack":true}}}`)
	self.join("realtime:a", `{"config":{"broadcast":{"self":true}}}`)
	old.raw(websocket.MessageText, `{"topic":"realtime:a","event":"phx_join","payload":{"config":{}},"ref":"1"}`)
	old.want(`{"event":"phx_reply","payload":{"response":{"postgres_changes":[]},"status":"ok"},"ref":"1","topic":"realtime:a"}`)

	ref := sender.send("realtime:a", "broadcast", `{"type":"broadcast","event":"e","payload":{"n":1}}`)
	sender.want(`["1","`+ref+`","realtime:a","phx_reply"`, `"status":"ok"`)
	self.want(`[null,null,"realtime:a","broadcast",{"type":"broadcast","event":"e","payload":{"n":1}}]`)
	old.want(`{"event":"broadcast","payload":{"type":"broadcast","event":"e","payload":{"n":1}},"ref":null,"topic":"realtime:a"}`)
	sender.none(`"broadcast"`)

	self.send("realtime:a", "broadcast", `{"n":2}`)
	self.want(`{"n":2}`)
	sender.want(`{"n":2}`)
	self.send("realtime:a", "broadcast", `[3]`) // not an object
	self.none(`[3]`)

	binary := "\x03\x01\x01\x0a\x01\x00\x00" + "1" + "9" + "realtime:a" + "e" + "\x00\xff"
	self.raw(websocket.MessageBinary, binary)
	self.want(fmt.Sprintf("%q", "\x04\x0a\x01\x00\x00realtime:ae\x00\xff"))
	self.raw(websocket.MessageBinary, "\x03\x01\x01\x0a\x01\x00\x01"+"1"+"9"+"realtime:a"+"e"+`{"n":4}`)
	sender.want(fmt.Sprintf("%q", "\x04\x0a\x01\x00\x01realtime:ae"+`{"n":4}`))
	next := old.want(`"broadcast"`, `"e"`) // not the binary payload, which serializer 1.0.0 cannot represent
	if !strings.Contains(next, `"payload":{"event":"e","payload":{"n":4},"type":"broadcast"}`) {
		t.Errorf("serializer 1.0.0: %s", next)
	}
}

func TestPayloadLimit(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxPayloadKB = 1 })
	c := connect(t, s)
	c.join("realtime:a", `{"config":{"broadcast":{"ack":true,"self":true}}}`)
	ref := c.send("realtime:a", "broadcast", `{"x":"`+strings.Repeat("x", 1600)+`"}`)
	c.want(`"phx_reply"`, `"`+ref+`"`, `payload_size_exceeded`, `"status":"error"`)
	c.none(`"broadcast"`)
	c.send("realtime:a", "presence", `{"type":"presence","event":"track","payload":{"x":"`+strings.Repeat("x", 1600)+
		`"}}`)
	c.want(`"system"`, `"message":"Track message size exceeded","status":"error"`)
	c.want(`"phx_close"`)
}

func TestPresence(t *testing.T) {
	s := serve(t, nil)
	a, b := connect(t, s), connect(t, s)
	a.join("realtime:p", `{"config":{"presence":{"enabled":true,"key":"ka"}}}`)
	a.want(`["1",null,"realtime:p","presence_state",{}]`)
	b.join("realtime:p", `{"config":{}}`)
	ref := a.send("realtime:p", "presence", `{"type":"presence","event":"TRACK","payload":{"name":"x"}}`)
	a.want(`"presence_diff",{"joins":{"ka":{"metas":[{"name":"x","phx_ref":`, `"leaves":{}`)
	a.want(`"phx_reply"`, `"`+ref+`"`, `"status":"ok"`)
	b.want(`[null,null,"realtime:p","presence_diff"`, `"ka"`)
	ref = a.send("realtime:p", "presence", `{"type":"presence","event":"track","payload":[]}`)
	a.want(`"`+ref+`"`, `Presence track payload must be a map`)
	ref = a.send("realtime:p", "presence", `{"type":"presence","event":"dance"}`)
	a.want(`"`+ref+`"`, `"status":"error"`)
	ref = a.send("realtime:p", "presence", `{"type":"presence","event":"track","payload":{"name":"x"}}`) // unchanged
	a.want(`"`+ref+`"`, `"status":"ok"`)
	a.none("presence_diff")
	c := connect(t, s)
	c.join("realtime:p", `{"config":{"presence":{"enabled":true}}}`)
	c.want(`"presence_state",{"ka":{"metas":[{"name":"x"`)
	_ = a.conn.CloseNow()
	b.want(`"presence_diff",{"joins":{},"leaves":{"ka":`)
}

func TestClientPresenceLimit(t *testing.T) {
	s := serve(t, nil)
	c := connect(t, s)
	c.join("realtime:p", `{"config":{}}`)
	for n := range 5 {
		c.send("realtime:p", "presence", fmt.Sprintf(`{"event":"track","payload":{"n":%d}}`, n))
		c.want(`"phx_reply"`, `"status":"ok"`)
	}
	s.clock.move(31 * time.Second)
	c.send("realtime:p", "presence", `{"event":"untrack"}`)
	c.want(`"phx_reply"`, `"status":"ok"`)
	for range 5 {
		c.send("realtime:p", "presence", `{"event":"untrack"}`)
	}
	c.want(`"system"`, `Client presence rate limit exceeded`)
}

func TestTokens(t *testing.T) {
	s := serve(t, nil)
	c := connect(t, s)
	short := sign(t, "authenticated", map[string]any{"exp": time.Now().Add(20 * time.Second).Unix()})
	c.join("realtime:short", `{"access_token":"`+short+`","config":{}}`)
	c.join("realtime:renewed", `{"access_token":"`+short+`","config":{}}`)
	c.join("realtime:opaque", `{"access_token":"sb_publishable_x","config":{}}`)
	if got := c.join("realtime:bad", `{"access_token":"x.y.z","config":{}}`); !strings.Contains(got,
		`MalformedJWT: The token provided is not a valid JWT`) {
		t.Errorf("join with a malformed token: %s", got)
	}
	c.send("realtime:renewed", "access_token", `{"access_token":"`+sign(t, "authenticated", nil)+`"}`)
	c.send("realtime:renewed", "access_token", `{"access_token":"sb_publishable_x"}`)
	c.send("realtime:renewed", "access_token", `{"access_token":null}`)
	c.heartbeat()
	s.clock.move(30 * time.Second)
	c.want(`"realtime:short","system"`, `"message":"Token has expired 1`, `seconds ago","status":"error"`)
	c.want(`"realtime:short","phx_close"`)
	if got := c.join("realtime:late", `{"access_token":"`+short+`","config":{}}`); !strings.Contains(got,
		`InvalidJWTToken: Token has expired 1`) {
		t.Errorf("join with an expired token: %s", got)
	}
	c.send("realtime:renewed", "access_token", `{"access_token":"`+short+`"}`)
	c.want(`"realtime:renewed","system"`, "Token has expired")
	c.none(`"realtime:opaque","system"`)
}

func TestLimits(t *testing.T) {
	s := serve(t, func(o *Options) {
		o.Settings.MaxConnections, o.Settings.MaxChannelsPerClient = 1, 1
		o.Settings.MaxEventsPerSecond, o.Settings.PrivateOnly = 2, false
	})
	c := connect(t, s)
	status, body := do(t, get(t, s, "/socket/websocket?apikey="+sign(t, "anon", nil)))
	if status != 429 || body != `{"error":"Too many connected users"}` {
		t.Errorf("second connection: %d %s", status, body)
	}
	c.join("realtime:a", `{"config":{"broadcast":{"self":true}}}`)
	if got := c.join("realtime:b", `{"config":{}}`); !strings.Contains(got,
		"ChannelRateLimitReached: Too many channels") {
		t.Errorf("second channel: %s", got)
	}
	for range 30 {
		c.send("realtime:a", "broadcast", `{"n":1}`)
	}
	c.heartbeat()
	s.clock.move(6 * time.Second) // 30 sent and 30 delivered in five seconds
	c.send("realtime:a", "broadcast", `{"n":2}`)
	c.want(`"system"`, "Too many messages per second")
	if status, body := post(t, s, "/api/broadcast", sign(t, "anon", nil), "application/json",
		`{"messages":[]}`); status != 429 || body != `{"message":"Too many requests"}` {
		t.Errorf("broadcast: %d %s", status, body)
	}
}

// TestConnectionLimitAtOnce: clients that connect at the same time do not exceed the limit
// together.
func TestConnectionLimitAtOnce(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxConnections = 1 })
	address := "ws" + strings.TrimPrefix(s.url, "http") + "/socket/websocket?apikey=" + sign(t, "anon", nil)
	var opened atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if conn, _, err := websocket.Dial(t.Context(), address, nil); err == nil {
				opened.Add(1)
				t.Cleanup(func() { _ = conn.CloseNow() })
			}
		})
	}
	all.Wait()
	if opened.Load() != 1 {
		t.Errorf("%d clients at once, one is allowed", opened.Load())
	}
}

func TestJoinRate(t *testing.T) {
	s := serve(t, func(o *Options) { o.Settings.MaxJoinsPerSecond, o.Settings.JoinsInTotal = 1, true })
	c := connect(t, s)
	for n := range 6 {
		c.join(fmt.Sprint("realtime:", n), `{"config":{}}`)
	}
	s.clock.move(6 * time.Second)
	c.send("realtime:last", "phx_join", `{}`)
	c.want("ClientJoinRateLimitReached: Too many joins per second")
	c.ended()
}

func TestSilentClientIsClosed(t *testing.T) {
	s := serve(t, nil)
	c := connect(t, s)
	c.heartbeat()
	s.clock.move(silence + time.Second)
	c.ended()
}

func TestUnusedClientIsClosed(t *testing.T) {
	s := serve(t, nil)
	c := connect(t, s)
	for range 11 {
		s.clock.move(55 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		// fails once it is closed
		_ = c.conn.Write(ctx, websocket.MessageText, []byte(`[null,"1","phoenix","heartbeat",{}]`))
		cancel()
		time.Sleep(2 * time.Millisecond)
	}
	c.ended()
}

func TestSlowClientIsCutOff(t *testing.T) {
	s := serve(t, nil)
	fast := connect(t, s)
	fast.join("realtime:a", `{"config":{"broadcast":{"ack":true}}}`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	slow, _, err := websocket.Dial(ctx, s.url+"/socket/websocket?vsn=2.0.0&apikey="+sign(t, "anon", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.CloseNow()
	if err := slow.Write(ctx, websocket.MessageText,
		[]byte(`["1","1","realtime:a","phx_join",{"config":{}}]`)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := slow.Read(ctx); err != nil {
		t.Fatal(err)
	}
	payload := `{"x":"` + strings.Repeat("x", 1<<20) + `"}`
	for end := time.Now().Add(patience); s.connectionCount() > 1; {
		if time.Now().After(end) {
			t.Fatal("a client that does not read is still connected")
		}
		fast.send("realtime:a", "broadcast", payload)
		fast.want(`"phx_reply"`, `"status":"ok"`)
	}
}

func TestReplicas(t *testing.T) {
	hub := bus.NewHub()
	var servers [2]*server
	for i := range servers {
		b := hub.Join()
		t.Cleanup(b.Close)
		servers[i] = serve(t, func(o *Options) { o.Bus = b })
	}
	a, b := connect(t, servers[0]), connect(t, servers[1])
	for _, c := range []*client{a, b} {
		c.join("realtime:r", `{"config":{"broadcast":{"self":true},"presence":{"enabled":true,"key":"k"}}}`)
	}
	a.send("realtime:r", "broadcast", `{"n":1}`)
	b.want(`"broadcast",{"n":1}`)
	a.want(`"broadcast",{"n":1}`)
	a.none(`"broadcast"`)
	b.raw(websocket.MessageBinary, "\x03\x01\x01\x0a\x01\x00\x00"+"1"+"9"+"realtime:r"+"e"+"\xfe\xff")
	a.want(`\xfe\xff`)
	if status, body := post(t, servers[0], "/api/broadcast/r/events/e", sign(t, "anon", nil), "application/json",
		`{"n":2}`); status != 202 {
		t.Errorf("broadcast: %d %s", status, body)
	}
	b.want(`{\"n\":2}`)
	a.send("realtime:r", "presence", `{"event":"track","payload":{"at":"a"}}`)
	b.want("presence_diff", `"at":"a"`)
}

func get(t testing.TB, s *server, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
