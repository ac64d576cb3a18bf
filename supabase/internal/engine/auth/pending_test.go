package auth

import (
	"net/url"
	"strings"
	"testing"
)

// TestPasswordChangeEndsPending checks that what a thief of a session has begun ends with a change
// of the password: the link of an identity, and the code of an application.
func TestPasswordChangeEndsPending(t *testing.T) {
	t.Run("identity", func(t *testing.T) {
		w, f := withProviders(t)
		f.claims = m{"email": "thief@example.org", "email_verified": true}
		w.signUp("a@example.org")
		owner := w.signIn("a@example.org", "password-1").want(200).text("access_token")
		thief := w.signIn("a@example.org", "password-1").want(200).text("access_token")
		begun := w.do("GET", "/user/identities/authorize?provider=corp&skip_http_redirect=true", thief, nil).want(200)
		at, err := url.Parse(begun.text("url"))
		if err != nil {
			t.Fatal(err)
		}
		w.do("PUT", "/user", owner, m{"password": "password-2"}).want(200)
		r := w.do("GET", "/callback?code=the-code&state="+at.Query().Get("state"), "", nil)
		if !strings.Contains(r.header.Get("Location"), "error_code=bad_oauth_state") {
			t.Errorf("the callback leads to %s", r.header.Get("Location"))
		}
		if n := w.count(`select count(*) from auth.identities`); n != 1 {
			t.Errorf("%d identities", n)
		}
	})
	t.Run("application", func(t *testing.T) {
		w := newWorld(t, withOAuth)
		a := w.app("shop", "none")
		w.signUp("a@example.org")
		thief := w.signIn("a@example.org", "password-1").want(200).text("access_token")
		code := a.code(thief, nil)
		owner := w.signIn("a@example.org", "password-1").want(200).text("access_token")
		w.do("PUT", "/user", owner, m{"password": "password-2"}).want(200)
		if r := a.exchange(code); r.status != 400 || r.text("error") != "invalid_grant" {
			t.Errorf("the code of an application: %d %s", r.status, r.raw)
		}
		// The application asks again.
		a.exchange(a.code(owner, nil)).want(200)
	})
}

// TestDeletedUserHasNoCodes checks that a code does not begin a session of an account that was
// deleted and whose row was kept.
func TestDeletedUserHasNoCodes(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("shop", "none")
	s := w.signUp("a@example.org")
	granted := a.code(s.text("access_token"), nil)
	verifier := strings.Repeat("v", 50)
	w.post("/otp", m{"email": "a@example.org", "code_challenge": verifier, "code_challenge_method": "plain"}).want(200)
	_, link, _ := w.mail()
	_, to := w.follow(link)
	w.do("DELETE", "/admin/users/"+s.text("user.id"), w.admin(), m{"should_soft_delete": true}).want(200)
	if r := a.exchange(granted); r.status != 400 {
		t.Errorf("the code of an application: %d %s", r.status, r.raw)
	}
	w.post("/token?grant_type=pkce", m{"auth_code": to.Query().Get("code"), "code_verifier": verifier}).want(404,
		"flow_state_not_found")
	if n := w.count(`select count(*) from auth.sessions`); n != 0 {
		t.Errorf("%d sessions", n)
	}
}
