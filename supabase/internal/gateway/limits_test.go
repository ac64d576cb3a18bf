package gateway

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// live serves a gateway on a real port. Its time limits are so long that a busy machine does not
// exceed them; postInPipe tests the limits.
func live(t *testing.T, change ...func(*Options)) *httptest.Server {
	t.Helper()
	change = append([]func(*Options){func(o *Options) {
		o.Limits.Stall = time.Minute
	}}, change...)
	s := httptest.NewServer(testGateway(change...))
	t.Cleanup(s.Close)
	return s
}

// readAll is a service that replies with the length of the request body.
var readAll = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "service error: ", err)
		return
	}
	fmt.Fprint(w, n)
})

func TestBodyLimit(t *testing.T) {
	s := live(t, func(o *Options) { o.REST, o.Limits.RESTBody = readAll, 1000 })
	for _, tt := range []struct {
		name    string
		body    io.Reader
		status  int
		content string
	}{
		{"at the limit", strings.NewReader(strings.Repeat("x", 1000)), 200, "1000"},
		{"declared too large", strings.NewReader(strings.Repeat("x", 1001)), 413, "too large"},
		{"too large without a length", io.MultiReader(strings.NewReader(strings.Repeat("x", 5000))), 413, "too large"},
	} {
		r, _ := http.NewRequest("POST", s.URL+"/rest/v1/t", tt.body)
		r.Header.Set("apikey", "anon")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		text := text(t, res)
		res.Body.Close()
		if res.StatusCode != tt.status || !strings.Contains(text, tt.content) ||
			strings.Contains(text, "service error") {
			t.Errorf("%s: %d %s", tt.name, res.StatusCode, text)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "*" || res.Header.Get("X-Content-Type-Options") == "" {
			t.Errorf("%s: missing headers: %v", tt.name, res.Header)
		}
	}
}

// TestStalledReader: a client that does not read the reply loses the connection, and the handler
// ends.
func TestStalledReader(t *testing.T) {
	ended := make(chan error, 1)
	s := live(t, func(o *Options) {
		o.Limits.Stall = 200 * time.Millisecond
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, io.LimitReader(zeros{}, 1<<30))
			ended <- err
		})
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a gigabyte was sent to a client that does not read")
		}
	case <-time.After(time.Minute):
		t.Error("the handler still writes after a minute")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestRateLimit(t *testing.T) {
	h := testGateway(func(o *Options) {
		o.Limits.Rate, o.Limits.AuthRate = 5, 2
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	})
	from := func(client, target string) *http.Response {
		return ask(h, "GET", target, "apikey", "anon", "X-Forwarded-For", client)
	}
	for i := range 8 {
		r := from("203.0.113.1", "/rest/v1/t")
		if limited := r.StatusCode == 429; limited != (i >= 5) {
			t.Errorf("request %d: %d", i, r.StatusCode)
		} else if limited && (r.Header.Get("Retry-After") == "" || !strings.Contains(text(t, r), "Too many requests")) {
			t.Error("429 without Retry-After or text:", r.Header)
		}
	}
	if r := from("203.0.113.2", "/rest/v1/t"); r.StatusCode != 200 {
		t.Error("another address:", r.StatusCode)
	}
	if r := from("203.0.113.1", "/page/"); r.StatusCode != 200 {
		t.Error("site:", r.StatusCode)
	}
	if r := ask(h, "OPTIONS", "/rest/v1/t", "Access-Control-Request-Method", "GET", "X-Forwarded-For",
		"203.0.113.1"); r.StatusCode != 204 {
		t.Error("preflight:", r.StatusCode)
	}
}

