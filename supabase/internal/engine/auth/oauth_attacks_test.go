package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth/hook"
)

// TestOAuthRedirectAttacks checks that the server never redirects to an unregistered URI.
func TestOAuthRedirectAttacks(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("shop", "none")
	other := w.app("other", "none")
	for name, change := range map[string]map[string]string{
		"another host":                {"redirect_uri": "https://evil.example.org/back"},
		"another path":                {"redirect_uri": a.back + "/x"},
		"longer query":                {"redirect_uri": a.back + "&next=https://evil.example.org"},
		"no query":                    {"redirect_uri": "https://shop.example.net/back"},
		"upper case":                  {"redirect_uri": strings.Replace(a.back, "shop", "Shop", 1)},
		"subdomain":                   {"redirect_uri": strings.Replace(a.back, "shop.", "x.shop.", 1)},
		"user in the URI":             {"redirect_uri": strings.Replace(a.back, "https://", "https://x@", 1)},
		"fragment":                    {"redirect_uri": a.back + "#"},
		"dot segments":                {"redirect_uri": strings.Replace(a.back, "/back", "/x/../back", 1)},
		"percent-encoding":            {"redirect_uri": strings.Replace(a.back, "/back", "/%62ack", 1)},
		"http":                        {"redirect_uri": strings.Replace(a.back, "https", "http", 1)},
		"script":                      {"redirect_uri": "javascript:alert(1)"},
		"no redirect URI":             {"redirect_uri": ""},
		"URI of another application":  {"redirect_uri": other.back},
		"URL of the site":             {"redirect_uri": "https://example.org"},
		"two URIs":                    {"redirect_uri": a.back + "," + a.back},
		"no application":              {"client_id": ""},
		"unknown application":         {"client_id": "00000000-0000-4000-8000-000000000001"},
		"malformed client ID":         {"client_id": "' or true --"},
		"another host, unknown scope": {"redirect_uri": "https://evil.example.org/", "scope": "unknown"},
	} {
		if r, _ := a.ask(change); r.status != 400 || r.header.Get("Location") != "" {
			t.Errorf("%s: %d to %q", name, r.status, r.header.Get("Location"))
		}
	}
	if n := w.count(`select count(*) from auth.oauth_authorizations`); n != 0 {
		t.Errorf("%d authorizations are stored", n)
	}
	// Other errors are sent to the registered URI, without a code.
	for name, change := range map[string]map[string]string{
		"no challenge":        {"code_challenge": "", "code_challenge_method": ""},
		"unknown PKCE method": {"code_challenge_method": "S512"},
		"implicit":            {"response_type": "token"},
		"unknown scope":       {"scope": "email service_role"},
		"NUL in state":        {"state": "a\x00b"},
		"invalid UTF-8":       {"nonce": "\xff"},
		"long state":          {"state": strings.Repeat("x", 5000)},
		"CRLF in state":       {"scope": "x", "state": "a\r\nSet-Cookie: b=c"},
		"no scheme":           {"resource": "//evil.example.org"},
	} {
		r, to := a.ask(change)
		if r.want(302); to.Host != "shop.example.net" || to.Query().Get("error") != "invalid_request" ||
			to.Query().Has("code") || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s", name, to)
		}
	}
}

// TestOAuthConsentAttacks checks that only the user who has seen an authorization can decide it,
// once, in time, from the site.
func TestOAuthConsentAttacks(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("shop", "none")
	me, stranger := w.signUp("me@example.org").text("access_token"),
		w.signUp("stranger@example.org").text("access_token")
	consent := func(name, token string, headers ...string) reply {
		return w.do("POST", "/oauth/authorizations/"+name+"/consent", token, m{"action": "approve"}, headers...)
	}
	// Not before the user has seen it.
	_, to := a.ask(nil)
	consent(to.Query().Get("authorization_id"), me).want(404, "oauth_authorization_not_found")
	// Not by another user, and not without a user.
	name := a.pending(me, nil)
	consent(name, stranger).want(404, "oauth_authorization_not_found")
	w.do("GET", "/oauth/authorizations/"+name, stranger, nil).want(404, "oauth_authorization_not_found")
	consent(name, "").want(401, "no_authorization")
	consent(name, w.admin()).want(403, "bad_jwt")
	// Not from the page of another site.
	for _, origin := range []string{"https://evil.example.net", "null", "https://example.org.evil.example.net",
		"https://shop.example.net"} {
		consent(name, me, "Origin", origin).want(400, "validation_failed")
	}
	w.do("POST", "/oauth/authorizations/"+name+"/consent", me, m{"action": "maybe"}).want(400, "validation_failed")
	// Once.
	consent(name, me).want(200)
	consent(name, me).want(400, "validation_failed")
	w.do("GET", "/oauth/authorizations/"+name, me, nil).want(400, "validation_failed")
	// Not after it has expired.
	late := a.pending(me, map[string]string{"scope": "email phone"})
	w.wait(11 * time.Minute)
	consent(late, me).want(404, "oauth_authorization_not_found")
	if n := w.count(`select count(*) from auth.oauth_authorizations where authorization_id = $1 and status = 'expired'`,
		late); n != 1 {
		t.Error("the authorization has not expired")
	}
	consent("unknown", me).want(404, "oauth_authorization_not_found")
}

