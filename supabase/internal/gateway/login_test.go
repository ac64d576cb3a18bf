package gateway

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// loginBehindProxy returns a function that sends a request to a Login with the password "right" and
// a proxy at 192.0.2.9.
func loginBehindProxy(next http.HandlerFunc) func(from, user, password string) *httptest.ResponseRecorder {
	h := Login(LoginOptions{
		User: "supabase", Password: "right", Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")},
	}, next)
	return func(from, user, password string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = from + ":1"
		if from == "192.0.2.9" {
			r.Header.Set("X-Forwarded-For", "198.51.100.1")
		}
		if user != "" {
			r.SetBasicAuth(user, password)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
}

func TestLogin(t *testing.T) {
	var authorization string
	try := loginBehindProxy(func(_ http.ResponseWriter,
		r *http.Request) {
		authorization = r.Header.Get("Authorization")
	})
	for _, tt := range []struct {
		user, password string
		status         int
	}{{"", "", 401}, {"supabase", "wrong", 401}, {"other", "right", 401}, {"supabase", "", 401},
		{"supabase", "right", 200}} {
		w := try("192.0.2.1", tt.user, tt.password)
		if w.Code != tt.status || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%q %q: %d %v", tt.user, tt.password, w.Code, w.Header())
		}
	}
	if authorization != "" {
		t.Error("next gets the Authorization header")
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth("u", "")
	w := httptest.NewRecorder()
	if Login(LoginOptions{User: "u"}, http.NotFoundHandler()).ServeHTTP(w, r); w.Code != 401 {
		t.Error("an empty password is accepted")
	}
}

// TestLoginLimitsGuessing: a client may try one password per second over all connections. Other
// clients are not affected, and their success gives it no new attempts.
func TestLoginLimitsGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		try := loginBehindProxy(func(http.ResponseWriter, *http.Request) {})
		var tried atomic.Int64
		guess := func(times int) {
			var all sync.WaitGroup
			for range times {
				all.Go(func() {
					if try("192.0.2.1", "supabase", "guess").Code == 401 {
						tried.Add(1)
					}
				})
			}
			all.Wait()
		}
		guess(100)
		if n := tried.Load(); n != freeAttempts+1 {
			t.Errorf("%d guesses at once, want %d", n, freeAttempts+1)
		}
		if w := try("192.0.2.1", "supabase", "right"); w.Code != 429 || w.Header().Get("Retry-After") == "" {
			t.Errorf("the right password between two attempts: %d", w.Code)
		}
		for _, other := range []string{"192.0.2.2", "192.0.2.9"} {
			if w := try(other, "supabase", "right"); w.Code != 200 {
				t.Errorf("another client from %s: %d", other, w.Code)
			}
		}
		tried.Store(0)
		for range 10 {
			time.Sleep(time.Second)
			guess(20)
		}
		if n := tried.Load(); n != 10 {
			t.Errorf("%d guesses in ten seconds", n)
		}
		time.Sleep(time.Second)
		if w := try("192.0.2.1", "supabase", "right"); w.Code != 200 {
			t.Errorf("the right password after the delay: %d", w.Code)
		}
	})
}

// TestAttemptsAreBounded: the number of counted clients is limited.
func TestAttemptsAreBounded(t *testing.T) {
	a := newAttempts()
	for i := range 3 * maxClients {
		a.allow(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String(), false, time.Now())
	}
	if n := a.byClient.Len(); n > maxClients {
		t.Errorf("%d clients are kept", n)
	}
}
