package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"

	"github.com/coder/websocket"
)

// hosting returns a host of these functions, without a database.
func hosting(t testing.TB, functions map[string]edge.Func, change ...func(*Options)) *Host {
	t.Helper()
	o := Options{Functions: functions, Log: slog.New(slog.DiscardHandler), Verify: verifyTest}
	for _, c := range change {
		c(&o)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

// verifyTest accepts tokens whose middle part is the claims as plain JSON.
func verifyTest(token string) (json.RawMessage, error) {
	claims := strings.Split(token, ".")[1]
	if !json.Valid([]byte(claims)) {
		return nil, errors.New("not valid")
	}
	return json.RawMessage(claims), nil
}

func hello(w http.ResponseWriter, _ *http.Request, env *edge.Env) error {
	return edge.WriteJSON(w, http.StatusOK, env.Caller)
}

func serve(h http.Handler, method, path string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestAuthorization checks the credentials that a call needs, the replies to wrong ones, and the
// paths of the host.
func TestAuthorization(t *testing.T) {
	h := hosting(t, map[string]edge.Func{
		"hello": {Handler: hello}, "open": {Handler: hello, NoVerifyJWT: true},
		"posts": {Handler: hello, Methods: []string{"POST"}},
	}, func(o *Options) {
		o.APIKey = func(key string) (string, bool) { return `x.{"role":"anon"}.y`, key == "sb_publishable_1" }
	})
	user := `Bearer x.{"role":"authenticated","sub":"u1"}.y`
	for _, c := range []struct {
		method, path string
		header       map[string]string
		status       int
		code, has    string // Sb-Error-Code; part of the body
	}{
		{"POST", "/hello", map[string]string{"Authorization": user}, 200, "", `"Subject":"u1"`},
		{"POST", "/hello/deeper?x=1", map[string]string{"Authorization": user}, 200, "", `authenticated`},
		{"POST", "/hello", map[string]string{"Authorization": `Bearer x.{"name":"anon"}.y`}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", nil, 401, "UNAUTHORIZED_NO_AUTH_HEADER", `"msg":"Missing authorization header"`},
		{"POST", "/hello", map[string]string{"Authorization": "Basic x"}, 401, "UNAUTHORIZED_INVALID_AUTH_HEADER",
			`"code"`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer nonsense"}, 401,
			"UNAUTHORIZED_INVALID_JWT_FORMAT", `Invalid JWT`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer x.nonsense.y"}, 401, "UNAUTHORIZED_INVALID_JWT",
			`Invalid JWT`},
		{"POST", "/hello", map[string]string{"Sb-Api-Key": `x.{"role":"anon"}.y`}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", map[string]string{"Apikey": "sb_publishable_1"}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer sb_publishable_1"}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer sb_publishable_2"}, 401,
			"UNAUTHORIZED_INVALID_API_KEY", `Invalid API key`},
		{"OPTIONS", "/hello", nil, 200, "", `anon`}, // the function handles OPTIONS
		{"OPTIONS", "/posts", nil, 204, "", ``},     // POST only: the host handles OPTIONS
		{"GET", "/posts", map[string]string{"Authorization": user}, 405, "METHOD_NOT_ALLOWED", ``},
		{"POST", "/open", nil, 200, "", `"Role":"anon"`},
		{"POST", "/open", map[string]string{"Authorization": "Bearer x.nonsense.y"}, 200, "", `"Role":"anon"`},
		{"POST", "/missing", nil, 404, "NOT_FOUND", `Requested function was not found`},
		{"POST", "/", nil, 404, "NOT_FOUND", ``},
		{"GET", "/_internal/health", nil, 200, "", `"message":"ok"`},
		{"GET", "/_internal/metric", nil, 404, "NOT_FOUND", ``},
	} {
		w := serve(h, c.method, c.path, c.header)
		if w.Code != c.status || w.Header().Get("Sb-Error-Code") != c.code ||
			!strings.Contains(w.Body.String(), c.has) {
			t.Errorf("%s %s %v: %d %s %s, want %d %s %s", c.method, c.path, c.header, w.Code,
				w.Header().Get("Sb-Error-Code"), w.Body, c.status, c.code, c.has)
		}
		if relay := w.Header().Get("X-Relay-Error"); (relay == "true") != (c.status == 401) {
			t.Errorf("%s %s: x-relay-error %q", c.method, c.path, relay)
		}
	}
	if w := serve(h, "POST", "/posts",
		map[string]string{"Authorization": user}); w.Header().Get("Access-Control-Allow-Origin") != "*" ||
		w.Header().Get("Sb-Request-Id") == "" || w.Header().Get("X-Sb-Edge-Region") != "local" {
		t.Errorf("headers %v", w.Header())
	}
}

// TestFailures checks the replies and the log lines of functions that panic, fail or reply with an
// error.
func TestFailures(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	h := hosting(t, map[string]edge.Func{
		"panics": {NoVerifyJWT: true,
			Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { panic("secret detail") }},
		"fails": {NoVerifyJWT: true,
			Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { return errors.New("secret detail") }},
		"refuses": {NoVerifyJWT: true, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error {
			return edge.Errorf(418, "teapot", "I am one")
		}},
		"says-nothing": {NoVerifyJWT: true,
			Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { return nil }},
	}, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))
	})
	for name, want := range map[string]struct {
		status int
		has    string
	}{
		"panics": {500, `"code":"WORKER_ERROR"`}, "fails": {500, `"code":"WORKER_ERROR"`},
		"refuses": {418, `{"code":"teapot","message":"I am one"}`}, "says-nothing": {200, ""},
	} {
		w := serve(h, "POST", "/"+name, nil)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.has) ||
			strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		id := w.Header().Get("Sb-Request-Id")
		mu.Lock()
		logged := strings.Count(log.String(), id)
		mu.Unlock()
		if id == "" || logged == 0 || want.status == 500 && logged < 2 {
			t.Errorf("%s: execution %q is logged %d times", name, id, logged)
		}
		if want.status == 500 && !strings.Contains(w.Body.String(), id) {
			t.Errorf("%s: the reply does not name the execution", name)
		}
	}
}

