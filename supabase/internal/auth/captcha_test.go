package auth

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestCaptcha: every door that a program could knock at asks for a proof of humanity; administrators need none.
func TestCaptcha(t *testing.T) {
	answer := `{"success":true}`
	var asked []string
	judge := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.PostFormValue("secret")+" "+r.PostFormValue("response")+" "+r.PostFormValue("remoteip"))
		_, _ = rw.Write([]byte(answer))
	}))
	defer judge.Close()
	w := newWorld(t, func(o *Options) {
		o.Config.Captcha = Captcha{Provider: "turnstile", Secret: "shared", URL: judge.URL}
		o.Config.WebAuthn = WebAuthnConfig{RPID: "example.org", RPDisplayName: "E", RPOrigins: []string{"https://example.org"}, Passkeys: true}
	})
	proof := func(body m, token string) m {
		body["gotrue_meta_security"] = m{"captcha_token": token}
		return body
	}
	account := func() m { return m{"email": "a@example.org", "password": "password-1"} }
	for _, path := range []string{"/signup", "/token?grant_type=password", "/otp", "/magiclink", "/recover", "/resend", "/passkeys/authentication/options"} {
		if r := w.post(path, account()).want(400, "captcha_failed"); len(asked) != 0 {
			t.Errorf("%s asked without a token: %s", path, r.raw)
		}
	}
	s := w.post("/signup", proof(account(), "human")).want(200)
	if len(asked) != 1 || asked[0] != "shared human 192.0.2.7" {
		t.Errorf("asked %q", asked)
	}
	// Who has a session has proved it before.
	w.refresh(s.text("refresh_token")).want(200)
	answer = `{"success":false,"error-codes":["timeout-or-duplicate"]}`
	if r := w.post("/token?grant_type=password", proof(account(), "stale")).want(400, "captcha_failed"); r.text("msg") != "captcha protection: request disallowed (timeout-or-duplicate)" {
		t.Errorf("%s", r.raw)
	}
	answer = `{"success":false}`
	w.post("/token?grant_type=password", proof(account(), "robot")).want(400, "captcha_failed")
	answer = `no JSON`
	w.post("/token?grant_type=password", proof(account(), "x")).want(500)
	before := len(asked)
	w.do("POST", "/recover", w.admin(), m{"email": "a@example.org"}).want(200)
	if len(asked) != before {
		t.Error("an administrator was asked")
	}
}
