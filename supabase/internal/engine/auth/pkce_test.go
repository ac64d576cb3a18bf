package auth

import (
	"net/url"
	"strings"
	"testing"
)

// TestCodeInvalidated checks that a PKCE code stops working if the user is banned or deleted, or
// the password changes, before or during the exchange.
func TestCodeInvalidated(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	id, verifier := s.text("user.id"), strings.Repeat("v", 50)
	code := func() string {
		t.Helper()
		w.post("/otp", m{"email": "a@example.org", "code_challenge": verifier,
			"code_challenge_method": "plain"}).want(200)
		_, link, _ := w.mail()
		_, to := w.follow(link)
		if to.Query().Get("code") == "" {
			t.Fatalf("%s", to)
		}
		w.wait(w.options.Config.Mail.MaxFrequency + 1)
		return to.Query().Get("code")
	}
	exchange := func(code string) reply {
		return w.post("/token?grant_type=pkce", m{"auth_code": code, "code_verifier": verifier})
	}
	ban := func(duration string) {
		w.do("PUT", "/admin/users/"+id, w.admin(), m{"ban_duration": duration}).want(200)
	}
	banned := code()
	ban("1h")
	exchange(banned).want(400, "user_banned")
	ban("none")

	changed := code()
	w.do("PUT", "/user", s.text("access_token"), m{"password": "password-2"}).want(200)
	exchange(changed).want(404, "flow_state_not_found")
	reset := code()
	w.do("PUT", "/admin/users/"+id, w.admin(), m{"password": "password-3"}).want(200)
	exchange(reset).want(404, "flow_state_not_found")

	// Ban the user while the exchange waits.
	late := code()
	tx, err := w.pool.Pgx().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `update auth.users set banned_until = now() + interval '1 day'`); err != nil {
		t.Fatal(err)
	}
	done := make(chan reply)
	go func() { done <- exchange(late) }()
	w.awaitLocks(1)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	(<-done).want(400, "user_banned")
	ban("none")

	deleted := code()
	w.do("DELETE", "/admin/users/"+id, w.admin(), nil).want(200)
	exchange(deleted).want(404, "flow_state_not_found")
	if n := w.count(`select count(*) from auth.sessions`); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// TestRecoveryInvalidatesCodes checks that a recovery link invalidates the code of an unverified
// provider sign-in to the same address, and that the link's own code works.
func TestRecoveryInvalidatesCodes(t *testing.T) {
	w, f := withProviders(t, confirming, func(o *Options) { o.Config.AllowUnverifiedEmail = true })
	f.claims = m{"email": "victim@example.org", "email_verified": false}
	verifier := strings.Repeat("v", 50)
	exchange := func(to *url.URL) reply {
		return w.post("/token?grant_type=pkce", m{"auth_code": to.Query().Get("code"), "code_verifier": verifier})
	}
	stranger := w.through("/authorize?provider=corp&code_challenge=" + verifier + "&code_challenge_method=plain")
	w.mail()
	w.wait(w.options.Config.Mail.MaxFrequency + 1)
	w.post("/recover", m{"email": "victim@example.org", "code_challenge": verifier,
		"code_challenge_method": "plain"}).want(200)
	_, link, _ := w.mail()
	_, to := w.follow(link)
	exchange(stranger).want(404, "flow_state_not_found")
	exchange(to).want(200)
}

// TestLinkOfBannedUser checks that a user who is banned during the redirect to the provider cannot
// link an identity.
func TestLinkOfBannedUser(t *testing.T) {
	w, f := withProviders(t, func(o *Options) { o.Config.ManualLinking = true })
	f.claims = m{"email": "other@example.org", "email_verified": true}
	s := w.signUp("a@example.org")
	begin := w.do("GET", "/user/identities/authorize?provider=google&skip_http_redirect=true", s.text("access_token"),
		nil).want(200)
	at, err := url.Parse(begin.text("url"))
	if err != nil {
		t.Fatal(err)
	}
	w.do("PUT", "/admin/users/"+s.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	back := w.do("GET", "/callback?code=the-code&state="+at.Query().Get("state"), "", nil).want(302)
	if to := back.header.Get("Location"); !strings.Contains(to, "error_code=user_banned") {
		t.Errorf("%s", to)
	}
	if n := w.count(`select count(*) from auth.identities where provider = 'google'`); n != 0 {
		t.Error("the identity was linked")
	}
}
