package pgnet

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	targets := Targets{Public: "https://example.org", Inside: "http://127.0.0.1:54321",
		Allowed: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	for address, allowed := range map[string]bool{
		"93.184.216.34:443": true, "[2606:4700::1]:443": true,
		"127.0.0.1:54321": true, "[::1]:54321": true, "127.0.0.1:5432": false, "[::1]:80": false,
		"10.1.2.3:80": true, "10.2.2.3:80": false, "192.168.1.1:80": false, "172.16.0.1:80": false,
		"169.254.169.254:80": false, "[fe80::1%eth0]:80": false, "[fd00::1]:80": false, "0.0.0.0:80": false,
		"[::]:80": false, "100.100.100.200:80": false, "[::ffff:127.0.0.1]:80": false, "[::ffff:10.1.2.3]:80": true,
		"[64:ff9b::7f00:1]:80": false, "[2002:7f00:1::]:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false,
	} {
		if err := targets.check(t.Context(), "tcp", address, nil); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
	targets.Private = true
	if err := targets.check(t.Context(), "tcp", "127.0.0.1:5432", nil); err != nil {
		t.Error(err)
	}
}

// Requests must not reach a private address, neither by its name nor by a redirect from an allowed
// server.
func TestPrivateAddressRefused(t *testing.T) {
	reached := false
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer secret.Close()
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, secret.URL, http.StatusFound)
	}))
	defer open.Close()
	c := newClient(Targets{Inside: open.URL})
	defer c.close()
	byName := strings.Replace(secret.URL, "127.0.0.1", "localhost", 1)
	for _, target := range []string{secret.URL, byName, open.URL} {
		got := c.do(context.Background(), request{Method: "GET", URL: target, Timeout: 5000})
		if got.failure == nil || !strings.Contains(*got.failure, "private address") {
			t.Errorf("%s: %+v", target, got)
		}
	}
	if reached {
		t.Error("a request reached the private server")
	}
}

// Webhooks to the stack itself reach it by its public address, and by the names of Supabase's
// gateways.
func TestOwnAddresses(t *testing.T) {
	hosts := make(chan string, 10)
	own := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		hosts <- r.Host + r.URL.Path
	}))
	defer own.Close()
	inside, err := url.Parse(own.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(Targets{Public: "https://example.invalid", Inside: own.URL})
	defer c.close()
	for _, base := range []string{
		"https://example.invalid", "https://EXAMPLE.invalid:443", "http://kong:8000", "http://supabase_kong_notes:8000",
		"http://host.docker.internal:" + inside.Port(), own.URL,
	} {
		got := c.do(t.Context(),
			request{Method: "POST", URL: base + "/functions/v1/hook", Timeout: 5000, Body: []byte(`{}`)})
		if got.failure != nil {
			t.Errorf("%s: %s", base, *got.failure)
			continue
		}
		u, _ := url.Parse(base)
		if host := <-hosts; host != u.Host+"/functions/v1/hook" {
			t.Errorf("%s reached %s", base, host)
		}
	}
	for _, other := range []string{"http://example.invalid", "https://example.invalid:8443", "http://kong:9000",
		"http://api.invalid"} {
		if got := c.do(t.Context(), request{Method: "GET", URL: other, Timeout: 5000}); got.failure == nil {
			t.Errorf("%s was answered", other)
		}
	}
}

func TestResponseTooLarge(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range maxBody/1024 + 1 {
			w.Write(make([]byte, 1024))
		}
	}))
	defer server.Close()
	c := newClient(Targets{Private: true})
	defer c.close()
	if got := c.do(t.Context(), request{Method: "GET", URL: server.URL, Timeout: 20000}); got.failure == nil ||
		!strings.Contains(*got.failure, "larger than 4 MB") {
		t.Errorf("%+v", got)
	}
}
