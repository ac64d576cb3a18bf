package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// LoginOptions say who may pass a Login: a user with a password, the accounts of SignIn, or both.
type LoginOptions struct {
	User, Password string         // no password lets accounts pass only
	SignIn         SignIn         // nil for no accounts
	Proxies        []netip.Prefix // with a trusted X-Forwarded-For
}

// login is the handler of Login.
type login struct {
	LoginOptions
	attempts *attempts
	sessions *sessions // nil without accounts
	next     http.Handler
}

// Login requires a user name and a password (RFC 7617) for next, or with accounts a session of one,
// which a page opens. After five wrong passwords in a row a client may try one password per second
// over all its connections. Other attempts get 429, even with the right password. Requests that
// another site caused get 403 if they can change something: browsers add a remembered password or a
// cookie to them.
func Login(o LoginOptions, next http.Handler) http.Handler {
	l := &login{LoginOptions: o, attempts: newAttempts(), next: next}
	if o.SignIn != nil {
		l.sessions = newSessions(o.SignIn)
	}
	return l
}

// ServeHTTP lets a request pass, or answers it.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	privateHeaders(w.Header())
	user, password, basic := r.BasicAuth()
	right := basic && l.matches(user, password)
	if password != "" && !l.allow(w, r, right) {
		return
	}
	if l.sessions != nil && !right {
		if r.Method == http.MethodPost && r.URL.Path == loginPath {
			l.signIn(w, r)
			return
		}
		right = l.sessions.valid(r)
	}
	if !right {
		l.refuse(w, r)
		return
	}
	if otherSite(w, r) {
		return
	}
	r.Header.Del("Authorization") // Studio's services would read it
	hideCookie(r)
	l.next.ServeHTTP(w, r)
}

// matches reports whether these are the user and the password.
func (l *login) matches(user, password string) bool {
	wantUser, wantPassword := sha256.Sum256([]byte(l.User)), sha256.Sum256([]byte(l.Password))
	u, p := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(u[:], wantUser[:])&subtle.ConstantTimeCompare(p[:], wantPassword[:]) == 1 &&
		l.Password != ""
}

// allow counts an attempt, and answers it with 429 if it comes too soon.
func (l *login) allow(w http.ResponseWriter, r *http.Request, right bool) bool {
	if l.attempts.allow(trustedProxies(l.Proxies).clientKey(r), right, time.Now()) {
		return true
	}
	w.Header().Set("Retry-After", "1")
	writeText(w, http.StatusTooManyRequests, "Too many wrong passwords. Try again in a second.")
	return false
}

// refuse asks a browser for the password or the account.
func (l *login) refuse(w http.ResponseWriter, r *http.Request) {
	if l.sessions == nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="Studio", charset="UTF-8"`)
	} else if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		writeLogin(w, loginText{To: r.URL.RequestURI()})
		return
	}
	writeText(w, http.StatusUnauthorized, "Unauthorized")
}

// maxLogin is the size of a form, in bytes.
const maxLogin = 16 << 10

// signIn answers the form of the page.
func (l *login) signIn(w http.ResponseWriter, r *http.Request) {
	if otherSite(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	user, password := r.PostFormValue("user"), r.PostFormValue("password")
	if !l.allow(w, r, false) { // it counts until it has succeeded: many attempts may run at once
		return
	}
	allowed, err := func(context.Context) bool { return true }, error(nil)
	if !l.matches(user, password) {
		allowed, err = l.SignIn(r.Context(), user, password, r.PostFormValue("code"))
	}
	switch {
	case errors.Is(err, ErrNotAllowed):
		writeLogin(w, loginText{To: localPath(r.PostFormValue("to")), Failed: true})
	case err != nil:
		writeText(w, http.StatusServiceUnavailable, "Signing in does not work at the moment. Try again later.")
	default:
		l.attempts.forget(trustedProxies(l.Proxies).clientKey(r))
		l.sessions.open(w, r, allowed)
	}
}

// otherSite answers a request that another site caused, if it can change something.
func otherSite(w http.ResponseWriter, r *http.Request) bool {
	if sameOrigin.Check(unsafeMethod(r)) == nil {
		return false
	}
	writeText(w, http.StatusForbidden, "This request came from another site.")
	return true
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

// forget ends the counting of a client, which had the right password.
func (a *attempts) forget(client string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byClient.Remove(client)
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
