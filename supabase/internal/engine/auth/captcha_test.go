package auth

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestCaptcha checks that every endpoint for unknown clients requires a captcha token, and that
// administrators need none.
func TestCaptcha(t *testing.T) {
	answer := `{"success":true}`
	var asked []string
	verifier := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.PostFormValue("secret")+" "+r.PostFormValue("response")+" "+r.PostFormValue("remoteip"))
		_, _ = rw.Write([]byte(answer))
	}))
	defer verifier.Close()
	w := newWorld(t, func(o *Options) {
		o.Config.Captcha = Captcha{Provider: "turnstile", Secret: "shared", URL: verifier.URL}
		o.Config.WebAuthn = WebAuthnConfig{RPID: "example.org", RPDisplayName: "E",
			RPOrigins: []string{"https://example.org"}, Passkeys: true}
	})
	withToken := func(body m, token string) m {
		body["gotrue_meta_security"] = m{"captcha_token": token}
		return body
	}
	account := func() m { return m{"email": "a@example.org", "password": "password-1"} }
	for _, path := range []string{"/signup", "/token?grant_type=password", "/otp", "/magiclink", "/recover", "/resend",
		"/passkeys/authentication/options"} {
		if r := w.post(path, account()).want(400, "captcha_failed"); len(asked) != 0 {
			t.Errorf("%s without a token: the captcha service was called: %s", path, r.raw)
		}
	}
	s := w.post("/signup", withToken(account(), "human")).want(200)
	if len(asked) != 1 || asked[0] != "shared human 192.0.2.7" {
		t.Errorf("asked %q", asked)
	}
	// A refresh needs no captcha: the session's sign-in had one.
	w.refresh(s.text("refresh_token")).want(200)
	answer = `{"success":false,"error-codes":["timeout-or-duplicate"]}`
	if r := w.post("/token?grant_type=password", withToken(account(), "stale")).want(400,
		"captcha_failed"); r.text("msg") != "captcha protection: request disallowed (timeout-or-duplicate)" {
		t.Errorf("%s", r.raw)
	}
	answer = `{"success":false}`
	w.post("/token?grant_type=password", withToken(account(), "robot")).want(400, "captcha_failed")
	answer = `not JSON`
	w.post("/token?grant_type=password", withToken(account(), "x")).want(500)
	before := len(asked)
	w.do("POST", "/recover", w.admin(), m{"email": "a@example.org"}).want(200)
	if len(asked) != before {
		t.Error("the captcha service was called for an administrator")
	}
}
