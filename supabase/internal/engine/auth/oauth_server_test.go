package auth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
)

// withOAuth enables the OAuth 2.1 server.
func withOAuth(o *Options) {
	signing, err := keys.GenerateES256()
	if err != nil {
		panic(err)
	}
	o.Keys = ring{signing, []keys.Key{keys.Secret("", testSecret), signing}}
	o.Config.OAuthServer = OAuthServerConfig{Enabled: true, DynamicRegistration: true, ConsentPath: "/oauth/consent"}
}

// app is a registered OAuth client.
type app struct {
	w          *world
	id, secret string
	back       string // redirect URI
}

// The verifier and the challenge of RFC 7636, appendix B.
const (
	testVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	testChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// app registers an application. method is its token_endpoint_auth_method; with "none" it has no
// secret.
func (w *world) app(name, method string) app {
	w.t.Helper()
	a := app{w: w, back: "https://" + name + ".example.net/back?from=daawo"}
	r := w.do("POST", "/admin/oauth/clients", w.admin(),
		m{"client_name": name, "redirect_uris": []string{a.back}, "token_endpoint_auth_method": method}).want(201)
	a.id, a.secret = r.text("client_id"), r.text("client_secret")
	return a
}

// ask sends an authorization request and returns the reply and its redirect. change overrides
// parameters; "" omits one.
func (a app) ask(change map[string]string) (reply, *url.URL) {
	a.w.t.Helper()
	q := url.Values{}
	for name, v := range map[string]string{
		"client_id": a.id, "redirect_uri": a.back, "response_type": "code", "scope": "openid email profile",
		"state": "s t&=", "nonce": "n-1", "code_challenge": testChallenge, "code_challenge_method": "S256",
	} {
		q.Set(name, v)
	}
	for name, v := range change {
		if q.Set(name, v); v == "" {
			q.Del(name)
		}
	}
	r := a.w.do("GET", "/oauth/authorize?"+q.Encode(), "", nil)
	to, err := url.Parse(r.header.Get("Location"))
	if err != nil {
		a.w.t.Fatal(err)
	}
	return r, to
}

// pending returns the ID of a new authorization that the user of the token has seen but not
// decided.
func (a app) pending(token string, change map[string]string) string {
	a.w.t.Helper()
	r, to := a.ask(change)
	r.want(302)
	name := to.Query().Get("authorization_id")
	a.w.do("GET", "/oauth/authorizations/"+name, token, nil).want(200)
	return name
}

// code returns an authorization code that the user of the token has granted.
func (a app) code(token string, change map[string]string) string {
	a.w.t.Helper()
	r, to := a.ask(change)
	r.want(302)
	name := to.Query().Get("authorization_id")
	shown := a.w.do("GET", "/oauth/authorizations/"+name, token, nil).want(200)
	if shown.text("redirect_url") == "" {
		shown = a.w.do("POST", "/oauth/authorizations/"+name+"/consent", token, m{"action": "approve"}).want(200)
	}
	return codeOf(a.w.t, shown)
}

func codeOf(t testing.TB, r reply) string {
	t.Helper()
	u, err := url.Parse(r.text("redirect_url"))
	if err != nil || u.Query().Get("code") == "" {
		t.Fatalf("no code in %s", r.raw)
	}
	return u.Query().Get("code")
}

// wantOAuth fails the test unless the reply is an error of RFC 6749, section 5.2.
func (r reply) wantOAuth(status int, code string) {
	r.t.Helper()
	if r.want(status).text("error") != code {
		r.t.Errorf("%s, want %s", r.raw, code)
	}
}

// token posts a form to /oauth/token as the application.
func (a app) token(form map[string]string) reply {
	a.w.t.Helper()
	var headers []string
	if a.secret != "" {
		headers = []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(a.id+":"+a.secret))}
	} else {
		form["client_id"] = a.id
	}
	return a.w.form("/oauth/token", form, headers...)
}

func (a app) exchange(code string) reply {
	a.w.t.Helper()
	return a.token(map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": a.back,
		"code_verifier": testVerifier})
}

