package auth

import (
	"testing"

	"github.com/pquerna/otp/totp"
)

// TestLinkingNeedsFactor checks that a session without the second factor can neither link nor
// unlink an identity of an account that has one. A linked identity would let a thief of the
// password in after the password has changed.
func TestLinkingNeedsFactor(t *testing.T) {
	w, f := withProviders(t)
	f.claims = m{"email": "a@example.org", "email_verified": true}
	token := w.signUp("a@example.org").text("access_token")
	linkIdentity(w, "corp", token)
	factor := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	c := w.do("POST", "/factors/"+factor.text("id")+"/challenge", token, nil).want(200)
	code, err := totp.GenerateCode(factor.text("totp.secret"), w.now())
	if err != nil {
		t.Fatal(err)
	}
	strong := w.do("POST", "/factors/"+factor.text("id")+"/verify", token,
		m{"challenge_id": c.text("id"), "code": code}).want(200).text("access_token")
	weak := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	identity := w.do("GET", "/user", weak, nil).want(200).at("identities").([]any)[1].(m)["identity_id"].(string)

	idToken := m{"provider": "google", "id_token": f.idToken(t, w, m{"sub": "person-2"}), "link_identity": true}
	w.do("POST", "/token?grant_type=id_token", weak, idToken).want(403, "insufficient_aal")
	w.do("GET", "/user/identities/authorize?skip_http_redirect=true&provider=google", weak, nil).want(403,
		"insufficient_aal")
	w.do("DELETE", "/user/identities/"+identity, weak, nil).want(403, "insufficient_aal")

	w.do("GET", "/user/identities/authorize?skip_http_redirect=true&provider=google", strong, nil).want(200)
	w.do("POST", "/token?grant_type=id_token", strong, idToken).want(200)
	w.do("DELETE", "/user/identities/"+identity, strong, nil).want(200)
}

// TestLinkingDisabled checks that an ID token, too, links no identity where linking is disabled.
func TestLinkingDisabled(t *testing.T) {
	w, f := withProviders(t, func(o *Options) { o.Config.ManualLinking = false })
	f.claims = m{"email": "a@example.org", "email_verified": true}
	token := w.signUp("a@example.org").text("access_token")
	w.do("POST", "/token?grant_type=id_token", token, m{"provider": "google", "id_token": f.idToken(t, w, nil),
		"link_identity": true}).want(404, "manual_linking_disabled")
	w.post("/token?grant_type=id_token", m{"provider": "google", "id_token": f.idToken(t, w, nil)}).want(200)
}

// TestOtherAudienceTellsNothing checks that a request for another audience does not tell whether an
// address has an account: it is taken in every audience.
func TestOtherAudienceTellsNothing(t *testing.T) {
	w := newWorld(t, confirming)
	w.do("POST", "/admin/users", w.admin(), m{"email": "known@example.org", "email_confirm": true}).want(200)
	w.post("/signup", m{"email": "pending@example.org", "password": "password-1"}).want(200)
	w.mails = nil
	for _, email := range []string{"known@example.org", "pending@example.org", "unknown@example.org"} {
		w.do("POST", "/signup", "", m{"email": email, "password": "password-1"}, "X-JWT-AUD", "other").want(200)
		w.do("POST", "/otp", "", m{"email": email}, "X-JWT-AUD", "other").want(200)
	}
	for range 2 {
		if to, _, _ := w.mail(); to != "unknown@example.org" {
			t.Errorf("a mail to %s", to)
		}
	}
	if len(w.mails) != 0 {
		t.Errorf("%d more mails", len(w.mails))
	}
}

// TestPasskeyDuringSignOut checks that the registration of a passkey fails if its session ends
// while the request waits.
func TestPasskeyDuringSignOut(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	token := w.signUp("a@example.org").text("access_token")
	o := w.do("POST", "/passkeys/registration/options", token, m{}).want(200)
	body := m{"challenge_id": o.text("challenge_id"),
		"credential": newAuthenticator(t, "example.org", rpOrigin).create(o.at("options"))}
	w.signOutDuring("auth.users", func() reply { return w.do("POST", "/passkeys/registration/verify", token, body) }).
		want(403, "session_not_found")
	if n := w.count(`select count(*) from auth.webauthn_credentials`); n != 0 {
		t.Errorf("%d passkeys", n)
	}
}

// TestEnrolmentDuringSignOut is TestPasskeyDuringSignOut for a factor.
func TestEnrolmentDuringSignOut(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	w.signOutDuring("auth.users", func() reply { return w.do("POST", "/factors", token, m{"factor_type": "totp"}) }).
		want(403, "session_not_found")
}
