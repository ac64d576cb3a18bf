package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/auth/hook"
	"daawo/supabase/internal/keys"
)

// TestOAuthRedirectAttacks asks with other places to come back to than the one that is registered: nobody is led there.
func TestOAuthRedirectAttacks(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("clinic", "none")
	other := w.app("other", "none")
	for name, change := range map[string]map[string]string{
		"another host":           {"redirect_uri": "https://evil.example.org/back"},
		"another path":           {"redirect_uri": a.back + "/x"},
		"a longer query":         {"redirect_uri": a.back + "&next=https://evil.example.org"},
		"without its query":      {"redirect_uri": "https://clinic.example.net/back"},
		"another case":           {"redirect_uri": strings.Replace(a.back, "clinic", "Clinic", 1)},
		"a subdomain":            {"redirect_uri": strings.Replace(a.back, "clinic.", "x.clinic.", 1)},
		"user information":       {"redirect_uri": strings.Replace(a.back, "https://", "https://x@", 1)},
		"a fragment":             {"redirect_uri": a.back + "#"},
		"dots":                   {"redirect_uri": strings.Replace(a.back, "/back", "/x/../back", 1)},
		"percent":                {"redirect_uri": strings.Replace(a.back, "/back", "/%62ack", 1)},
		"http":                   {"redirect_uri": strings.Replace(a.back, "https", "http", 1)},
		"a script":               {"redirect_uri": "javascript:alert(1)"},
		"none":                   {"redirect_uri": ""},
		"another application's":  {"redirect_uri": other.back},
		"the site's own":         {"redirect_uri": "https://example.org"},
		"two, comma":             {"redirect_uri": a.back + "," + a.back},
		"no application":         {"client_id": ""},
		"an unknown application": {"client_id": "00000000-0000-4000-8000-000000000001"},
		"no id":                  {"client_id": "' or true --"},
		"bad and foreign":        {"redirect_uri": "https://evil.example.org/", "scope": "unknown"},
	} {
		if r, _ := a.ask(change); r.status != 400 || r.header.Get("Location") != "" {
			t.Errorf("%s: %d to %q", name, r.status, r.header.Get("Location"))
		}
	}
	if n := w.count(`select count(*) from auth.oauth_authorizations`); n != 0 {
		t.Errorf("%d wishes were noted", n)
	}
	// What is wrong otherwise is told to the application itself, and leads to no consent.
	for name, change := range map[string]map[string]string{
		"no challenge":   {"code_challenge": "", "code_challenge_method": ""},
		"plain":          {"code_challenge_method": "plain"},
		"implicit":       {"response_type": "token"},
		"unknown scope":  {"scope": "email service_role"},
		"NUL in state":   {"state": "a\x00b"},
		"no UTF-8":       {"nonce": "\xff"},
		"long state":     {"state": strings.Repeat("x", 5000)},
		"line in state":  {"scope": "x", "state": "a\r\nSet-Cookie: b=c"},
		"foreign scheme": {"resource": "//evil.example.org"},
	} {
		r, to := a.ask(change)
		if r.want(302); to.Host != "clinic.example.net" || to.Query().Get("error") != "invalid_request" || to.Query().Has("code") || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s", name, to)
		}
	}
}

// TestOAuthConsentAttacks tries to agree in another's place.
func TestOAuthConsentAttacks(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("clinic", "none")
	me, stranger := w.signUp("me@example.org").text("access_token"), w.signUp("stranger@example.org").text("access_token")
	consent := func(name, token string, headers ...string) reply {
		return w.do("POST", "/oauth/authorizations/"+name+"/consent", token, m{"action": "approve"}, headers...)
	}
	// Unseen, it cannot be agreed to.
	_, to := a.ask(nil)
	consent(to.Query().Get("authorization_id"), me).want(404, "oauth_authorization_not_found")
	// Who saw it decides it, nobody else.
	name := a.pending(me, nil)
	consent(name, stranger).want(404, "oauth_authorization_not_found")
	w.do("GET", "/oauth/authorizations/"+name, stranger, nil).want(404, "oauth_authorization_not_found")
	consent(name, "").want(401, "no_authorization")
	consent(name, w.admin()).want(403, "bad_jwt")
	// Not from another site's page.
	for _, origin := range []string{"https://evil.example.net", "null", "https://example.org.evil.example.net", "https://clinic.example.net"} {
		consent(name, me, "Origin", origin).want(400, "validation_failed")
	}
	w.do("POST", "/oauth/authorizations/"+name+"/consent", me, m{"action": "maybe"}).want(400, "validation_failed")
	// Once.
	consent(name, me).want(200)
	consent(name, me).want(400, "validation_failed")
	w.do("GET", "/oauth/authorizations/"+name, me, nil).want(400, "validation_failed")
	// In time.
	late := a.pending(me, map[string]string{"scope": "email phone"})
	w.wait(11 * time.Minute)
	consent(late, me).want(404, "oauth_authorization_not_found")
	if n := w.count(`select count(*) from auth.oauth_authorizations where authorization_id = $1 and status = 'expired'`, late); n != 1 {
		t.Error("it did not expire")
	}
	consent("unknown", me).want(404, "oauth_authorization_not_found")
}