// form posts a form.
func (w *world) form(path string, fields map[string]string, headers ...string) reply {
	w.t.Helper()
	f := url.Values{}
	for name, v := range fields {
		f.Set(name, v)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", path, strings.NewReader(f.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.e.ServeHTTP(rec, r)
	out := reply{t: w.t, status: rec.Code, header: rec.Header(), raw: rec.Body.String()}
	_ = json.Unmarshal(rec.Body.Bytes(), &out.body)
	return out
}

// TestOAuthServer signs a user in to an application, from the authorization request to the revoked
// grant.
func TestOAuthServer(t *testing.T) {
	for name, signed := range map[string]bool{"stored refresh tokens": false, "signed refresh tokens": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withOAuth, func(o *Options) { o.Config.SignedRefreshTokens = signed })
			user := w.post("/signup", m{"email": "ayan@example.org", "password": "password-1",
				"data": m{"name": "Ayan", "avatar_url": "https://example.org/a.png"}}).want(200)
			shop := w.app("shop", "client_secret_basic")
			tokens := shop.exchange(testConsent(t, shop, user.text("access_token"))).want(200)
			testOAuthTokens(t, shop, user, tokens)
			refreshed := shop.token(map[string]string{"grant_type": "refresh_token",
				"refresh_token": tokens.text("refresh_token")}).want(200)
			if payloadOf(t, refreshed.text("access_token"))["client_id"] != shop.id {
				t.Error(refreshed.raw)
			}
			testGrants(t, shop, user.text("access_token"), refreshed)
		})
	}
}

// testConsent checks the data for the consent page and the approval by the user of the token. It
// returns the code.
func testConsent(t *testing.T, a app, token string) string {
	t.Helper()
	r, to := a.ask(nil)
	r.want(302)
	name := to.Query().Get("authorization_id")
	if !strings.HasPrefix(to.String(), "https://example.org/oauth/consent?authorization_id=") {
		t.Fatal(to)
	}
	shown := a.w.do("GET", "/oauth/authorizations/"+name, token, nil, "Origin", "https://example.org").want(200)
	if shown.text("client.name") != "shop" || shown.text("user.email") != "ayan@example.org" ||
		shown.text("scope") != "openid email profile" ||
		shown.text("redirect_uri") != a.back || shown.text("authorization_id") != name {
		t.Fatal(shown.raw)
	}
	approved := a.w.do("POST", "/oauth/authorizations/"+name+"/consent", token, m{"action": "approve"}).want(200)
	back, err := url.Parse(approved.text("redirect_url"))
	if err != nil || back.Query().Get("state") != "s t&=" || back.Query().Get("from") != "daawo" ||
		back.Host != "shop.example.net" {
		t.Fatal(approved.raw)
	}
	code := back.Query().Get("code")
	if n := a.w.count(`select count(*) from auth.oauth_authorizations where authorization_code = $1`, code); n != 0 {
		t.Error("the code is stored in clear text")
	}
	return code
}

// testOAuthTokens checks the tokens of an application and the user information that they give
// access to. user is the reply to the user's sign-up.
func testOAuthTokens(t *testing.T, a app, user, tokens reply) {
	t.Helper()
	if tokens.text("token_type") != "bearer" || tokens.at("user") != nil ||
		tokens.header.Get("Cache-Control") != "no-store" {
		t.Fatal(tokens.raw)
	}
	claims := payloadOf(t, tokens.text("access_token"))
	if claims["client_id"] != a.id || claims["scope"] != "openid email profile" || claims["role"] != "authenticated" {
		t.Error(claims)
	}
	id := payloadOf(t, tokens.text("id_token"))
	if id["nonce"] != "n-1" || id["aud"].([]any)[0] != a.id || id["sub"] != user.text("user.id") ||
		id["email"] != "ayan@example.org" ||
		id["email_verified"] != true || id["name"] != "Ayan" || id["picture"] != "https://example.org/a.png" ||
		id["iss"] != "https://api.example.org/auth/v1" {
		t.Error(id)
	}
	info := a.w.do("GET", "/oauth/userinfo", tokens.text("access_token"), nil).want(200)
	if info.text("email") != "ayan@example.org" || info.text("name") != "Ayan" || info.text("phone") != "" {
		t.Error(info.raw)
	}
	// A session of the user's own has no scopes.
	if own := a.w.do("GET", "/oauth/userinfo", user.text("access_token"), nil).want(200); own.raw != `{"sub":"`+
		user.text("user.id")+`"}` {
		t.Error(own.raw)
	}
}

