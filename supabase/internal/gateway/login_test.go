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

// guarded is a login with the password right behind a proxy at 192.0.2.9.
func guarded(next http.HandlerFunc) func(from, user, password string) *httptest.ResponseRecorder {
	h := Login("supabase", "right", []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}, next)
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
	try := guarded(func(_ http.ResponseWriter, r *http.Request) { authorization = r.Header.Get("Authorization") })
	for _, tt := range []struct {
		user, password string
		status         int
	}{{"", "", 401}, {"supabase", "wrong", 401}, {"other", "right", 401}, {"supabase", "", 401}, {"supabase", "right", 200}} {
		w := try("192.0.2.1", tt.user, tt.password)
		if w.Code != tt.status || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%q %q: %d %v", tt.user, tt.password, w.Code, w.Header())
		}
	}
	if authorization != "" {
		t.Error("the login reaches what is behind it")
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth("u", "")
	w := httptest.NewRecorder()
	if Login("u", "", nil, http.NotFoundHandler()).ServeHTTP(w, r); w.Code != 401 {
		t.Error("an empty password opens the door")
	}
}

// TestGuessingIsSlow: however many connections it has, a client tries a password a second; no other one is held up, and
// another's success gives it no new attempts.
func TestGuessingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		try := guarded(func(http.ResponseWriter, *http.Request) {})
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
			t.Errorf("between two attempts the right password is told: %d", w.Code)
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
			t.Errorf("who remembers it at last gets %d", w.Code)
		}
	})
}

// TestGuessersAreForgotten: their number takes no more than a bounded memory.
func TestGuessersAreForgotten(t *testing.T) {
	a := attempts{of: map[string]attempt{}}
	for i := range 3 * mostClients {
		a.allow(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String(), false, time.Now())
	}
	if len(a.of) > mostClients {
		t.Errorf("%d are remembered", len(a.of))
	}
}