// TestOAuthApplicationAttacks uses the tokens of an application for what nobody granted: it takes no account over, and
// helps itself to nothing.
func TestOAuthApplicationAttacks(t *testing.T) {
	hooked := func(o *Options) {
		o.Config.Hooks.CustomAccessToken = hook.Hook{URI: "pg-functions://postgres/public/same_claims"}
	}
	for _, change := range []func(*Options){func(*Options) {}, hooked} {
		w := newWorld(t, withOAuth, change)
		conn := w.db.Conn("postgres")
		if _, err := conn.Exec(t.Context(), `
			create function public.same_claims(event jsonb) returns jsonb language sql as 'select jsonb_build_object(''claims'', event -> ''claims'')';
			grant execute on function public.same_claims to supabase_auth_admin`); err != nil {
			t.Fatal(err)
		}
		me := w.signUp("me@example.org").text("access_token")
		a := w.app("clinic", "none")
		tokens := a.exchange(a.code(me, nil)).want(200)
		held := tokens.text("access_token")
		greedy := a.pending(me, map[string]string{"scope": "openid email phone"})
		w.do("GET", "/user", held, nil).want(200)
		for _, tt := range []struct {
			method, path string
			body         any
		}{
			{"PUT", "/user", m{"password": "stolen-password"}},
			{"PUT", "/user", m{"email": "thief@example.org"}},
			{"PUT", "/user", m{"data": m{"name": "x"}}},
			{"POST", "/factors", m{"factor_type": "totp"}},
			{"GET", "/reauthenticate", nil},
			{"GET", "/user/identities/authorize?provider=google", nil},
			{"DELETE", "/user/identities/00000000-0000-4000-8000-000000000001", nil},
			{"GET", "/oauth/authorizations/" + greedy, nil},
			{"POST", "/oauth/authorizations/" + greedy + "/consent", m{"action": "approve"}},
			{"GET", "/user/oauth/grants", nil},
			{"DELETE", "/user/oauth/grants?client_id=" + a.id, nil},
			{"GET", "/admin/users", nil},
		} {
			w.do(tt.method, tt.path, held, tt.body).want(403, "no_authorization")
		}
		// An ID token says who somebody is; it opens nothing.
		for _, path := range []string{"/user", "/oauth/userinfo", "/admin/users"} {
			if r := w.do("GET", path, tokens.text("id_token"), nil); r.status != 403 {
				t.Errorf("an ID token at %s: %d %s", path, r.status, r.raw)
			}
		}
		// Its session is refreshed by its proof, and no other session by it.
		if r := w.refresh(tokens.text("refresh_token")).want(400); r.text("error") != "invalid_client" {
			t.Error(r.raw)
		}
		mine := w.signIn("me@example.org", "password-1").want(200)
		if r := a.token(map[string]string{"grant_type": "refresh_token", "refresh_token": mine.text("refresh_token")}).want(400); r.text("error") != "invalid_client" {
			t.Error(r.raw)
		}
		b := w.app("other", "none")
		if r := b.token(map[string]string{"grant_type": "refresh_token", "refresh_token": tokens.text("refresh_token")}).want(400); r.text("error") != "invalid_client" {
			t.Error(r.raw)
		}
		// Signing out of the application is not signing out of the account.
		w.do("POST", "/logout", held, nil).want(204)
		w.do("GET", "/user", held, nil).want(403, "session_not_found")
		w.do("GET", "/user", me, nil).want(200)
	}
}