// testGrants checks that the user of the token sees the grant, consents again only to more scopes,
// and revokes the grant with the application's tokens.
func testGrants(t *testing.T, a app, token string, tokens reply) {
	t.Helper()
	w := a.w
	var grants []struct {
		Client struct{ Name string }
		Scopes []string
	}
	if err := json.Unmarshal([]byte(w.do("GET", "/user/oauth/grants", token, nil).want(200).raw),
		&grants); err != nil || len(grants) != 1 ||
		grants[0].Client.Name != "shop" || strings.Join(grants[0].Scopes, " ") != "openid email profile" {
		t.Fatal(grants, err)
	}
	_, to := a.ask(map[string]string{"scope": "email"})
	codeOf(t, w.do("GET", "/oauth/authorizations/"+to.Query().Get("authorization_id"), token, nil).want(200))
	_, to = a.ask(map[string]string{"scope": "email phone"})
	if r := w.do("GET", "/oauth/authorizations/"+to.Query().Get("authorization_id"), token,
		nil).want(200); r.text("redirect_url") != "" {
		t.Error("phone was granted without consent")
	}
	w.do("DELETE", "/user/oauth/grants?client_id="+a.id, token, nil).want(204)
	w.do("DELETE", "/user/oauth/grants?client_id="+a.id, token, nil).want(404, "oauth_consent_not_found")
	w.do("GET", "/user", tokens.text("access_token"), nil).want(403, "session_not_found")
	a.token(map[string]string{"grant_type": "refresh_token", "refresh_token": tokens.text("refresh_token")}).wantOAuth(400,
		"invalid_grant")
	w.do("GET", "/user", token, nil).want(200)
}

// TestOAuthRegisteredSecret checks that a reply with a secret says when the secret expires (RFC
// 7591, section 3.2.1). openid-client refuses the reply otherwise.
func TestOAuthRegisteredSecret(t *testing.T) {
	w := newWorld(t, withOAuth)
	for method, want := range map[string]any{"client_secret_basic": 0.0, "none": nil} {
		r := w.post("/oauth/clients/register",
			m{"redirect_uris": []string{"http://127.0.0.1:7777/cb"}, "token_endpoint_auth_method": method}).want(201)
		if got := r.at("client_secret_expires_at"); got != want {
			t.Errorf("%s: client_secret_expires_at: %v", method, got)
		}
	}
}

// TestOAuthEncodedCredentials signs in with an id and a secret that are form-encoded before Base64,
// as RFC 6749, section 2.3.1 says and oauth4webapi does.
func TestOAuthEncodedCredentials(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("shop", "client_secret_basic")
	token := func(id, secret string) reply {
		return w.form("/oauth/token", map[string]string{"grant_type": "refresh_token", "refresh_token": "none"},
			"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
	}
	encode := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		return b.String()
	}
	for _, c := range []struct {
		id, secret string
		status     int
		code       string
	}{
		{encode(a.id), encode(a.secret), 400, "invalid_grant"}, // of the refresh token
		{a.id, a.secret, 400, "invalid_grant"},
		{encode(a.id), encode("x" + a.secret), 401, "invalid_client"},
		{a.id, "%zz", 401, "invalid_client"},
	} {
		token(c.id, c.secret).wantOAuth(c.status, c.code)
	}
}

// TestOAuthPublicClient signs in to an application without a secret that registered itself and
// sends JSON instead of a form.
func TestOAuthPublicClient(t *testing.T) {
	w := newWorld(t, withOAuth)
	me := w.signUp("a@example.org").text("access_token")
	r := w.post("/oauth/clients/register",
		m{"redirect_uris": []string{"http://127.0.0.1:7777/cb"}, "token_endpoint_auth_method": "none"}).want(201)
	if r.text("registration_type") != "dynamic" || r.text("client_secret") != "" || r.text("client_type") != "public" {
		t.Fatal(r.raw)
	}
	a := app{w: w, id: r.text("client_id"), back: "http://127.0.0.1:7777/cb"}
	tokens := w.do("POST", "/oauth/token", "", m{"grant_type": "authorization_code", "client_id": a.id,
		"code": a.code(me, nil), "code_verifier": testVerifier},
		"Content-Type", "application/json; charset=utf-8").want(200)
	w.do("GET", "/oauth/userinfo", tokens.text("access_token"), nil).want(200)

	// A denied authorization redirects with an error and without a code.
	r = w.do("POST", "/oauth/authorizations/"+a.pending(me, map[string]string{"scope": "phone"})+"/consent", me,
		m{"action": "deny"}).want(200)
	if back, _ := url.Parse(r.text("redirect_url")); back.Query().Get("error") != "access_denied" ||
		back.Query().Get("state") != "s t&=" || back.Query().Has("code") {
		t.Error(r.raw)
	}
}