func TestInFlightLimit(t *testing.T) {
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	h := testGateway(func(o *Options) {
		o.Limits.InFlight = 1
		o.REST = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })
	})
	done := make(chan struct{})
	go func() { defer close(done); ask(h, "GET", "/rest/v1/t", "apikey", "anon") }()
	<-entered
	if r := ask(h, "GET", "/rest/v1/t", "apikey", "anon"); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Error("above the limit:", r.StatusCode)
	}
	if r := ask(h, "GET", "/auth/v1/user", "apikey", "anon"); r.StatusCode != 200 {
		t.Error("another service:", r.StatusCode)
	}
	if r := ask(h, "GET", "/"); r.StatusCode != 200 {
		t.Error("site:", r.StatusCode)
	}
	close(leave)
	<-done
	if r := ask(h, "GET", "/rest/v1/t", "apikey", "anon"); r.StatusCode != 200 {
		t.Error("after the request:", r.StatusCode)
	}
}

// TestForwardedLimit checks that one home line behind a trusted proxy cannot have more requests
// served at once than the limit, and that others, sockets and clients without a proxy are not
// counted.
func TestForwardedLimit(t *testing.T) {
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	h := testGateway(func(o *Options) {
		o.Limits.PerLine = 2
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
		o.Site = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				entered <- struct{}{}
				<-leave
			}
		})
	})
	var slow sync.WaitGroup
	hold := func(headers ...string) {
		slow.Go(func() { ask(h, "GET", "/slow", headers...) })
		<-entered
	}
	hold("X-Forwarded-For", "2001:db8:1:100::1")
	hold("X-Forwarded-For", "2001:db8:1:1ff::2")
	for _, line := range []string{"2001:db8:1:100::1", "2001:db8:1:180::3", "203.0.113.9, 2001:db8:1:1aa::4"} {
		if r := ask(h, "GET", "/", "X-Forwarded-For", line); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s above the limit: %d", line, r.StatusCode)
		}
	}
	for _, headers := range [][]string{{"X-Forwarded-For", "2001:db8:1:200::1"}, {"X-Forwarded-For", "203.0.113.9"}, nil} {
		if r := ask(h, "GET", "/", headers...); r.StatusCode != 200 {
			t.Errorf("%q: %d", headers, r.StatusCode)
		}
	}
	socket := []string{"X-Forwarded-For", "2001:db8:1:100::1", "Connection", "Upgrade", "Upgrade", "websocket"}
	if r := ask(h, "GET", "/realtime/v1/websocket", socket...); r.StatusCode == 503 {
		t.Error("Realtime's socket was counted")
	}
	if r := ask(h, "GET", "/", socket...); r.StatusCode != 503 {
		t.Errorf("a page with the header Upgrade: %d", r.StatusCode)
	}
	close(leave)
	slow.Wait()
	if r := ask(h, "GET", "/", "X-Forwarded-For", "2001:db8:1:100::1"); r.StatusCode != 200 {
		t.Errorf("afterwards: %d", r.StatusCode)
	}
}

// TestFunctionsHaveNoInFlightLimit: the host of the functions limits each function by itself.
func TestFunctionsHaveNoInFlightLimit(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	h := testGateway(func(o *Options) {
		o.Limits.InFlight = 1
		o.Functions = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/busy" {
				entered <- struct{}{}
				<-leave
			}
		})
	})
	var calls sync.WaitGroup
	defer calls.Wait()
	defer close(leave)
	for range 3 {
		calls.Go(func() { ask(h, "POST", "/functions/v1/busy") })
		select {
		case <-entered:
		case <-time.After(5 * time.Second):
			t.Fatal("a call was refused")
		}
	}
	if r := ask(h, "POST", "/functions/v1/hello"); r.StatusCode != 200 {
		t.Error("another function:", r.StatusCode)
	}
}

func TestPanicReply(t *testing.T) {
	h := testGateway(func(o *Options) {
		o.Log = slog.New(slog.DiscardHandler)
		o.REST = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret at /home/x.go:1") })
	})
	r := ask(h, "GET", "/rest/v1/t", "apikey", "anon")
	if body := text(t, r); r.StatusCode != 500 || strings.Contains(body, "secret") ||
		!strings.Contains(body, r.Header.Get("X-Request-Id")) {
		t.Error(r.StatusCode, body)
	}
}