// TestOAuthApplicationAttacks checks that the tokens of an application cannot change the account,
// grant scopes, or administer, and that applications cannot refresh each other's sessions.
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
		a := w.app("shop", "none")
		tokens := a.exchange(a.code(me, nil)).want(200)
		access := tokens.text("access_token")
		more := a.pending(me, map[string]string{"scope": "openid email phone"})
		w.do("GET", "/user", access, nil).want(200)
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
			{"GET", "/oauth/authorizations/" + more, nil},
			{"POST", "/oauth/authorizations/" + more + "/consent", m{"action": "approve"}},
			{"GET", "/user/oauth/grants", nil},
			{"DELETE", "/user/oauth/grants?client_id=" + a.id, nil},
		} {
			w.do(tt.method, tt.path, access, tt.body).want(403, "no_authorization")
		}
		w.do("GET", "/admin/users", access, nil).want(403, "not_admin")
		// An ID token gives no access.
		for _, path := range []string{"/user", "/oauth/userinfo", "/admin/users"} {
			if r := w.do("GET", path, tokens.text("id_token"), nil); r.status != 403 {
				t.Errorf("%s with an ID token: %d %s", path, r.status, r.raw)
			}
		}
		// Refreshing needs the application's credentials, which work for its own session only.
		if r := w.refresh(tokens.text("refresh_token")).want(400); r.text("error") != "invalid_client" {
			t.Error(r.raw)
		}
		mine := w.signIn("me@example.org", "password-1").want(200)
		if r := a.token(map[string]string{"grant_type": "refresh_token",
			"refresh_token": mine.text("refresh_token")}).want(400); r.text("error") != "invalid_client" {
			t.Error(r.raw)
		}
		b := w.app("other", "none")
		if r := b.token(map[string]string{"grant_type": "refresh_token",
			"refresh_token": tokens.text("refresh_token")}).want(400); r.text("error") != "invalid_client" {
			t.Error(r.raw)
		}
		// Signing out of the application does not end the user's own session.
		w.do("POST", "/logout", access, nil).want(204)
		w.do("GET", "/user", access, nil).want(403, "session_not_found")
		w.do("GET", "/user", me, nil).want(200)
	}
}

