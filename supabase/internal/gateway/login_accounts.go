package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// SignIn opens a session of an account. allowed reports whether the session and the rights of the
// account are still valid. The error is ErrNotAllowed if a word is wrong or the account has no
// right; code is that of a second factor, "" for none.
type SignIn func(ctx context.Context, user, password, code string) (allowed func(context.Context) bool, err error)

// ErrNotAllowed means that an account, its password or its code is wrong, or that it has no right.
var ErrNotAllowed = errors.New("not allowed")

const (
	loginPath    = "/_login"
	loginCookie  = "daawo_login"
	maxSessions  = 1000
	recheckAfter = 10 * time.Second // how long a session may outlive the end of the account's rights
)

// sessions are those of people who signed in on the page of a Login. They end with this process.
type sessions struct {
	signIn SignIn

	mu     sync.Mutex
	byName *simplelru.LRU[string, *session]
}

// session is a signed-in account.
type session struct {
	allowed func(context.Context) bool

	mu      sync.Mutex
	checked time.Time
	valid   bool
}

func newSessions(signIn SignIn) *sessions {
	byName, err := simplelru.NewLRU[string, *session](maxSessions, nil)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &sessions{signIn: signIn, byName: byName}
}

// valid reports whether a request has the cookie of a session whose account is still allowed.
func (s *sessions) valid(r *http.Request) bool {
	cookie, err := r.Cookie(loginCookie)
	if err != nil {
		return false
	}
	s.mu.Lock()
	one, ok := s.byName.Get(cookie.Value)
	s.mu.Unlock()
	return ok && one.check(r.Context())
}

// check asks again whether the account is allowed, at most once in recheckAfter.
func (s *session) check(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.valid && time.Since(s.checked) >= recheckAfter {
		s.valid, s.checked = s.allowed(context.WithoutCancel(ctx)), time.Now()
	}
	return s.valid
}

// open signs an account in and sets its cookie.
func (s *sessions) open(w http.ResponseWriter, r *http.Request, allowed func(context.Context) bool) {
	name := rand.Text()
	s.mu.Lock()
	s.byName.Add(name, &session{allowed: allowed, checked: time.Now(), valid: true})
	s.mu.Unlock()
	// A client that forges the proxy's header makes only its own cookie stricter.
	secure := r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	http.SetCookie(w, &http.Cookie{
		Name: loginCookie, Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure,
	})
	http.Redirect(w, r, localPath(r.PostFormValue("to")), http.StatusSeeOther)
}

// localPath returns a path of this server, "/" for another address.
func localPath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// hideCookie removes the cookie from a request that is forwarded.
func hideCookie(r *http.Request) {
	kept := r.Cookies()
	if _, err := r.Cookie(loginCookie); err != nil {
		return
	}
	r.Header.Del("Cookie")
	for _, c := range kept {
		if c.Name != loginCookie {
			r.AddCookie(c)
		}
	}
}

// loginText is the content of the page.
type loginText struct {
	To     string // where the browser goes afterwards
	Failed bool
}

var loginPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to Studio</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.6 system-ui, sans-serif; max-width: 24rem; margin: 12vh auto 2rem; padding: 0 1.25rem }
h1 { font-size: 1.4rem; margin: 0 0 .5rem }
label { display: block; margin-top: .75rem }
input { font: inherit; box-sizing: border-box; width: 100%; padding: .5rem }
button { font: inherit; margin-top: 1.25rem; padding: .5rem 1.25rem }
</style>
<main>
<h1>Sign in to Studio</h1>
{{if .Failed}}<p role="alert">The account, its password or its code is wrong, or the account may not open Studio.</p>{{end}}
<form method="post" action="` + loginPath + `">
<input type="hidden" name="to" value="{{.To}}">
<label>Email address<input name="user" autocomplete="username" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<label>Code of your authenticator app, if you have one<input name="code" inputmode="numeric" autocomplete="one-time-code"></label>
<button>Sign in</button>
</form>
</main>
</html>
`))

// writeLogin writes the page with the form.
func writeLogin(w http.ResponseWriter, text loginText) {
	var page bytes.Buffer
	if err := loginPage.Execute(&page, text); err != nil {
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "+
		"frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write(page.Bytes()) // the client may have disconnected
}
