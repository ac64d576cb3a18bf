package fnhost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/functions/edge"

	"github.com/coder/websocket"
)

// hosting makes a host of functions alone, without a database.
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

// verifyTest accepts tokens whose middle part is the claims themselves.
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

func TestWhoMayCall(t *testing.T) {
	h := hosting(t, map[string]edge.Func{
		"hello": {Handler: hello}, "open": {Handler: hello, NoVerifyJWT: true}, "posts": {Handler: hello, Methods: []string{"POST"}},
	}, func(o *Options) {
		o.APIKey = func(key string) (string, bool) { return `x.{"role":"anon"}.y`, key == "sb_publishable_1" }
	})
	user := `Bearer x.{"role":"authenticated","sub":"u1"}.y`
	for _, c := range []struct {
		method, path string
		header       map[string]string
		status       int
		code, has    string // sb-error-code; in the body
	}{
		{"POST", "/hello", map[string]string{"Authorization": user}, 200, "", `"Subject":"u1"`},
		{"POST", "/hello/deeper?x=1", map[string]string{"Authorization": user}, 200, "", `authenticated`},
		{"POST", "/hello", map[string]string{"Authorization": `Bearer x.{"name":"anon"}.y`}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", nil, 401, "UNAUTHORIZED_NO_AUTH_HEADER", `"msg":"Missing authorization header"`},
		{"POST", "/hello", map[string]string{"Authorization": "Basic x"}, 401, "UNAUTHORIZED_INVALID_AUTH_HEADER", `"code"`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer nonsense"}, 401, "UNAUTHORIZED_INVALID_JWT_FORMAT", `Invalid JWT`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer x.nonsense.y"}, 401, "UNAUTHORIZED_INVALID_JWT", `Invalid JWT`},
		{"POST", "/hello", map[string]string{"Sb-Api-Key": `x.{"role":"anon"}.y`}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", map[string]string{"Apikey": "sb_publishable_1"}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer sb_publishable_1"}, 200, "", `"Role":"anon"`},
		{"POST", "/hello", map[string]string{"Authorization": "Bearer sb_publishable_2"}, 401, "UNAUTHORIZED_INVALID_API_KEY", `Invalid API key`},
		{"OPTIONS", "/hello", nil, 200, "", `anon`}, // untouched: the function answers it
		{"OPTIONS", "/posts", nil, 204, "", ``},     // a function that only posts leaves it to the host
		{"GET", "/posts", map[string]string{"Authorization": user}, 405, "METHOD_NOT_ALLOWED", ``},
		{"POST", "/open", nil, 200, "", `"Role":"anon"`},
		{"POST", "/open", map[string]string{"Authorization": "Bearer x.nonsense.y"}, 200, "", `"Role":"anon"`},
		{"POST", "/missing", nil, 404, "NOT_FOUND", `Requested function was not found`},
		{"POST", "/", nil, 404, "NOT_FOUND", ``},
		{"GET", "/_internal/health", nil, 200, "", `"message":"ok"`},
		{"GET", "/_internal/metric", nil, 404, "NOT_FOUND", ``},
	} {
		w := serve(h, c.method, c.path, c.header)
		if w.Code != c.status || w.Header().Get("Sb-Error-Code") != c.code || !strings.Contains(w.Body.String(), c.has) {
			t.Errorf("%s %s %v: %d %s %s, want %d %s %s", c.method, c.path, c.header, w.Code, w.Header().Get("Sb-Error-Code"), w.Body, c.status, c.code, c.has)
		}
		if relay := w.Header().Get("X-Relay-Error"); (relay == "true") != (c.status == 401) {
			t.Errorf("%s %s: x-relay-error %q", c.method, c.path, relay)
		}
	}
	if w := serve(h, "POST", "/posts", map[string]string{"Authorization": user}); w.Header().Get("Access-Control-Allow-Origin") != "*" ||
		w.Header().Get("Sb-Request-Id") == "" || w.Header().Get("X-Sb-Edge-Region") != "local" {
		t.Errorf("headers %v", w.Header())
	}
}