// TestAbortedReply: if a service in this process aborts its reply, the client sees an error.
func TestAbortedReply(t *testing.T) {
	s := live(t, func(o *Options) {
		o.Functions = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"half":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
	})
	res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", strings.NewReader(strings.Repeat("x", 2*bufferMemory)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("the reply looks complete: %s", got)
	}
}

func proxyTo(t *testing.T, target string, startTimeout time.Duration) http.Handler {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return Proxy(u, startTimeout, slog.New(slog.DiscardHandler))
}

// TestProxyWaitsForUpstream: a request waits for a service that is starting, and its body is sent
// once.
func TestProxyWaitsForUpstream(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	h := testGateway(func(o *Options) { o.REST = proxyTo(t, "http://"+address, 10*time.Second) })

	up := make(chan *http.Server, 1)
	time.AfterFunc(300*time.Millisecond, func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			up <- nil
			return
		}
		s := &http.Server{Handler: readAll}
		up <- s
		_ = s.Serve(l)
	})
	s := httptest.NewServer(h)
	defer s.Close()
	r, _ := http.NewRequest("POST", s.URL+"/rest/v1/t", strings.NewReader("four"))
	r.Header.Set("apikey", "anon")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body := text(t, res); res.StatusCode != 200 || body != "4" {
		t.Error(res.StatusCode, body)
	}
	if server := <-up; server != nil {
		server.Close()
	}
}

func TestProxyWithoutUpstream(t *testing.T) {
	h := testGateway(func(o *Options) { o.REST = proxyTo(t, "http://127.0.0.1:1", 0) })
	r := ask(h, "GET", "/rest/v1/t", "apikey", "anon")
	if body := text(t, r); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" ||
		strings.Contains(body, "127.0.0.1") {
		t.Error(r.StatusCode, r.Header, body)
	}
}

// TestProxyUpgrade: a WebSocket works through gateway and proxy.
func TestProxyUpgrade(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/socket/websocket" {
			http.NotFound(w, r)
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		fmt.Fprint(rw, "echo ", line)
		_ = rw.Flush()
	}))
	defer upstream.Close()
	s := live(t, func(o *Options) { o.Realtime = proxyTo(t, upstream.URL, 0) })
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /realtime/v1/websocket?apikey=anon HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatal(res, err)
	}
	time.Sleep(500 * time.Millisecond) // longer than the stall, which does not apply to sockets
	fmt.Fprint(conn, "hello\n")
	if line, err := in.ReadString('\n'); err != nil || line != "echo hello\n" {
		t.Errorf("%q %v", line, err)
	}
}

// TestUpstreamCORSIsReplaced covers services that set CORS headers themselves.
func TestUpstreamCORSIsReplaced(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Access-Control-Allow-Origin", "*")
		w.Header().Add("Access-Control-Allow-Origin", "https://example.org")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
	}))
	defer upstream.Close()
	h := testGateway(func(o *Options) { o.REST = proxyTo(t, upstream.URL, 0) })
	r := ask(h, "GET", "/rest/v1/t", "apikey", "anon")
	if got := r.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "*" ||
		r.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error(r.Header)
	}
}

// TestRateOfNeighbours checks that the refused requests of one address do not use up the limit of
// its network.
func TestRateOfNeighbours(t *testing.T) {
	h := limitRate(1)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	from := func(client string) int {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = client
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for _, network := range []struct {
		one, neighbour string
		refused        int // more than the limit of the whole network
	}{
		{"192.0.2.1:1", "192.0.2.2:1", 40}, {"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1", 20},
	} {
		for i := range network.refused {
			if got := from(network.one); (got == http.StatusOK) != (i == 0) {
				t.Fatalf("request %d of %s: %d", i+1, network.one, got)
			}
		}
		if got := from(network.neighbour); got != http.StatusOK {
			t.Errorf("a neighbour of %s: %d", network.one, got)
		}
	}
}