// TestOAuthCodeAttacks checks that a code works only for its application, with its verifier and
// redirect URI, and once.
func TestOAuthCodeAttacks(t *testing.T) {
	w := newWorld(t, withOAuth)
	token := w.signUp("me@example.org").text("access_token")
	a, thief := w.app("shop", "client_secret_basic"), w.app("thief", "none")
	grant := func(code string, change map[string]string) map[string]string {
		f := map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": a.back,
			"code_verifier": testVerifier}
		for name, v := range change {
			f[name] = v
		}
		return f
	}
	code := a.code(token, nil)
	sum := sha256.Sum256([]byte(code))
	stored := base64.RawURLEncoding.EncodeToString(sum[:])
	for name, change := range map[string]map[string]string{
		"no verifier":           {"code_verifier": ""},
		"challenge as verifier": {"code_verifier": testChallenge},
		"another verifier":      {"code_verifier": strings.Repeat("x", 43)},
		"another redirect URI":  {"redirect_uri": "https://evil.example.org/"},
		"another resource":      {"resource": "https://evil.example.org/"},
		"stored hash as code":   {"code": stored},
		"no code":               {"code": ""},
		"another code":          {"code": strings.Repeat("x", 43)},
		"pkce grant of /token":  {"grant_type": "pkce"},
		"password grant":        {"grant_type": "password", "username": "me@example.org", "password": "password-1"},
		"client credentials":    {"grant_type": "client_credentials"},
		"no grant type":         {"grant_type": ""},
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
		"no secret":    w.form("/oauth/token", grant(code, map[string]string{"client_id": a.id})),
		"no client ID": w.form("/oauth/token", grant(code, nil)),
		"wrong secret": w.form("/oauth/token", grant(code, nil), basic(a.id, "x")...),
		"empty secret": w.form("/oauth/token", grant(code, nil), basic(a.id, "")...),
		"secret in the body": w.form("/oauth/token",
			grant(code, map[string]string{"client_id": a.id, "client_secret": a.secret})),
		"secret in the query": w.form("/oauth/token?client_id="+a.id+"&client_secret="+url.QueryEscape(a.secret),
			grant(code, nil)),
		"another client ID": w.form("/oauth/token", grant(code, nil), basic(thief.id, a.secret)...),
		"unknown client ID": w.form("/oauth/token", grant(code, nil),
			basic("00000000-0000-4000-8000-000000000001", a.secret)...),
		"invalid base64": w.form("/oauth/token", grant(code, nil), "Authorization", "Basic ???"),
		"no colon": w.form("/oauth/token", grant(code, nil), "Authorization", "Basic "+
			base64.StdEncoding.EncodeToString([]byte(a.id))),
		"token of a user":    w.form("/oauth/token", grant(code, nil), "Authorization", "Bearer "+token),
		"service_role token": w.form("/oauth/token", grant(code, nil), "Authorization", "Bearer "+w.admin()),
		"two client IDs": w.form("/oauth/token", grant(code, map[string]string{"client_id": thief.id}),
			basic(a.id, "x")...),
	} {
		// RFC 6749, section 5.2: a client that sent the Basic header gets 401 with the scheme.
		want, scheme := 400, ""
		switch name {
		case "wrong secret", "empty secret", "another client ID", "unknown client ID", "invalid base64", "no colon",
			"two client IDs":
			want, scheme = 401, `Basic realm="oauth"`
		}
		if r.status != want || r.text("error") != "invalid_client" || r.header.Get("WWW-Authenticate") != scheme {
			t.Errorf("%s: %d %v %s", name, r.status, r.header, r.raw)
		}
	}
	// After all these attempts the code still works for its application, and only for one of twelve
	// concurrent requests.
	got := w.together(12, func() reply { return a.token(grant(code, nil)) })
	if n := w.count(`select count(*) from auth.sessions where oauth_client_id is not null`); got[200] != 1 ||
		got[400] != 11 || n != 1 {
		t.Errorf("replies %v, %d sessions", got, n)
	}
}

// TestOAuthCodeExpires checks that a code works only in time, and for a user who is not banned.
func TestOAuthCodeExpires(t *testing.T) {
	w := newWorld(t, withOAuth)
	me := w.signUp("me@example.org")
	token := me.text("access_token")
	a := w.app("shop", "client_secret_basic")
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

// TestOAuthLimits checks the rate limits per client address.
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
				t.Errorf("%s, request %d: %d", tt.path, i+1, r.status)
			}
		}
		if w.do(tt.method, tt.path, "", m{}, "X-Forwarded-For", "192.0.2.2").status == 429 {
			t.Errorf("%s: the limit of one address applies to another", tt.path)
		}
	}
}

// TestOAuthSettings checks disabled dynamic registration, and that the server issues no ID tokens
// without an asymmetric key: the application would need the secret to verify them.
func TestOAuthSettings(t *testing.T) {
	w := newWorld(t, withOAuth, func(o *Options) {
		o.Config.OAuthServer.DynamicRegistration = false
		secret := keys.Secret("", testSecret)
		o.Keys = ring{secret, []keys.Key{secret}}
	})
	w.post("/oauth/clients/register", m{"redirect_uris": []string{"https://a.example.net/"}}).want(403,
		"oauth_dynamic_client_registration_disabled")
	if r := w.do("GET", "/.well-known/oauth-authorization-server", "",
		nil).want(200); r.text("registration_endpoint") != "" {
		t.Error(r.raw)
	}
	a := w.app("shop", "none")
	if _, to := a.ask(nil); to.Query().Get("error") != "invalid_request" {
		t.Error(to)
	}
	me := w.signUp("a@example.org").text("access_token")
	if r := a.exchange(a.code(me, map[string]string{"scope": ""})).want(200); r.text("id_token") != "" ||
		payloadOf(t, r.text("access_token"))["scope"] != "email" {
		t.Error(r.raw)
	}
}