// TestOAuthClients checks the endpoints that manage applications.
func TestOAuthClients(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("one", "client_secret_post")
	one := "/admin/oauth/clients/" + a.id
	if got := w.do("GET", one, w.admin(), nil).want(200); got.text("client_secret") != "" ||
		got.text("client_name") != "one" || got.text("registration_type") != "manual" {
		t.Error(got.raw)
	}
	if n := w.count(`select count(*) from auth.oauth_clients where client_secret_hash = $1`, a.secret); n != 0 {
		t.Error("the secret is stored in clear text")
	}
	w.do("PUT", one, w.admin(), m{}).want(400, "validation_failed")
	w.do("PUT", one, w.admin(), m{"redirect_uris": []string{}}).want(400, "validation_failed")
	w.do("PUT", one, w.admin(), m{"token_endpoint_auth_method": "none"}).want(400, "validation_failed")
	if got := w.do("PUT", one, w.admin(),
		m{"logo_uri": "https://example.org/l.png"}).want(200); got.text("client_name") != "one" ||
		got.text("logo_uri") == "" {
		t.Error(got.raw)
	}
	authenticate := func(secret string) reply {
		return w.form("/oauth/token", map[string]string{"client_id": a.id, "client_secret": secret})
	}
	// A valid secret without a grant type is invalid_request.
	if r := authenticate(a.secret).want(400); r.text("error") != "invalid_request" {
		t.Error(r.raw)
	}
	renewed := w.do("POST", one+"/regenerate_secret", w.admin(), nil).want(200).text("client_secret")
	authenticate(a.secret).wantOAuth(400, "invalid_client")
	if r := authenticate(renewed).want(400); r.text("error") != "invalid_request" {
		t.Error(r.raw)
	}
	w.app("two", "none")
	w.wait(time.Second)
	three := w.app("three", "none")
	w.do("POST", "/admin/oauth/clients/"+three.id+"/regenerate_secret", w.admin(), nil).want(400, "validation_failed")
	all := w.do("GET", "/admin/oauth/clients?page=&per_page=", w.admin(), nil).want(200)
	if list := all.at("clients").([]any); len(list) != 3 || all.header.Get("X-Total-Count") != "3" ||
		list[0].(m)["client_name"] != "three" {
		t.Error(all.raw)
	}
	page := w.do("GET", "/admin/oauth/clients?page=2&per_page=2", w.admin(), nil).want(200)
	if len(page.at("clients").([]any)) != 1 {
		t.Error(page.raw)
	}

	// Deletion revokes the application's tokens and codes.
	me := w.signUp("a@example.org").text("access_token")
	tokens := three.exchange(three.code(me, nil)).want(200)
	unused := three.code(me, nil)
	w.do("DELETE", "/admin/oauth/clients/"+three.id, w.admin(), nil).want(204)
	w.do("GET", "/admin/oauth/clients/"+three.id, w.admin(), nil).want(404, "oauth_client_not_found")
	w.do("GET", "/user", tokens.text("access_token"), nil).want(403, "session_not_found")
	three.exchange(unused).wantOAuth(400, "invalid_client")
	if r, _ := three.ask(nil); r.status != 400 {
		t.Error("a deleted application can still request authorization")
	}
	if r := w.do("GET", "/user/oauth/grants", me, nil).want(200); r.raw != "[]" {
		t.Error(r.raw)
	}
	w.do("GET", "/admin/oauth/clients", me, nil).want(403, "not_admin")
	w.do("GET", "/admin/oauth/clients/x", w.admin(), nil).want(400, "validation_failed")
}

// TestOAuthMetadata checks both discovery documents.
func TestOAuthMetadata(t *testing.T) {
	w := newWorld(t, withOAuth)
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		r := w.do("GET", path, "", nil).want(200)
		if r.text("issuer") != "https://api.example.org/auth/v1" ||
			r.text("registration_endpoint") != "https://api.example.org/auth/v1/oauth/clients/register" ||
			r.text("token_endpoint") != "https://api.example.org/auth/v1/oauth/token" ||
			r.text("code_challenge_methods_supported") != "[S256 plain]" {
			t.Error(r.raw)
		}
	}
}

func payloadOf(t testing.TB, token string) m {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a token: %q", token)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	out := m{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAuthTime checks that auth_time is the time of the user's last sign-in, not of the consent to
// an application.
func TestAuthTime(t *testing.T) {
	w := newWorld(t, withOAuth)
	token := w.signUp("me@example.org").text("access_token")
	signedIn := w.now()
	for _, name := range []string{"shop", "library"} {
		w.wait(20 * time.Minute)
		a := w.app(name, "none")
		id := payloadOf(t, a.exchange(a.code(token, nil)).want(200).text("id_token"))
		if at := id["auth_time"]; at != float64(signedIn.Unix()) {
			t.Errorf("%s: %v, want %d", name, at, signedIn.Unix())
		}
	}
	if u := w.do("GET", "/user", token, nil).want(200); u.text("last_sign_in_at") != "2026-03-01T12:00:00.123456Z" {
		t.Errorf("%s", u.raw)
	}
}
