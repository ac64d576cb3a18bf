package auth

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/keys"
)

// withOAuth is an installation that other applications may sign people in with.
func withOAuth(o *Options) {
	signing, err := keys.GenerateES256()
	if err != nil {
		panic(err)
	}
	o.Keys = ring{signing, []keys.Key{keys.Secret("", testSecret), signing}}
	o.Config.OAuthServer = OAuthServerConfig{Enabled: true, DynamicRegistration: true, ConsentPath: "/oauth/consent"}
}

// app is an application with a place to come back to.
type app struct {
	w          *world
	id, secret string
	back       string
}

// The verifier and the challenge of RFC 7636, appendix B.
const (
	testVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	testChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// app registers an application: a server with a secret, or with "none" one without.
func (w *world) app(name, method string) app {
	w.t.Helper()
	a := app{w: w, back: "https://" + name + ".example.net/back?from=daawo"}
	r := w.do("POST", "/admin/oauth/clients", w.admin(), m{"client_name": name, "redirect_uris": []string{a.back}, "token_endpoint_auth_method": method}).want(201)
	a.id, a.secret = r.text("client_id"), r.text("client_secret")
	return a
}

// ask begins a sign-in and gives where the browser is led. change overrides parameters; "" leaves one out.
func (a app) ask(change map[string]string) (reply, *url.URL) {
	a.w.t.Helper()
	q := url.Values{}
	for name, v := range map[string]string{
		"client_id": a.id, "redirect_uri": a.back, "response_type": "code", "scope": "openid email profile", "state": "s t&=", "nonce": "n-1",
		"code_challenge": testChallenge, "code_challenge_method": "S256",
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

// pending is the name of a fresh authorization that the person of the token has been shown.
func (a app) pending(token string, change map[string]string) string {
	a.w.t.Helper()
	r, to := a.ask(change)
	r.want(302)
	name := to.Query().Get("authorization_id")
	a.w.do("GET", "/oauth/authorizations/"+name, token, nil).want(200)
	return name
}

// code is a code that the person of the token has granted.
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
	return a.token(map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": a.back, "code_verifier": testVerifier})
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

// TestOAuthServer signs a person in to another application, from its wish to the end of its session.
func TestOAuthServer(t *testing.T) {
	for _, signed := range []bool{false, true} {
		w := newWorld(t, withOAuth, func(o *Options) { o.Config.SignedRefreshTokens = signed })
		in := w.post("/signup", m{"email": "ayan@example.org", "password": "password-1", "data": m{"name": "Ayan", "avatar_url": "https://example.org/a.png"}}).want(200)
		me := in.text("access_token")
		clinic := w.app("clinic", "client_secret_basic")

		// To the consent page, which shows who asks for what.
		r, to := clinic.ask(nil)
		r.want(302)
		name := to.Query().Get("authorization_id")
		if !strings.HasPrefix(to.String(), "https://example.org/oauth/consent?authorization_id=") {
			t.Fatal(to)
		}
		shown := w.do("GET", "/oauth/authorizations/"+name, me, nil, "Origin", "https://example.org").want(200)
		if shown.text("client.name") != "clinic" || shown.text("user.email") != "ayan@example.org" || shown.text("scope") != "openid email profile" ||
			shown.text("redirect_uri") != clinic.back || shown.text("authorization_id") != name {
			t.Fatal(shown.raw)
		}
		agreed := w.do("POST", "/oauth/authorizations/"+name+"/consent", me, m{"action": "approve"}).want(200)
		back, err := url.Parse(agreed.text("redirect_url"))
		if err != nil || back.Query().Get("state") != "s t&=" || back.Query().Get("from") != "daawo" || back.Host != "clinic.example.net" {
			t.Fatal(agreed.raw)
		}
		code := back.Query().Get("code")
		if n := w.count(`select count(*) from auth.oauth_authorizations where authorization_code = $1`, code); n != 0 {
			t.Error("the code is stored in clear")
		}

		// The tokens, for the application's eyes.
		tokens := clinic.exchange(code).want(200)
		if tokens.text("token_type") != "bearer" || tokens.at("user") != nil || tokens.header.Get("Cache-Control") != "no-store" {
			t.Fatal(tokens.raw)
		}
		claims := payloadOf(t, tokens.text("access_token"))
		if claims["client_id"] != clinic.id || claims["scope"] != "openid email profile" || claims["role"] != "authenticated" {
			t.Error(claims)
		}
		id := payloadOf(t, tokens.text("id_token"))
		if id["nonce"] != "n-1" || id["aud"].([]any)[0] != clinic.id || id["sub"] != in.text("user.id") || id["email"] != "ayan@example.org" ||
			id["email_verified"] != true || id["name"] != "Ayan" || id["picture"] != "https://example.org/a.png" || id["iss"] != "https://api.example.org/auth/v1" {
			t.Error(id)
		}
		info := w.do("GET", "/oauth/userinfo", tokens.text("access_token"), nil).want(200)
		if info.text("email") != "ayan@example.org" || info.text("name") != "Ayan" || info.text("phone") != "" {
			t.Error(info.raw)
		}
		if plain := w.do("GET", "/oauth/userinfo", me, nil).want(200); plain.raw != `{"sub":"`+in.text("user.id")+`"}` {
			t.Error(plain.raw) // a session of the user's own was granted no scopes
		}

		// It refreshes by the application's proof alone.
		again := clinic.token(map[string]string{"grant_type": "refresh_token", "refresh_token": tokens.text("refresh_token")}).want(200)
		if payloadOf(t, again.text("access_token"))["client_id"] != clinic.id {
			t.Error(again.raw)
		}

		// The person sees whom they let in, is not asked twice, and is asked again for more.
		var grants []struct {
			Client struct{ Name string }
			Scopes []string
		}
		if err := json.Unmarshal([]byte(w.do("GET", "/user/oauth/grants", me, nil).want(200).raw), &grants); err != nil || len(grants) != 1 ||
			grants[0].Client.Name != "clinic" || strings.Join(grants[0].Scopes, " ") != "openid email profile" {
			t.Fatal(grants, err)
		}
		_, to = clinic.ask(map[string]string{"scope": "email"})
		codeOf(t, w.do("GET", "/oauth/authorizations/"+to.Query().Get("authorization_id"), me, nil).want(200))
		_, to = clinic.ask(map[string]string{"scope": "email phone"})
		if r := w.do("GET", "/oauth/authorizations/"+to.Query().Get("authorization_id"), me, nil).want(200); r.text("redirect_url") != "" {
			t.Error("nobody was asked for phone")
		}

		// Shut out, it has nothing left.
		w.do("DELETE", "/user/oauth/grants?client_id="+clinic.id, me, nil).want(204)
		w.do("DELETE", "/user/oauth/grants?client_id="+clinic.id, me, nil).want(404, "oauth_consent_not_found")
		w.do("GET", "/user", again.text("access_token"), nil).want(403, "session_not_found")
		clinic.token(map[string]string{"grant_type": "refresh_token", "refresh_token": again.text("refresh_token")}).want(400, "refresh_token_not_found")
		w.do("GET", "/user", me, nil).want(200)
	}
}

// TestOAuthPublicClient signs in to an application that has no secret and registered itself; JSON does as well as a form.
func TestOAuthPublicClient(t *testing.T) {
	w := newWorld(t, withOAuth)
	me := w.signUp("a@example.org").text("access_token")
	r := w.post("/oauth/clients/register", m{"redirect_uris": []string{"http://127.0.0.1:7777/cb"}, "token_endpoint_auth_method": "none"}).want(201)
	if r.text("registration_type") != "dynamic" || r.text("client_secret") != "" || r.text("client_type") != "public" {
		t.Fatal(r.raw)
	}
	a := app{w: w, id: r.text("client_id"), back: "http://127.0.0.1:7777/cb"}
	tokens := w.do("POST", "/oauth/token", "", m{"grant_type": "authorization_code", "client_id": a.id, "code": a.code(me, nil), "code_verifier": testVerifier},
		"Content-Type", "application/json; charset=utf-8").want(200)
	w.do("GET", "/oauth/userinfo", tokens.text("access_token"), nil).want(200)

	// Refusing leads back with a reason, and leaves nothing to trade.
	r = w.do("POST", "/oauth/authorizations/"+a.pending(me, map[string]string{"scope": "phone"})+"/consent", me, m{"action": "deny"}).want(200)
	if back, _ := url.Parse(r.text("redirect_url")); back.Query().Get("error") != "access_denied" || back.Query().Get("state") != "s t&=" || back.Query().Has("code") {
		t.Error(r.raw)
	}
}

// TestOAuthClients administers applications.
func TestOAuthClients(t *testing.T) {
	w := newWorld(t, withOAuth)
	a := w.app("one", "client_secret_post")
	one := "/admin/oauth/clients/" + a.id
	if got := w.do("GET", one, w.admin(), nil).want(200); got.text("client_secret") != "" || got.text("client_name") != "one" || got.text("registration_type") != "manual" {
		t.Error(got.raw)
	}
	if n := w.count(`select count(*) from auth.oauth_clients where client_secret_hash = $1`, a.secret); n != 0 {
		t.Error("the secret is stored in clear")
	}
	w.do("PUT", one, w.admin(), m{}).want(400, "validation_failed")
	w.do("PUT", one, w.admin(), m{"redirect_uris": []string{}}).want(400, "validation_failed")
	w.do("PUT", one, w.admin(), m{"token_endpoint_auth_method": "none"}).want(400, "validation_failed")
	if got := w.do("PUT", one, w.admin(), m{"logo_uri": "https://example.org/l.png"}).want(200); got.text("client_name") != "one" || got.text("logo_uri") == "" {
		t.Error(got.raw)
	}
	proof := func(secret string) reply {
		return w.form("/oauth/token", map[string]string{"client_id": a.id, "client_secret": secret})
	}
	if r := proof(a.secret).want(400); r.text("error") != "invalid_request" {
		t.Error(r.raw) // proved, but asked for nothing
	}
	renewed := w.do("POST", one+"/regenerate_secret", w.admin(), nil).want(200).text("client_secret")
	proof(a.secret).want(400, "invalid_credentials")
	if r := proof(renewed).want(400); r.text("error") != "invalid_request" {
		t.Error(r.raw)
	}
	w.app("two", "none")
	w.wait(time.Second)
	three := w.app("three", "none")
	w.do("POST", "/admin/oauth/clients/"+three.id+"/regenerate_secret", w.admin(), nil).want(400, "validation_failed")
	all := w.do("GET", "/admin/oauth/clients?page=&per_page=", w.admin(), nil).want(200)
	if list := all.at("clients").([]any); len(list) != 3 || all.header.Get("X-Total-Count") != "3" || list[0].(m)["client_name"] != "three" {
		t.Error(all.raw)
	}
	page := w.do("GET", "/admin/oauth/clients?page=2&per_page=2", w.admin(), nil).want(200)
	if len(page.at("clients").([]any)) != 1 {
		t.Error(page.raw)
	}

	// Deleting ends what the application holds.
	me := w.signUp("a@example.org").text("access_token")
	held := three.exchange(three.code(me, nil)).want(200)
	underWay := three.code(me, nil)
	w.do("DELETE", "/admin/oauth/clients/"+three.id, w.admin(), nil).want(204)
	w.do("GET", "/admin/oauth/clients/"+three.id, w.admin(), nil).want(404, "oauth_client_not_found")
	w.do("GET", "/user", held.text("access_token"), nil).want(403, "session_not_found")
	three.exchange(underWay).want(400, "invalid_credentials")
	if r, _ := three.ask(nil); r.status != 400 {
		t.Error("a deleted application may still ask")
	}
	if r := w.do("GET", "/user/oauth/grants", me, nil).want(200); r.raw != "[]" {
		t.Error(r.raw)
	}
	w.do("GET", "/admin/oauth/clients", me, nil).want(403, "not_admin")
	w.do("GET", "/admin/oauth/clients/x", w.admin(), nil).want(400, "validation_failed")
}

// TestOAuthMetadata is what applications find the endpoints by.
func TestOAuthMetadata(t *testing.T) {
	w := newWorld(t, withOAuth)
	for _, place := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		r := w.do("GET", place, "", nil).want(200)
		if r.text("issuer") != "https://api.example.org/auth/v1" || r.text("registration_endpoint") != "https://api.example.org/auth/v1/oauth/clients/register" ||
			r.text("token_endpoint") != "https://api.example.org/auth/v1/oauth/token" || r.text("code_challenge_methods_supported") != "[S256]" {
			t.Error(r.raw)
		}
	}
}

func payloadOf(t testing.TB, token string) m {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("no token: %q", token)
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

// TestAuthTime: an application is told when the person last proved who they are, not when another one let them in.
func TestAuthTime(t *testing.T) {
	w := newWorld(t, withOAuth)
	token := w.signUp("me@example.org").text("access_token")
	proved := w.now()
	for _, name := range []string{"clinic", "library"} {
		w.wait(20 * time.Minute)
		a := w.app(name, "none")
		id := payloadOf(t, a.exchange(a.code(token, nil)).want(200).text("id_token"))
		if at := id["auth_time"]; at != float64(proved.Unix()) {
			t.Errorf("%s: %v, want %d", name, at, proved.Unix())
		}
	}
	if u := w.do("GET", "/user", token, nil).want(200); u.text("last_sign_in_at") != "2026-03-01T12:00:00.123456Z" {
		t.Errorf("%s", u.raw)
	}
}
