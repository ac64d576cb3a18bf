package auth

import (
	"slices"
	"testing"
)

// TestMethods checks the replies to methods that an endpoint does not have: 405 with Allow, but
// only to callers that the endpoint admits, as with GoTrue. Every reply has Vary.
func TestMethods(t *testing.T) {
	w := newWorld(t)
	user := w.signUp("a@example.org").text("access_token")
	for _, c := range []struct {
		method, path, token string
		status              int
		allow               []string
	}{
		{"PUT", "/token", "", 405, []string{"POST"}},
		{"HEAD", "/health", "", 405, []string{"GET"}},
		{"PUT", "/verify", "", 405, []string{"GET", "POST"}},
		{"GET", "/logout", "", 405, []string{"POST"}},
		{"PATCH", "/user", "", 401, nil},
		{"PATCH", "/user", user, 405, []string{"GET", "PUT"}},
		{"OPTIONS", "/user", "", 401, nil},
		{"GET", "/user/none", "", 401, nil},
		{"GET", "/user/none", user, 404, nil},
		{"GET", "/factors", "", 401, nil},
		{"GET", "/factors", user, 405, []string{"POST"}},
		{"PUT", "/admin/users", "", 401, nil},
		{"PUT", "/admin/users", user, 403, nil},
		{"PUT", "/admin/users", w.admin(), 405, []string{"GET", "POST"}},
		{"GET", "/admin/none", "", 401, nil},
		{"GET", "/usernames", "", 404, nil},
		{"GET", "/none", "", 404, nil},
		{"GET", "/health", "", 200, nil},
		{"GET", "/admin/users/", w.admin(), 200, nil},
	} {
		r := w.do(c.method, c.path, c.token, nil)
		allow := r.header.Values("Allow")
		slices.Sort(allow)
		if r.status != c.status || !slices.Equal(allow, c.allow) {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, r.status, allow, c.status, c.allow)
		}
		if r.header.Get("Vary") != "Origin" {
			t.Errorf("%s %s: Vary %q", c.method, c.path, r.header.Values("Vary"))
		}
	}
}

// TestSignInBodies checks members of replies to sign-up and sign-in that GoTrue's have.
func TestSignInBodies(t *testing.T) {
	w := newWorld(t)
	verified := func(r reply) any {
		t.Helper()
		return r.at("user.identities").([]any)[0].(map[string]any)["identity_data"].(map[string]any)["email_verified"]
	}
	r := w.signUp("a@example.org")
	if _, given := r.body["weak_password"]; given || verified(r) != true {
		t.Errorf("sign-up: %s", r.raw)
	}
	// GoTrue shows the address as verified in the reply to the sign-up alone.
	r = w.signIn("a@example.org", "password-1").want(200)
	if weak, given := r.body["weak_password"]; !given || weak != nil || verified(r) != false {
		t.Errorf("sign-in: %s", r.raw)
	}
	if _, given := w.refresh(r.text("refresh_token")).want(200).body["weak_password"]; given {
		t.Error("a refreshed session has weak_password")
	}
}

// TestMalformedTokens checks the words of golang-jwt, which clients show.
func TestMalformedTokens(t *testing.T) {
	w := newWorld(t)
	for token, want := range map[string]string{
		"x":                          "token is malformed: token contains an invalid number of segments",
		"a.b.c":                      "token is malformed: could not base64 decode header: illegal base64 data at input byte 0",
		"eyJhbGciOiJYIn0.e30.eA":     "token is unverifiable: signing method (alg) is unavailable",
		"eyJhbGciOiJub25lIn0.e30.":   "token signature is invalid: signing method none is invalid",
		"eyJhbGciOiJIUzI1NiJ9.e30.a": "token is malformed: could not base64 decode signature: illegal base64 data at input byte 0",
	} {
		r := w.do("GET", "/user", token, nil).want(403, "bad_jwt")
		if want = "invalid JWT: unable to parse or verify signature, " + want; r.text("msg") != want {
			t.Errorf("%s: %s, want %s", token, r.text("msg"), want)
		}
	}
}