// TestOAuthCodeAttacks tries codes of others, twice, late, without their proof.
func TestOAuthCodeAttacks(t *testing.T) {
	w := newWorld(t, withOAuth)
	me := w.signUp("me@example.org")
	token := me.text("access_token")
	a, thief := w.app("clinic", "client_secret_basic"), w.app("thief", "none")
	grant := func(code string, change map[string]string) map[string]string {
		f := map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": a.back, "code_verifier": testVerifier}
		for name, v := range change {
			f[name] = v
		}
		return f
	}
	code := a.code(token, nil)
	sum := sha256.Sum256([]byte(code))
	stored := base64.RawURLEncoding.EncodeToString(sum[:])
	for name, change := range map[string]map[string]string{
		"no verifier":          {"code_verifier": ""},
		"the challenge":        {"code_verifier": testChallenge},
		"another verifier":     {"code_verifier": strings.Repeat("x", 43)},
		"another redirect":     {"redirect_uri": "https://evil.example.org/"},
		"another resource":     {"resource": "https://evil.example.org/"},
		"the stored hash":      {"code": stored},
		"no code":              {"code": ""},
		"another code":         {"code": strings.Repeat("x", 43)},
		"grant of the library": {"grant_type": "pkce"},
		"grant by password":    {"grant_type": "password", "username": "me@example.org", "password": "password-1"},
		"the client itself":    {"grant_type": "client_credentials"},
		"no grant":             {"grant_type": ""},
	} {
		if r := a.token(grant(code, change)); r.status != 400 || r.text("error") == "" || r.text("access_token") != "" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if r := thief.token(grant(code, nil)).want(400); r.text("error") != "invalid_grant" {
		t.Error(r.raw)
	}
	basic := func(user, password string) []string {
		return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
	}
	for name, r := range map[string]reply{
		"no proof":              w.form("/oauth/token", grant(code, map[string]string{"client_id": a.id})),
		"no name":               w.form("/oauth/token", grant(code, nil)),
		"wrong secret":          w.form("/oauth/token", grant(code, nil), basic(a.id, "x")...),
		"empty secret":          w.form("/oauth/token", grant(code, nil), basic(a.id, "")...),
		"the right one, body":   w.form("/oauth/token", grant(code, map[string]string{"client_id": a.id, "client_secret": a.secret})),
		"the right one, query":  w.form("/oauth/token?client_id="+a.id+"&client_secret="+url.QueryEscape(a.secret), grant(code, nil)),
		"another's name":        w.form("/oauth/token", grant(code, nil), basic(thief.id, a.secret)...),
		"unknown":               w.form("/oauth/token", grant(code, nil), basic("00000000-0000-4000-8000-000000000001", a.secret)...),
		"no base64":             w.form("/oauth/token", grant(code, nil), "Authorization", "Basic ???"),
		"no colon":              w.form("/oauth/token", grant(code, nil), "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(a.id))),
		"a user's token":        w.form("/oauth/token", grant(code, nil), "Authorization", "Bearer "+token),
		"an administrator's":    w.form("/oauth/token", grant(code, nil), "Authorization", "Bearer "+w.admin()),
		"two ways, one is none": w.form("/oauth/token", grant(code, map[string]string{"client_id": thief.id}), basic(a.id, "x")...),
	} {
		if r.status != 400 || r.text("error_code") != "invalid_credentials" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	// It still is good for whom it was made, once, also when twelve ask at once.
	got := w.together(12, func() reply { return a.token(grant(code, nil)) })
	if n := w.count(`select count(*) from auth.sessions where oauth_client_id is not null`); got[200] != 1 || got[400] != 11 || n != 1 {
		t.Errorf("the code was answered %v, for %d sessions", got, n)
	}
	// Not late, not for the banned.
	late := a.code(token, nil)
	w.wait(10*time.Minute + time.Second)
	if r := a.exchange(late).want(400); r.text("error") != "invalid_grant" {
		t.Error(r.raw)
	}
	banned := a.code(token, nil)
	w.do("PUT", "/admin/users/"+me.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	if r := a.exchange(banned).want(400); r.text("error") != "access_denied" {
		t.Error(r.raw)
	}
}

// TestOAuthLimits bounds how often a client may try.
func TestOAuthLimits(t *testing.T) {
	w := newWorld(t, withOAuth, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", TokenRefreshPerFive: 3, OAuthRegisterPerFive: 2}
	})
	for _, tt := range []struct {
		most         int
		method, path string
	}{{2, "POST", "/oauth/clients/register"}, {3, "POST", "/oauth/token"}} {
		for i := range tt.most + 1 {
			r := w.do(tt.method, tt.path, "", m{}, "X-Forwarded-For", "192.0.2.1")
			if limited := r.status == 429; limited != (i == tt.most) {
				t.Errorf("%s, time %d: %d", tt.path, i+1, r.status)
			}
		}
		if w.do(tt.method, tt.path, "", m{}, "X-Forwarded-For", "192.0.2.2").status == 429 {
			t.Errorf("%s: one client's haste stops another", tt.path)
		}
	}
}

// TestOAuthSettings: who may not register, does not; and a secret signs no ID token, for the application would need it.
func TestOAuthSettings(t *testing.T) {
	w := newWorld(t, withOAuth, func(o *Options) {
		o.Config.OAuthServer.DynamicRegistration = false
		secret := keys.Secret("", testSecret)
		o.Keys = ring{secret, []keys.Key{secret}}
	})
	w.post("/oauth/clients/register", m{"redirect_uris": []string{"https://a.example.net/"}}).want(403, "oauth_dynamic_client_registration_disabled")
	if r := w.do("GET", "/.well-known/oauth-authorization-server", "", nil).want(200); r.text("registration_endpoint") != "" {
		t.Error(r.raw)
	}
	a := w.app("clinic", "none")
	if _, to := a.ask(nil); to.Query().Get("error") != "invalid_request" {
		t.Error(to)
	}
	me := w.signUp("a@example.org").text("access_token")
	if r := a.exchange(a.code(me, map[string]string{"scope": ""})).want(200); r.text("id_token") != "" || payloadOf(t, r.text("access_token"))["scope"] != "email" {
		t.Error(r.raw)
	}
}
