package auth

import (
	"fmt"
	"net/url"
	"testing"
)

// TestLimits checks the limits per client address and per mail, and that the database does not
// store client addresses.
func TestLimits(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", TokenRefreshPerFive: 3, EmailPerHour: 2}
		o.Config.MailerAutoconfirm = false
	})
	try := func(from string) reply {
		return w.do("POST", "/token?grant_type=password", "", m{"email": "a@example.org", "password": "x"},
			"X-Forwarded-For", from)
	}
	for range 3 {
		try("198.51.100.1").want(400)
	}
	try("198.51.100.1").want(429, "over_request_rate_limit")
	try("198.51.100.2").want(400)
	w.wait(101e9)
	try("198.51.100.1").want(400) // one of three requests per five minutes
	for i := range 3 {
		want := 200
		if i == 2 {
			want = 429
		}
		w.post("/signup", m{"email": fmt.Sprintf("p%d@example.org", i), "password": "password-1"}).want(want)
	}
	if w.count(`select count(*) from auth_limits.buckets where encode(key, 'escape') like '%198.51%'`) != 0 {
		t.Error("a client address is stored")
	}
}

// TestAdministration checks the endpoints for administrators. Only invitations send mail.
func TestAdministration(t *testing.T) {
	w := newWorld(t, confirming)
	admin := w.admin()
	u := w.do("POST", "/admin/users", admin, m{"email": "a@example.org", "password": "password-1",
		"email_confirm": true, "user_metadata": m{"name": "A"}}).want(200)
	w.signIn("a@example.org", "password-1").want(200)
	w.do("POST", "/admin/users", admin, m{"email": "A@example.org"}).want(422, "email_exists")
	w.do("PUT", "/admin/users/"+u.text("id"), admin, m{"ban_duration": "24h"}).want(200)
	w.signIn("a@example.org", "password-1").want(400, "user_banned")
	w.do("PUT", "/admin/users/"+u.text("id"), admin, m{"ban_duration": "none", "email": "b@example.org"}).want(200)
	if r := w.do("PUT", "/admin/users/"+u.text("id"), admin, m{"ban_duration": "0s"}).want(200); r.at(
		"banned_until") != nil {
		t.Errorf("banned for no time: %s", r.raw)
	}
	link := w.do("POST", "/admin/generate_link", admin,
		m{"type": "recovery", "email": "b@example.org", "redirect_to": "https://app.example.com/x"}).want(200)
	at, err := url.Parse(link.text("action_link"))
	if err != nil || at.Query().Get("token") != link.text("hashed_token") ||
		link.text("redirect_to") != "https://app.example.com/x" || len(w.mails) != 0 {
		t.Errorf("%s", link.raw)
	}
	if _, to := w.follow(at); fragment(t, to).Get("type") != "recovery" {
		t.Errorf("%s", to)
	}
	w.do("POST", "/invite", admin, m{"email": "c@example.org"}).want(200)
	_, invitation, _ := w.mail()
	if _, to := w.follow(invitation); fragment(t, to).Get("access_token") == "" {
		t.Errorf("%s", to)
	}
	w.do("POST", "/invite", admin, m{"email": "c@example.org"}).want(422, "email_exists")
	if log := w.do("GET", "/admin/audit?query=action:user_invited", admin,
		nil).want(200); log.header.Get("X-Total-Count") != "1" {
		t.Errorf("%s", log.raw)
	}
	w.do("DELETE", "/admin/users/"+u.text("id"), admin, m{"should_soft_delete": true}).want(200)
	w.post("/recover", m{"email": "b@example.org"}).want(200)
	if len(w.mails) != 0 {
		t.Error("a deleted account got mail")
	}
	w.do("GET", "/admin/users/"+u.text("id"), admin, nil).want(200)
	w.do("DELETE", "/admin/users/"+u.text("id"), admin, nil).want(200)
	w.do("GET", "/admin/users/"+u.text("id"), admin, nil).want(404, "user_not_found")
	for path, code := range map[string]string{"/sso": "saml_provider_disabled", "/oauth/token": "feature_disabled",
		"/passkeys/authentication/options": "passkey_disabled"} {
		w.do("POST", path, "", m{}).want(404, code)
	}
}

// TestAdministrationAsUser checks which refusal a user gets, by what became of the account.
func TestAdministrationAsUser(t *testing.T) {
	w := newWorld(t)
	u := w.signUp("a@example.org")
	w.do("GET", "/admin/users", u.text("access_token"), nil).want(403, "not_admin")
	w.do("PUT", "/admin/users/"+u.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	w.do("GET", "/admin/users", u.text("access_token"), nil).want(403, "not_admin")

	other := w.signUp("b@example.org")
	w.do("POST", "/logout", other.text("access_token"), nil).want(204)
	w.do("GET", "/admin/users", other.text("access_token"), nil).want(403, "session_not_found")
	w.do("DELETE", "/admin/users/"+other.text("user.id"), w.admin(), nil).want(200)
	w.do("GET", "/admin/users", other.text("access_token"), nil).want(403, "user_not_found")
}
