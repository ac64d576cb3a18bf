package auth

import (
	"strings"
	"testing"
	"time"
)

const rpOrigin = "https://app.example.org"

func withWebAuthn(o *Options) {
	o.Config.MFA.EnableWebAuthnEnroll, o.Config.MFA.EnableWebAuthnVerify = true, true
	o.Config.WebAuthn = WebAuthnConfig{RPID: "example.org", RPDisplayName: "Example", RPOrigins: []string{rpOrigin},
		Passkeys: true, MaxPasskeys: 2}
}

// TestWebAuthnFactor enrols and verifies a security key, and checks that other keys, sites and
// challenges are rejected.
func TestWebAuthnFactor(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "webauthn", "friendly_name": "key"}).want(200)
	path := "/factors/" + f.text("id")
	ask := func(token string) reply { return w.do("POST", path+"/challenge", token, m{}).want(200) }
	answer := func(token string, c reply, kind string, credential m) reply {
		return w.do("POST", path+"/verify", token,
			m{"challenge_id": c.text("id"), "webauthn": m{"type": kind, "credential_response": credential}})
	}
	key := newAuthenticator(t, "example.org", rpOrigin)

	c := ask(token)
	if c.text("webauthn.type") != "create" {
		t.Fatalf("%s", c.raw)
	}
	options := c.at("webauthn.credential_options.publicKey")
	wrongOrigin := newAuthenticator(t, "example.org", "https://evil.example")
	answer(token, c, "create", wrongOrigin.create(options)).want(422, "mfa_verification_failed")
	wrongSite := newAuthenticator(t, "evil.example", rpOrigin)
	answer(token, c, "create", wrongSite.create(options)).want(422, "mfa_verification_failed")
	answer(token, c, "request", key.get(options)).want(400, "validation_failed") // nothing is enrolled yet
	answer(token, c, "create", m{"id": "x"}).want(400, "validation_failed")
	w.wait(time.Second) // amr is sorted by time, newest first
	up := answer(token, c, "create", key.create(options)).want(200)
	if claims := payload(t, up.text("access_token")); claims["aal"] != "aal2" ||
		claims["amr"].([]any)[0].(m)["method"] != "mfa/webauthn" {
		t.Errorf("claims %v", claims)
	}

	// Only WebAuthn factors have an AAGUID.
	w.do("POST", "/factors", up.text("access_token"), m{"factor_type": "totp", "friendly_name": "phone"}).want(200)
	user := up.text("user.id")
	for _, r := range []reply{
		w.do("GET", "/user", up.text("access_token"), nil),
		w.do("GET", "/admin/users/"+user+"/factors", w.admin(), nil),
		w.do("PUT", "/admin/users/"+user+"/factors/"+f.text("id"), w.admin(), m{"friendly_name": "key"}),
	} {
		if strings.Count(r.raw, `"web_authn_aaguid":"00000000-0000-0000-0000-000000000000"`) != 1 ||
			strings.Count(r.raw, "web_authn_aaguid") != 1 {
			t.Errorf("%s", r.raw)
		}
	}

	low := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	c = ask(low)
	if c.text("webauthn.type") != "request" {
		t.Fatalf("%s", c.raw)
	}
	options = c.at("webauthn.credential_options.publicKey")
	stranger := newAuthenticator(t, "example.org", rpOrigin)
	stranger.handle = key.handle
	answer(low, c, "request", stranger.get(options)).want(422, "mfa_verification_failed")
	stranger.id = key.id // the same ID with another key
	answer(low, c, "request", stranger.get(options)).want(422, "mfa_verification_failed")
	replacing := stranger.create(m{"challenge": options.(m)["challenge"], "user": m{"id": key.handle}})
	answer(low, c, "create", replacing).want(400, "validation_failed") // an enrolled key is not replaced
	answer(low, c, "request", key.get(m{"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})).want(422,
		"mfa_verification_failed")
	signed := key.get(options)
	answer(low, c, "request", signed).want(200)
	answer(low, c, "request", signed).want(422) // a challenge works once
	late := ask(low)
	w.wait(6 * time.Minute)
	answer(low, late, "request", key.get(late.at("webauthn.credential_options.publicKey"))).want(422,
		"mfa_challenge_expired")
}

// TestPasskeys registers passkeys, signs in with one, and renames and deletes them.
func TestPasskeys(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	s := w.signUp("a@example.org")
	token, id := s.text("access_token"), s.text("user.id")
	register := func(token string, key *authenticator) reply {
		o := w.do("POST", "/passkeys/registration/options", token, m{}).want(200)
		return w.do("POST", "/passkeys/registration/verify", token,
			m{"challenge_id": o.text("challenge_id"), "credential": key.create(o.at("options"))})
	}
	key := newAuthenticator(t, "example.org", rpOrigin)
	passkey := register(token, key).want(200)
	for _, r := range []reply{passkey, w.do("GET", "/passkeys", token, nil)} {
		if strings.Contains(r.raw, "Credential") || !strings.Contains(r.raw, passkey.text("id")) {
			t.Errorf("%s", r.raw) // GoTrue shows no credential
		}
	}
	register(token, key).want(422, "webauthn_credential_exists")
	register(token, newAuthenticator(t, "example.org", "https://evil.example")).want(400,
		"webauthn_verification_failed")
	second := register(token, newAuthenticator(t, "example.org", rpOrigin)).want(200)
	w.do("POST", "/passkeys/registration/options", token, m{}).want(422, "too_many_passkeys")
	w.do("POST", "/passkeys/registration/options", w.post("/signup", m{}).want(200).text("access_token"), m{}).want(403,
		"no_authorization")

	options := func() reply { return w.post("/passkeys/authentication/options", m{}).want(200) }
	signIn := func(o reply, credential m) reply {
		return w.post("/passkeys/authentication/verify",
			m{"challenge_id": o.text("challenge_id"), "credential": credential})
	}
	o := options()
	signed := key.get(o.at("options"))
	in := signIn(o, signed).want(200)
	if in.text("user.id") != id || payload(t, in.text("access_token"))["amr"].([]any)[0].(m)["method"] != "passkey" {
		t.Errorf("%s", in.raw)
	}
	signIn(o, signed).want(400, "webauthn_challenge_not_found") // a challenge works once
	o = options()
	stranger := newAuthenticator(t, "example.org", rpOrigin)
	stranger.handle, stranger.id = key.handle, key.id
	signIn(o, stranger.get(o.at("options"))).want(400, "webauthn_verification_failed")
	// a wrong answer uses the challenge up, too
	signIn(o, key.get(o.at("options"))).want(400, "webauthn_challenge_not_found")
	o = options()
	w.wait(6 * time.Minute)
	signIn(o, key.get(o.at("options"))).want(400, "webauthn_challenge_expired")

	if list := w.do("GET", "/passkeys", token, nil).want(200); passkey.text("friendly_name") != "Passkey" ||
		strings.Count(list.raw, `"friendly_name":"Passkey"`) != 2 {
		t.Errorf("a new passkey has no name: %s", list.raw)
	}
	w.do("PATCH", "/passkeys/"+passkey.text("id"), token, m{"friendly_name": "Phone"}).want(200)
	w.do("PATCH", "/passkeys/"+passkey.text("id"), token, m{"friendly_name": ""}).want(400, "validation_failed")
	other := w.signUp("b@example.org").text("access_token")
	w.do("PATCH", "/passkeys/"+passkey.text("id"), other, m{"friendly_name": "Mine"}).want(404)
	w.do("DELETE", "/passkeys/"+passkey.text("id"), other, nil).want(404)
	if n := w.count(`select count(*) from auth.webauthn_credentials where user_id = $1 and friendly_name = 'Phone' and sign_count > 0`, id); n != 1 {
		t.Errorf("%d passkeys named Phone with a signature counter", n)
	}
	w.do("DELETE", "/admin/users/"+id+"/passkeys/"+second.text("id"), w.admin(), nil).want(204)
	w.do("DELETE", "/passkeys/"+passkey.text("id"), token, nil).want(204)
	o = options()
	signIn(o, key.get(o.at("options"))).want(400, "webauthn_verification_failed")
}

// TestPasskeyOfAnotherUser checks that a passkey signs in to its own account only, whatever user
// handle the reply names, and not if that user is banned.
func TestPasskeyOfAnotherUser(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	a, b := w.signUp("a@example.org"), w.signUp("b@example.org")
	key := newAuthenticator(t, "example.org", rpOrigin)
	o := w.do("POST", "/passkeys/registration/options", a.text("access_token"), m{}).want(200)
	credential := key.create(o.at("options"))
	// The challenge belongs to the other user.
	w.do("POST", "/passkeys/registration/verify", b.text("access_token"),
		m{"challenge_id": o.text("challenge_id"), "credential": credential}).want(400, "webauthn_challenge_not_found")
	w.do("POST", "/passkeys/registration/verify", a.text("access_token"),
		m{"challenge_id": o.text("challenge_id"), "credential": credential}).want(200)
	own := key.handle
	key.handle = base64url([]byte(b.text("user.id")))
	o = w.post("/passkeys/authentication/options", m{}).want(200)
	w.post("/passkeys/authentication/verify", m{"challenge_id": o.text("challenge_id"),
		"credential": key.get(o.at("options"))}).want(400, "webauthn_verification_failed")
	key.handle = own
	w.do("PUT", "/admin/users/"+a.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	o = w.post("/passkeys/authentication/options", m{}).want(200)
	w.post("/passkeys/authentication/verify",
		m{"challenge_id": o.text("challenge_id"), "credential": key.get(o.at("options"))}).want(403, "user_banned")
}
