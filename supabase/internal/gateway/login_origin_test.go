package gateway

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// studio serves a Login with the password "right" over HTTP and returns its URL.
func studio(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(Login(LoginOptions{User: "supabase", Password: "right"},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
		})))
	t.Cleanup(server.Close)
	return server.URL
}

// send makes a request with a password and headers, from a local address ("" is any), and returns
// the status.
func send(t *testing.T, method, target, password, from string, headers map[string]string) int {
	t.Helper()
	dialer := net.Dialer{}
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("supabase", password)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestLoginRefusesOtherSites checks that a browser's remembered password does not let another site
// write: forms, scripts and WebSockets from another origin are refused, and requests of Studio
// itself and of programs pass.
func TestLoginRefusesOtherSites(t *testing.T) {
	base := studio(t)
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	own := "http://" + u.Host
	socket := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
	with := func(base map[string]string, pairs ...string) map[string]string {
		all := map[string]string{}
		maps.Copy(all, base)
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	for _, tt := range []struct {
		what, method string
		headers      map[string]string
		status       int
	}{
		{"a form of another site", "POST", with(nil, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"),
			403},
		{"a form of another site in an old browser", "POST", with(nil, "Origin", "https://evil.example"), 403},
		{"a form of another port of this host", "POST",
			with(nil, "Sec-Fetch-Site", "same-site", "Origin", "http://"+u.Hostname()+":1"), 403},
		{"a sandboxed page", "POST", with(nil, "Origin", "null"), 403},
		{"PUT", "PUT", with(nil, "Sec-Fetch-Site", "cross-site"), 403},
		{"PATCH", "PATCH", with(nil, "Sec-Fetch-Site", "cross-site"), 403},
		{"DELETE", "DELETE", with(nil, "Sec-Fetch-Site", "cross-site"), 403},
		{"a WebSocket of another site", "GET", with(socket, "Origin", "https://evil.example"), 403},
		{"a WebSocket of another site, by Sec-Fetch-Site", "GET", with(socket, "Sec-Fetch-Site", "cross-site"), 403},
		{"a link on another site", "GET", with(nil, "Sec-Fetch-Site", "cross-site"), 200},
		{"Studio's own request", "POST", with(nil, "Sec-Fetch-Site", "same-origin", "Origin", own), 200},
		{"Studio's own request in an old browser", "DELETE", with(nil, "Origin", own), 200},
		{"Studio's own WebSocket", "GET", with(socket, "Origin", own), 200},
		{"a program", "POST", nil, 200},
	} {
		if got := send(t, tt.method, base+"/api/platform/pg-meta/default/query", "right", "",
			tt.headers); got != tt.status {
			t.Errorf("%s: %d, want %d", tt.what, got, tt.status)
		}
	}
	// Without the password the reply is the same as ever, so that it does not tell whether a
	// browser has one.
	if got := send(t, "POST", base, "", "", with(nil, "Sec-Fetch-Site", "cross-site")); got != 401 {
		t.Errorf("without a password: %d", got)
	}
}

// TestLoginDuringGuessing checks over HTTP that the right password works from another address while
// one address guesses.
func TestLoginDuringGuessing(t *testing.T) {
	base := studio(t)
	const guesser, other = "127.0.0.2", "127.0.0.3"
	if l, err := net.Listen("tcp", guesser+":0"); err != nil {
		t.Skip("this system has only one loopback address")
	} else {
		l.Close()
	}
	limited := false
	for range 500 { // on a slow machine a guess may come after its delay
		limited = limited || send(t, "GET", base, "guess", guesser, nil) == http.StatusTooManyRequests
		if limited {
			break
		}
	}
	for range 5 {
		if got := send(t, "GET", base, "right", other, nil); got != http.StatusOK {
			t.Fatalf("another address: %d", got)
		}
	}
	if !limited {
		t.Error("the guesses were not limited")
	}
}
