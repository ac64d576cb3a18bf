package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// live serves a handler on a real connection, with the gateway's limits shortened.
func live(t *testing.T, change ...func(*Options)) *httptest.Server {
	t.Helper()
	change = append([]func(*Options){func(o *Options) {
		o.Limits.Stall, o.Limits.MinRate = 200*time.Millisecond, 100_000
	}}, change...)
	s := httptest.NewServer(testGateway(change...))
	t.Cleanup(s.Close)
	return s
}

// readAll is a service that reads its body and says what it got.
var readAll = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "the service's own words: ", err)
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
		{"as large as allowed", strings.NewReader(strings.Repeat("x", 1000)), 200, "1000"},
		{"declared too large", strings.NewReader(strings.Repeat("x", 1001)), 413, "too large"},
		{"too large without saying so", io.MultiReader(strings.NewReader(strings.Repeat("x", 5000))), 413, "too large"},
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
		if res.StatusCode != tt.status || !strings.Contains(text, tt.content) || strings.Contains(text, "own words") {
			t.Errorf("%s: %d %s", tt.name, res.StatusCode, text)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "*" || res.Header.Get("X-Content-Type-Options") == "" {
			t.Errorf("%s: headers are missing: %v", tt.name, res.Header)
		}
	}
}

// TestSlowBody: a client that trickles is told so and cut, one that is merely not fast is served.
func TestSlowBody(t *testing.T) {
	s := live(t, func(o *Options) { o.Storage = readAll })
	send := func(gap time.Duration, pieces int, piece string) (string, time.Duration) {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		begun := time.Now()
		fmt.Fprintf(conn, "POST /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", pieces*len(piece))
		go func() {
			for range pieces {
				time.Sleep(gap)
				if _, err := io.WriteString(conn, piece); err != nil {
					return
				}
			}
		}()
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		line, _ := bufio.NewReader(conn).ReadString('\n')
		return line, time.Since(begun)
	}
	if line, took := send(50*time.Millisecond, 1000, "x"); !strings.Contains(line, "408") || took > 3*time.Second {
		t.Errorf("a trickling client gets %q after %v", line, took)
	}
	// Half a second is longer than the stall, but the bytes come: 40 kB allow 400 ms more.
	if line, _ := send(50*time.Millisecond, 10, strings.Repeat("x", 8000)); !strings.Contains(line, "200") {
		t.Errorf("a slow but honest client gets %q", line)
	}
}

// TestUnreadBodyIsPaced: a service that answers without reading the body does not open a way around the pace: net/http
// itself would wait for the rest of it.
func TestUnreadBodyIsPaced(t *testing.T) {
	for _, reply := range []string{"short", strings.Repeat("long ", 10_000)} {
		s := live(t, func(o *Options) {
			o.Storage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, reply) })
		})
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		begun := time.Now()
		_ = conn.SetDeadline(begun.Add(10 * time.Second))
		fmt.Fprint(conn, "POST /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
		go func() {
			for {
				time.Sleep(20 * time.Millisecond)
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
			}
		}()
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) > 3*time.Second {
			t.Errorf("the connection is open after %v: %v", time.Since(begun), err)
		}
	}
}

// TestStalledReader: who does not take the reply loses the connection, and the handler its burden.
func TestStalledReader(t *testing.T) {
	ended := make(chan error, 1)
	s := live(t, func(o *Options) {
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
			t.Error("a gigabyte was sent to nobody")
		}
	case <-time.After(10 * time.Second):
		t.Error("the handler still writes after 10 s")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestALongReplyIsNotCut: an answer after a long silence arrives, although every write has a deadline.
func TestALongReplyIsNotCut(t *testing.T) {
	s := live(t, func(o *Options) {
		o.Functions = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, "begun ")
			w.(http.Flusher).Flush()
			select {
			case <-time.After(600 * time.Millisecond): // three times the stall
			case <-r.Context().Done():
				fmt.Fprint(w, "cut ")
			}
			fmt.Fprint(w, "ended")
		})
	})
	res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := text(t, res); got != "begun ended" {
		t.Error(got)
	}
}

func TestRateOfOneAddress(t *testing.T) {
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
			t.Error("429 says too little:", r.Header)
		}
	}
	if r := from("203.0.113.2", "/rest/v1/t"); r.StatusCode != 200 {
		t.Error("another address pays for it:", r.StatusCode)
	}
	if r := from("203.0.113.1", "/so/"); r.StatusCode != 200 {
		t.Error("the site is limited, too:", r.StatusCode)
	}
	if r := ask(h, "OPTIONS", "/rest/v1/t", "Access-Control-Request-Method", "GET", "X-Forwarded-For", "203.0.113.1"); r.StatusCode != 204 {
		t.Error("a preflight is limited:", r.StatusCode)
	}
}