func TestFailures(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	h := hosting(t, map[string]edge.Func{
		"panics": {NoVerifyJWT: true, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { panic("secret detail") }},
		"fails":  {NoVerifyJWT: true, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { return errors.New("secret detail") }},
		"refuses": {NoVerifyJWT: true, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error {
			return edge.Errorf(418, "teapot", "I am one")
		}},
		"says-nothing": {NoVerifyJWT: true, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { return nil }},
	}, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))
	})
	for name, want := range map[string]struct {
		status int
		has    string
	}{
		"panics": {500, `"code":"WORKER_ERROR"`}, "fails": {500, `"code":"WORKER_ERROR"`}, "refuses": {418, `{"code":"teapot","message":"I am one"}`},
		"says-nothing": {200, ""},
	} {
		w := serve(h, "POST", "/"+name, nil)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.has) || strings.Contains(w.Body.String(), "secret") {
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

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestTimeLimitAndRunaways(t *testing.T) {
	release := make(chan struct{})
	var ran atomic.Int64
	var wrote atomic.Value
	h := hosting(t, map[string]edge.Func{
		"loops": {NoVerifyJWT: true, Timeout: 30 * time.Millisecond, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
			ran.Add(1)
			<-release // as deaf to its context as a loop
			w.Header().Set("X-Late", "1")
			if _, err := w.Write([]byte("late")); err != nil {
				wrote.Store(err)
			}
			return nil
		}},
		"streams": {NoVerifyJWT: true, Timeout: 30 * time.Millisecond, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
			_, _ = w.Write([]byte("first "))
			time.Sleep(80 * time.Millisecond)
			_, err := w.Write([]byte("second"))
			return err
		}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	for range maxRunaways() {
		if w := serve(h, "POST", "/loops", nil); w.Code != http.StatusGatewayTimeout || w.Header().Get("Sb-Error-Code") != "IDLE_TIMEOUT" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	// A further call waits until it is known that they do not end, is then refused and has never run; others go on.
	for range 2 {
		if w := serve(h, "POST", "/loops", nil); w.Code != statusWorkerLimit || w.Header().Get("Sb-Error-Code") != "WORKER_LIMIT" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := ran.Load(); n != maxRunaways() {
		t.Errorf("%d calls run beyond their limit, want %d", n, maxRunaways())
	}
	if w := serve(h, "POST", "/hello", nil); w.Code != http.StatusOK {
		t.Errorf("another function: %d", w.Code)
	}
	if w := serve(h, "POST", "/streams", nil); w.Body.String() != "first second" {
		t.Errorf("a stream was cut: %q", w.Body)
	}
	close(release)
	waitFor(t, func() bool { return wrote.Load() != nil })
	if err := wrote.Load().(error); !errors.Is(err, http.ErrHandlerTimeout) {
		t.Errorf("a late write: %v", err)
	}
	waitFor(t, func() bool { return serve(h, "POST", "/loops", nil).Code == http.StatusOK })
}

// A function that listens to its context is not held up by calls that ran into its limit: they are over at once.
func TestSlowCallsThatEnd(t *testing.T) {
	h := hosting(t, map[string]edge.Func{
		"slow": {NoVerifyJWT: true, Timeout: 10 * time.Millisecond, Handler: func(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error {
			<-r.Context().Done()
			return r.Context().Err()
		}},
	})
	begun := time.Now()
	for range 20 {
		if w := serve(h, "POST", "/slow", nil); w.Code != http.StatusGatewayTimeout {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if took := time.Since(begun); took > grace {
		t.Errorf("20 calls of 10 ms took %v", took)
	}
}

// A loop without end that really burns the processor: once it is known, it costs the others little.
func TestEndlessLoopBesideOthers(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	h := hosting(t, map[string]edge.Func{
		"loops": {NoVerifyJWT: true, Timeout: 20 * time.Millisecond, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error {
			for n := 0; !stop.Load(); n++ {
			}
			return nil
		}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	calm := p99(h, 500)
	for range maxRunaways() {
		serve(h, "POST", "/loops", nil)
	}
	time.Sleep(grace + 100*time.Millisecond)
	if w := serve(h, "POST", "/loops", nil); w.Code != statusWorkerLimit {
		t.Errorf("a further call of it: %d", w.Code)
	}
	busy := p99(h, 500)
	t.Logf("p99 of another function: %v alone, %v beside %d endless loops", calm, busy, maxRunaways())
	if busy > 2*calm+20*time.Millisecond { // the machine of a test has other work, too
		t.Errorf("p99 rose from %v to %v", calm, busy)
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not happen within 5 s")
}

func TestBodies(t *testing.T) {
	h := hosting(t, map[string]edge.Func{"reads": {NoVerifyJWT: true, MaxBody: 1000, Handler: func(w http.ResponseWriter, r *http.Request, _ *edge.Env) error {
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
		if err != nil { // the server may close the connection under a body it does not want
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

func TestTenThousandAtOnce(t *testing.T) {
	var running, most atomic.Int64
	h := hosting(t, map[string]edge.Func{
		"slow": {NoVerifyJWT: true, MaxConcurrent: 10, MaxWaiting: 20, MaxWait: 50 * time.Millisecond, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error {
			now := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			time.Sleep(100 * time.Millisecond)
			return nil
		}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	calm := p99(h, 300)
	codes := make([]atomic.Int64, 600)
	var wg sync.WaitGroup
	for range 10_000 {
		wg.Go(func() {
			w := serve(h, "POST", "/slow", nil)
			codes[w.Code].Add(1)
			if w.Code == 503 && w.Header().Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
		})
	}
	crowded := p99(h, 300)
	wg.Wait()
	if ok, busy := codes[200].Load(), codes[503].Load(); ok == 0 || busy == 0 || ok+busy != 10_000 {
		t.Errorf("200: %d, 503: %d", ok, busy)
	}
	if most.Load() > 10 {
		t.Errorf("%d ran at once, want at most 10", most.Load())
	}
	t.Logf("p99 of another function: %v alone, %v beside 10,000 calls", calm, crowded)
}

// p99 calls the function hello n times.
func p99(h http.Handler, n int) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		serve(h, "POST", "/hello", nil)
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[n*99/100]
}

func TestClientThatLeaves(t *testing.T) {
	ended := make(chan error, 1)
	h := hosting(t, map[string]edge.Func{"waits": {NoVerifyJWT: true, Handler: func(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error {
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
		t.Fatal("the call should have been cut off")
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the function was not told that its client left")
	}
}

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
		t.Errorf("first event %q", lines.Text()) // it is here before the second one exists
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

func TestWaitUntilOutlivesTheReplyAndCloseWaitsForIt(t *testing.T) {
	for name, c := range map[string]struct {
		work time.Duration
		ok   bool
	}{"in time": {30 * time.Millisecond, true}, "too long": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			var done atomic.Bool
			h, err := New(Options{Drain: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Functions: map[string]edge.Func{"later": {NoVerifyJWT: true,
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
				t.Errorf("the reply waited: %d", w.Code)
			}
			if err := h.Close(t.Context()); (err == nil) != c.ok || done.Load() != c.ok {
				t.Errorf("close: %v, done %v", err, done.Load())
			}
		})
	}
}

func TestFunctionsThatCouldNotWork(t *testing.T) {
	run := func(context.Context, *edge.Env) error { return nil }
	for name, f := range map[string]edge.Func{
		"Nothing": {}, "../x": {Handler: hello}, "bad-cron": {Schedule: "every day", Run: run}, "no-run": {Schedule: "0 6 * * 1"},
	} {
		if _, err := New(Options{Functions: map[string]edge.Func{name: f}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConnectionAddress(t *testing.T) {
	for remote, want := range map[string]string{"192.0.2.1:80": "192.0.2.1", "[2001:db8::1]:80": "2001:db8::1", "@": "@"} {
		if got := connectionAddress(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s: %s", remote, got)
		}
	}
}
