package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"daawo/supabase/internal/base/keys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var secret = keys.Secret("", "super-secret-jwt-token-with-at-least-32-characters-long")

// sign returns a token of a role that expires in an hour, with further claims.
func sign(t testing.TB, role string, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"role": role, "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range claims {
		all[name] = value
	}
	payload, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	token, err := secret.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// clock is a time that a test moves.
type clock struct {
	mu    sync.Mutex
	extra time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.extra)
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extra += d
}

// server is an Engine that listens.
type server struct {
	*Engine
	url   string
	clock *clock
}

func serve(t testing.TB, configure func(*Options)) *server {
	t.Helper()
	c := &clock{}
	o := Options{
		Verify: keys.NewVerifier(keys.Options{Now: c.now}, secret).Verify, Now: c.now,
		Log:      slog.New(slog.DiscardHandler),
		Settings: Settings{MaxEventsPerSecond: 1e6, MaxJoinsPerSecond: 1e6, MaxConnections: 1e6},
	}
	if configure != nil {
		configure(&o)
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(e)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
		h.Close()
	})
	return &server{e, h.URL, c}
}

// client is a client of serializer 2.0.0 that collects messages.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	ref  int

	mu       sync.Mutex
	arrived  *sync.Cond
	messages []string // text frames, and binary frames quoted
	err      error
}

const patience = time.Minute

func dial(t testing.TB, s *server, query string) *client { return dialWith(t, s, query, nil) }

// dialWith is dial with headers.
func dialWith(t testing.TB, s *server, query string, header http.Header) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, s.url+"/socket/websocket?"+query,
		&websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(10 << 20)
	c := &client{t: t, conn: conn}
	c.arrived = sync.NewCond(&c.mu)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read()
	}()
	t.Cleanup(func() { _ = conn.CloseNow(); <-done })
	return c
}

func connect(t testing.TB, s *server) *client {
	t.Helper()
	return dial(t, s, "vsn=2.0.0&apikey="+sign(t, "anon", nil))
}

func (c *client) read() {
	for {
		kind, data, err := c.conn.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else if kind == websocket.MessageBinary {
			c.messages = append(c.messages, fmt.Sprintf("%q", data))
		} else {
			c.messages = append(c.messages, string(data))
		}
		c.arrived.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// send sends a text frame with a new ref, which it returns. payload is JSON.
func (c *client) send(topic, event, payload string) string {
	c.t.Helper()
	c.ref++
	ref := fmt.Sprint(c.ref)
	c.raw(websocket.MessageText, fmt.Sprintf(`["1",%q,%q,%q,%s]`, ref, topic, event, payload))
	return ref
}

func (c *client) raw(kind websocket.MessageType, data string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.conn.Write(ctx, kind, []byte(data)); err != nil {
		c.t.Fatal(err)
	}
}

// want waits for a message that contains all parts and forgets it and the earlier ones.
func (c *client) want(parts ...string) string {
	c.t.Helper()
	timer := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil {
			c.err = errors.New("nothing arrived in time")
		}
		c.arrived.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for seen := 0; ; {
		for ; seen < len(c.messages); seen++ {
			m := c.messages[seen]
			if containsAll(m, parts) {
				c.messages = c.messages[seen+1:]
				return m
			}
		}
		if c.err != nil {
			c.t.Fatalf("want %q: %v; arrived: %q", parts, c.err, c.messages)
		}
		c.arrived.Wait()
	}
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// ended waits until the server has closed the connection.
func (c *client) ended() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil {
		c.arrived.Wait()
	}
}

// none checks that no message so far contains part. A heartbeat before makes sure that the earlier
// messages have arrived.
func (c *client) none(part string) {
	c.t.Helper()
	c.mu.Lock()
	before := c.messages
	c.mu.Unlock()
	reply := c.heartbeat()
	for _, m := range before {
		if strings.Contains(m, part) {
			c.t.Errorf("arrived: %s (before %s)", m, reply)
		}
	}
}

// heartbeat waits for all replies to earlier messages.
func (c *client) heartbeat() string {
	c.t.Helper()
	ref := c.send("phoenix", "heartbeat", `{}`)
	return c.want(fmt.Sprintf(`[null,%q,"phoenix","phx_reply"`, ref))
}

// join joins a topic and waits for the reply, which it returns.
func (c *client) join(topic, payload string) string {
	c.t.Helper()
	ref := c.send(topic, "phx_join", payload)
	return c.want(`"phx_reply"`, fmt.Sprintf(`%q,%q`, ref, topic))
}

func post(t testing.TB, s *server, path, token, contentType, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return do(t, r)
}

func do(t testing.TB, r *http.Request) (int, string) {
	t.Helper()
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}
