package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-chi/httprate"
)

// Login asks for a user name and a password (RFC 7617) before it passes a request on. After five wrong passwords in a
// row a client may try one a second, however many connections it has: what comes in between is answered 429, the right
// password too. proxies are those whose X-Forwarded-For is believed.
func Login(user, password string, proxies []netip.Prefix, next http.Handler) http.Handler {
	wantUser, wantPassword := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))
	g := &gateway{Options: Options{Proxies: proxies}}
	tries := attempts{of: map[string]attempt{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Robots-Tag", "none")
		givenUser, givenPassword, _ := r.BasicAuth()
		u, p := sha256.Sum256([]byte(givenUser)), sha256.Sum256([]byte(givenPassword))
		right := subtle.ConstantTimeCompare(u[:], wantUser[:])&subtle.ConstantTimeCompare(p[:], wantPassword[:]) == 1 && password != ""
		if givenPassword != "" && !tries.allow(g.visitor(r), right, time.Now()) {
			h.Set("Retry-After", "1")
			plain(w, http.StatusTooManyRequests, "Too many wrong passwords. Try again in a second.")
			return
		}
		if !right {
			h.Set("WWW-Authenticate", `Basic realm="Studio", charset="UTF-8"`)
			plain(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		r.Header.Del("Authorization") // Studio's own services would take it for theirs
		next.ServeHTTP(w, r)
	})
}

// visitor is clientKey before forwarded has looked at the request.
func (g *gateway) visitor(r *http.Request) string {
	if g.trusted(r) {
		if client := g.clientOf(r.Header.Values("X-Forwarded-For")); client.IsValid() {
			return httprate.CanonicalizeIP(client.String())
		}
	}
	client, _ := clientKey(r) // it never fails
	return client
}

const (
	freeAttempts = 5
	mostClients  = 10_000 // with wrong passwords that are remembered; beyond them all begin anew
)

// attempts slows down who tries passwords.
type attempts struct {
	mu sync.Mutex
	of map[string]attempt // by client
}

// attempt is how often in a row a client was wrong, and until when it may not try again.
type attempt struct {
	wrong int
	until time.Time
}

// allow counts an attempt. When it is false the client must not learn whether the password was right.
func (a *attempts) allow(client string, right bool, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.of[client]
	if now.Before(last.until) {
		return false
	}
	if right {
		delete(a.of, client)
		return true
	}
	if len(a.of) >= mostClients {
		clear(a.of)
	}
	if last.wrong++; last.wrong > freeAttempts {
		last.until = now.Add(time.Second)
	}
	a.of[client] = last
	return true
}
