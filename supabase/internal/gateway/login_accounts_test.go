package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// loginOf returns a server behind a Login with the account "owner", and a client with a cookie jar.
func loginOf(t *testing.T, password string) (address string, client *http.Client) {
	t.Helper()
	signIn := func(_ context.Context, user, password, code string) (func(context.Context) bool, error) {
		switch {
		case user == "down":
			return nil, errors.New("auth is down")
		case user != "owner@example.org" || password != "right" || code != "123456":
			return nil, ErrNotAllowed
		}
		return func(context.Context) bool { return true }, nil
	}
	server := httptest.NewServer(Login(LoginOptions{User: "supabase", Password: password, SignIn: signIn},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeText(w, http.StatusOK, "Studio "+r.Header.Get("Cookie")+r.Header.Get("Authorization"))
		})))
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return server.URL, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// sendForm sends a request and returns the status, the body and the header Location.
func sendForm(t *testing.T, client *http.Client, method, address string, form url.Values, headers headers) (int, string,
	string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header.Get("Location")
}

func account(user, password, code, to string) url.Values {
	return url.Values{"user": {user}, "password": {password}, "code": {code}, "to": {to}}
}

func TestLoginOfAccounts(t *testing.T) {
	address, client := loginOf(t, "")
	status, page, _ := sendForm(t, client, "GET", address+"/project?a=b", nil, headers{"Accept", "text/html"})
	if status != 401 || !strings.Contains(page, `value="/project?a=b"`) || !strings.Contains(page, `action="/_login"`) {
		t.Errorf("without a session: %d %s", status, page)
	}
	if status, text, _ := sendForm(t, client, "GET", address+"/api", nil, nil); status != 401 || text != "Unauthorized" {
		t.Errorf("a request of a script: %d %s", status, text)
	}
	for _, form := range []url.Values{
		account("owner@example.org", "wrong", "123456", "/"), account("owner@example.org", "right", "", "/"),
		account("supabase", "", "", "/"),
	} {
		if status, page, _ := sendForm(t, client, "POST", address+"/_login", form, nil); status != 401 ||
			!strings.Contains(page, `role="alert"`) {
			t.Errorf("%v: %d %s", form, status, page)
		}
	}
	other := headers{"Sec-Fetch-Site", "same-site", "Origin", "https://evil.example"}
	right := account("owner@example.org", "right", "123456", "/project?a=b")
	if status, _, _ := sendForm(t, client, "POST", address+"/_login", right, other); status != 403 {
		t.Errorf("a form of another site: %d", status)
	}
	if status, _, _ := sendForm(t, client, "POST", address+"/_login", account("down", "x", "", ""), nil); status != 503 {
		t.Errorf("while auth is down: %d", status)
	}
	status, _, to := sendForm(t, client, "POST", address+"/_login", right, nil)
	if status != 303 || to != "/project?a=b" {
		t.Errorf("with the right words: %d %s", status, to)
	}
	status, text, _ := sendForm(t, client, "POST", address+"/api", nil, headers{"Cookie", "kept=1"})
	if status != 200 || text != "Studio kept=1" {
		t.Errorf("with the session: %d %q", status, text)
	}
	if status, _, _ := sendForm(t, client, "POST", address+"/api", nil, other); status != 403 {
		t.Errorf("a request of another site with the cookie: %d", status)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if cookies := client.Jar.Cookies(u); len(cookies) != 1 || cookies[0].Name != loginCookie {
		t.Errorf("cookies: %v", cookies)
	}
}

// TestLoginCookieBehindProxy checks that the cookie stays on HTTPS where a proxy ends TLS.
func TestLoginCookieBehindProxy(t *testing.T) {
	for proto, want := range map[string]bool{"https": true, "http": false, "": false} {
		r := httptest.NewRequest("POST", "/_login", nil)
		r.Header.Set("X-Forwarded-Proto", proto)
		w := httptest.NewRecorder()
		newSessions(nil).open(w, r, func(context.Context) bool { return true })
		if cookies := w.Result().Cookies(); len(cookies) != 1 || cookies[0].Secure != want {
			t.Errorf("%q: %v", proto, cookies)
		}
	}
}

// TestSessionEndsWithRights checks that a session ends soon after the rights of its account.
func TestSessionEndsWithRights(t *testing.T) {
	calls, has := 0, true
	s := &session{valid: true, allowed: func(context.Context) bool { calls++; return has }}
	first, second := s.check(t.Context()), s.check(t.Context())
	if !first || !second || calls != 1 {
		t.Errorf("asked %d times", calls)
	}
	has, s.checked = false, s.checked.Add(-recheckAfter)
	if s.check(t.Context()) {
		t.Error("the session is still valid")
	}
	has, s.checked = true, s.checked.Add(-recheckAfter)
	if s.check(t.Context()) {
		t.Error("an ended session is valid again")
	}
}

// TestLoginOfAccountsAndPassword checks that the password works in the form and without it, and
// that guessing in the form is slow.
func TestLoginOfAccountsAndPassword(t *testing.T) {
	address, client := loginOf(t, "a long password")
	if status, _, _ := sendForm(t, http.DefaultClient, "GET", address, nil,
		headers{"Authorization", "Basic c3VwYWJhc2U6YSBsb25nIHBhc3N3b3Jk"}); status != 200 {
		t.Errorf("Basic: %d", status)
	}
	for range freeAttempts {
		sendForm(t, client, "POST", address+"/_login", account("supabase", "wrong", "", ""), nil)
	}
	right := account("supabase", "a long password", "", "")
	if status, _, _ := sendForm(t, client, "POST", address+"/_login", right, nil); status != 303 {
		t.Errorf("the right password after some wrong ones: %d", status)
	}
	for range 100 * freeAttempts {
		status, _, _ := sendForm(t, client, "POST", address+"/_login", account("supabase", "wrong", "", ""), nil)
		if status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("guessing is not slowed down")
}

func TestLocalPath(t *testing.T) {
	for to, want := range map[string]string{
		"/project?a=b": "/project?a=b", "": "/", "//evil.example": "/", "https://evil.example": "/", "/\\evil.example": "/",
		"/\t/evil.example": "/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q: %q", to, got)
		}
	}
}
