package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Login requires a user name and a password (RFC 7617) for next. After five wrong passwords in a
// row a client may try one password per second over all its connections. Other attempts get 429,
// even with the right password. Requests that another site caused get 403 if they can change
// something: browsers add a remembered password to them. proxies are the proxies with a trusted
// X-Forwarded-For.
func Login(user, password string, proxies []netip.Prefix, next http.Handler) http.Handler {
	wantUser, wantPassword := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))
	attempts := newAttempts()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		privateHeaders(h)
		givenUser, givenPassword, _ := r.BasicAuth()
		u, p := sha256.Sum256([]byte(givenUser)), sha256.Sum256([]byte(givenPassword))
		right := subtle.ConstantTimeCompare(u[:], wantUser[:])&subtle.ConstantTimeCompare(p[:], wantPassword[:]) == 1 &&
			password != ""
		if givenPassword != "" && !attempts.allow(trustedProxies(proxies).clientKey(r), right, time.Now()) {
			h.Set("Retry-After", "1")
			writeText(w, http.StatusTooManyRequests, "Too many wrong passwords. Try again in a second.")
			return
		}
		if !right {
			h.Set("WWW-Authenticate", `Basic realm="Studio", charset="UTF-8"`)
			writeText(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		if sameOrigin.Check(unsafeMethod(r)) != nil {
			writeText(w, http.StatusForbidden, "This request came from another site.")
			return
		}
		r.Header.Del("Authorization") // Studio's services would read it
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses requests with an unsafe method from other origins, by Sec-Fetch-Site or
// Origin. Clients that are no browsers send neither and pass.
var sameOrigin = http.NewCrossOriginProtection()

// unsafeMethod returns r for sameOrigin. A WebSocket handshake is a GET, but scripts of every site
// may open one and write to it, so it counts as a POST.
func unsafeMethod(r *http.Request) *http.Request {
	if r.Method != http.MethodGet || r.Header.Get("Upgrade") == "" {
		return r
	}
	as := *r
	as.Method = http.MethodPost
	return &as
}

const (
	freeAttempts = 5
	maxClients   = 10_000 // clients with counted wrong passwords
)

// attempts limits password attempts by client.
type attempts struct {
	mu       sync.Mutex
	byClient *simplelru.LRU[string, attempt]
}

// attempt is the number of wrong passwords in a row, and the time before which the client may not
// try again.
type attempt struct {
	wrong int
	until time.Time
}

func newAttempts() *attempts {
	clients, err := simplelru.NewLRU[string, attempt](maxClients, nil)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &attempts{byClient: clients}
}

// allow counts an attempt. If it returns false, the reply must not depend on whether the password
// was right.
func (a *attempts) allow(client string, right bool, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, _ := a.byClient.Get(client)
	if now.Before(last.until) {
		return false
	}
	if right {
		a.byClient.Remove(client)
		return true
	}
	if last.wrong++; last.wrong > freeAttempts {
		last.until = now.Add(time.Second)
	}
	a.byClient.Add(client, last)
	return true
}