func TestConcurrency(t *testing.T) {
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	h := testGateway(func(o *Options) {
		o.Limits.InFlight = 1
		o.REST = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })
	})
	done := make(chan struct{})
	go func() { defer close(done); ask(h, "GET", "/rest/v1/t", "apikey", "anon") }()
	<-entered
	if r := ask(h, "GET", "/rest/v1/t", "apikey", "anon"); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Error("beyond the limit:", r.StatusCode)
	}
	if r := ask(h, "GET", "/auth/v1/user", "apikey", "anon"); r.StatusCode != 200 {
		t.Error("another service pays for it:", r.StatusCode)
	}
	if r := ask(h, "GET", "/"); r.StatusCode != 200 {
		t.Error("the site waits for the API:", r.StatusCode)
	}
	close(leave)
	<-done
	if r := ask(h, "GET", "/rest/v1/t", "apikey", "anon"); r.StatusCode != 200 {
		t.Error("afterwards:", r.StatusCode)
	}
}

// TestFunctionsCountTheirOwn: the host of the functions gives each its places, so a crowd before one of them is not
// the gateway's to refuse, and does not stand in the way of another.
func TestFunctionsCountTheirOwn(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	h := testGateway(func(o *Options) {
		o.Limits.InFlight = 1
		o.Functions = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/crowded" {
				entered <- struct{}{}
				<-leave
			}
		})
	})
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer close(leave)
	for range 3 {
		crowd.Go(func() { ask(h, "POST", "/functions/v1/crowded") })
		select {
		case <-entered:
		case <-time.After(5 * time.Second):
			t.Fatal("a call was refused a place")
		}
	}
	if r := ask(h, "POST", "/functions/v1/submit-report"); r.StatusCode != 200 {
		t.Error("another function pays for it:", r.StatusCode)
	}
}

func TestPanicsTellNothing(t *testing.T) {
	h := testGateway(func(o *Options) {
		o.Log = slog.New(slog.DiscardHandler)
		o.REST = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret at /home/x.go:1") })
	})
	r := ask(h, "GET", "/rest/v1/t", "apikey", "anon")
	if body := text(t, r); r.StatusCode != 500 || strings.Contains(body, "secret") || !strings.Contains(body, r.Header.Get("X-Request-Id")) {
		t.Error(r.StatusCode, body)
	}
}

// TestHalfAReplyIsBrokenOff: a service of this process that breaks its reply off breaks it off for the client, too.
func TestHalfAReplyIsBrokenOff(t *testing.T) {
	s := live(t, func(o *Options) {
		o.Functions = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"half":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
	})
	res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", strings.NewReader(strings.Repeat("x", 2*inMemory)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("it looks whole: %s", got)
	}
}

func proxyTo(t *testing.T, target string, patience time.Duration) http.Handler {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return Proxy(u, patience, slog.New(slog.DiscardHandler))
}

// TestUpstreamThatIsStarting: a request waits for a service that comes up, and a body is sent once, whole.
func TestUpstreamThatIsStarting(t *testing.T) {
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

func TestUpstreamThatIsAway(t *testing.T) {
	h := testGateway(func(o *Options) { o.REST = proxyTo(t, "http://127.0.0.1:1", 0) })
	r := ask(h, "GET", "/rest/v1/t", "apikey", "anon")
	if body := text(t, r); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || strings.Contains(body, "127.0.0.1") {
		t.Error(r.StatusCode, r.Header, body)
	}
}

// TestUpgradePasses: a WebSocket (any upgraded protocol) goes both ways through gateway and proxy.
func TestUpgradePasses(t *testing.T) {
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
	time.Sleep(500 * time.Millisecond) // longer than the stall: a socket may be silent
	fmt.Fprint(conn, "hello\n")
	if line, err := in.ReadString('\n'); err != nil || line != "echo hello\n" {
		t.Errorf("%q %v", line, err)
	}
}

// TestUpstreamCORSIsNotDoubled: a service that does CORS by itself and one behind a gateway of its own.
func TestUpstreamCORSIsNotDoubled(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Access-Control-Allow-Origin", "*")
		w.Header().Add("Access-Control-Allow-Origin", "https://example.org")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
	}))
	defer upstream.Close()
	h := testGateway(func(o *Options) { o.REST = proxyTo(t, upstream.URL, 0) })
	r := ask(h, "GET", "/rest/v1/t", "apikey", "anon")
	if got := r.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "*" || r.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error(r.Header)
	}
}
