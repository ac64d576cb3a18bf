package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"
)

// Login asks for a user name and a password (RFC 7617) before it passes a request on. After five wrong passwords in a
// row each further answer takes a second: a password cannot be tried out.
func Login(user, password string, next http.Handler) http.Handler {
	wantUser, wantPassword := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))
	var guard failures
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Robots-Tag", "none")
		givenUser, givenPassword, _ := r.BasicAuth()
		u, p := sha256.Sum256([]byte(givenUser)), sha256.Sum256([]byte(givenPassword))
		right := subtle.ConstantTimeCompare(u[:], wantUser[:]) & subtle.ConstantTimeCompare(p[:], wantPassword[:])
		if right != 1 || password == "" {
			if givenPassword != "" {
				guard.count(r)
			}
			h.Set("WWW-Authenticate", `Basic realm="Studio", charset="UTF-8"`)
			plain(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		guard.clear()
		r.Header.Del("Authorization") // Studio's own services would take it for theirs
		next.ServeHTTP(w, r)
	})
}

// failures slows down who tries passwords.
type failures struct {
	mu sync.Mutex
	n  int
}

func (f *failures) count(r *http.Request) {
	f.mu.Lock()
	f.n++
	slow := f.n > 5
	f.mu.Unlock()
	if !slow {
		return
	}
	select {
	case <-r.Context().Done():
	case <-time.After(time.Second):
	}
}

func (f *failures) clear() {
	f.mu.Lock()
	f.n = 0
	f.mu.Unlock()
}