// locked is a Writer with a mutex.
type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// TestBodyLimit checks MaxBody for bodies with and without a declared length.
func TestBodyLimit(t *testing.T) {
	h := hosting(t, map[string]edge.Func{"reads": {NoVerifyJWT: true, MaxBody: 1000,
		Handler: func(w http.ResponseWriter, r *http.Request, _ *edge.Env) error {
			n, err := io.Copy(io.Discard, r.Body)
			if err != nil {
				return err
			}
			return edge.WriteJSON(w, http.StatusOK, n)
		}}})
	server := httptest.NewServer(h)
	defer server.Close()
	for _, c := range []struct {
		length  int64
		declare bool
		status  int
	}{{1000, true, 200}, {1001, true, 413}, {1001, false, 413}, {100 << 20, true, 413}, {100 << 20, false, 413}} {
		req, _ := http.NewRequest(http.MethodPost, server.URL+"/reads", io.LimitReader(zeros{}, c.length))
		if c.declare {
			req.ContentLength = c.length
		}
		res, err := server.Client().Do(req)
		if err != nil { // the server may close the connection before it has read the body
			if c.status != 413 {
				t.Error(err)
			}
			continue
		}
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%d bytes (declared %v): %d, want %d", c.length, c.declare, res.StatusCode, c.status)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestClientDisconnect checks that the context of a call ends when its client disconnects.
func TestClientDisconnect(t *testing.T) {
	ended := make(chan error, 1)
	h := hosting(t, map[string]edge.Func{"waits": {NoVerifyJWT: true,
		Handler: func(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error {
			<-r.Context().Done()
			ended <- r.Context().Err()
			return r.Context().Err()
		}}})
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/waits", nil)
	if _, err := server.Client().Do(req); err == nil {
		t.Fatal("the call did not time out")
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the context of the call did not end")
	}
}

// TestStreamsAndWebSockets checks that server-sent events arrive one by one, and that a WebSocket
// works.
func TestStreamsAndWebSockets(t *testing.T) {
	next := make(chan struct{})
	h := hosting(t, map[string]edge.Func{
		"events": {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
			s := edge.NewEvents(w)
			if err := s.Send("", "one"); err != nil {
				return err
			}
			<-next
			return s.Send("", "two")
		}},
		"echo": {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, r *http.Request, _ *edge.Env) error {
			c, err := edge.AcceptWebSocket(w, r)
			if err != nil {
				return err
			}
			defer c.CloseNow()
			kind, text, err := c.Read(r.Context())
			if err != nil {
				return err
			}
			if err := c.Write(r.Context(), kind, text); err != nil {
				return err
			}
			return c.Close(websocket.StatusNormalClosure, "")
		}},
	})
	server := httptest.NewServer(h)
	defer server.Close()

	res, err := server.Client().Get(server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || lines.Text() != "data: one" {
		t.Errorf("first event %q", lines.Text()) // it arrives before the second one is sent
	}
	close(next)
	if rest, err := io.ReadAll(res.Body); err != nil {
		t.Errorf("%q %v", rest, err)
	}

	c, reply, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/echo", nil)
	if err != nil {
		t.Fatal(err, reply)
	}
	defer c.CloseNow()
	if err := c.Write(t.Context(), websocket.MessageText, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := c.Read(t.Context()); err != nil || string(text) != "hi" {
		t.Errorf("%q %v", text, err)
	}
}

// TestWaitUntil checks that WaitUntil does not delay the reply, and that Close waits for its work,
// but no longer than Drain.
func TestWaitUntil(t *testing.T) {
	for name, c := range map[string]struct {
		work time.Duration
		ok   bool
	}{"before the end of Drain": {30 * time.Millisecond, true}, "after the end of Drain": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			var done atomic.Bool
			h, err := New(Options{Drain: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
				Functions: map[string]edge.Func{"later": {NoVerifyJWT: true,
					Handler: func(_ http.ResponseWriter, _ *http.Request, env *edge.Env) error {
						env.WaitUntil(func(ctx context.Context) error {
							select {
							case <-time.After(c.work):
								done.Store(true)
							case <-ctx.Done():
							}
							return nil
						})
						env.WaitUntil(func(context.Context) error { panic("contained") })
						return nil
					}}}})
			if err != nil {
				t.Fatal(err)
			}
			if w := serve(h, "POST", "/later", nil); w.Code != 200 || done.Load() {
				t.Errorf("the reply waited for the work: %d", w.Code)
			}
			if err := h.Close(t.Context()); (err == nil) != c.ok || done.Load() != c.ok {
				t.Errorf("Close: %v, done %v", err, done.Load())
			}
		})
	}
}

// TestInvalidFunctions checks that New rejects functions with a wrong name, without a handler, or
// with a wrong schedule.
func TestInvalidFunctions(t *testing.T) {
	run := func(context.Context, *edge.Env) error { return nil }
	for name, f := range map[string]edge.Func{
		"Nothing": {}, "../x": {Handler: hello}, "bad-cron": {Schedule: "every day", Run: run},
		"no-run": {Schedule: "0 6 * * 1"},
	} {
		if _, err := New(Options{Functions: map[string]edge.Func{name: f}}); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConnectionAddress(t *testing.T) {
	for remote, want := range map[string]string{"192.0.2.1:80": "192.0.2.1", "[2001:db8::1]:80": "2001:db8::1",
		"@": "@"} {
		if got := connectionAddress(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s: %s", remote, got)
		}
	}
}
