package auth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth/external/idp"
)

// fakeProvider is a server that is both an OpenID Connect issuer and a GitHub.
type fakeProvider struct {
	*httptest.Server
	key    keys.Key
	claims m   // of the ID token
	emails []m // of GitHub

	mu    sync.Mutex
	asked []string // code and code verifier of each token request
}

// requests returns the code and the code verifier of each token request so far.
func (f *fakeProvider) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func newFakeProvider(t *testing.T, w *world) *fakeProvider {
	t.Helper()
	f, mux := fakeProviderOf(t, w)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func fakeProviderOf(t *testing.T, w *world) (*fakeProvider, *http.ServeMux) {
	t.Helper()
	key, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeProvider{key: key}
	send := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(rw http.ResponseWriter, _ *http.Request) {
		send(rw, m{"issuer": f.URL, "authorization_endpoint": f.URL + "/auth", "token_endpoint": f.URL + "/token",
			"jwks_uri": f.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("/keys", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write(keys.JWKS([]keys.Key{key}))
	})
	token := func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		f.mu.Lock()
		f.asked = append(f.asked, r.Form.Get("code")+" "+r.Form.Get("code_verifier"))
		f.mu.Unlock()
		send(rw, m{"access_token": "provider-access", "refresh_token": "provider-refresh", "token_type": "bearer",
			"id_token": f.idToken(t, w, nil)})
	}
	mux.HandleFunc("/token", token)
	mux.HandleFunc("/login/oauth/access_token", token)
	mux.HandleFunc("/api/v3/user", func(rw http.ResponseWriter, _ *http.Request) {
		send(rw, m{"id": 583231, "login": "ayan", "name": "Ayan", "avatar_url": "https://example.org/a.png"})
	})
	mux.HandleFunc("/api/v3/user/emails", func(rw http.ResponseWriter, _ *http.Request) { send(rw, f.emails) })
	return f, mux
}

func (f *fakeProvider) idToken(t *testing.T, w *world, change m) string {
	c := m{"iss": f.URL, "aud": "client", "sub": "person-1", "iat": w.now().Unix(), "exp": w.now().Unix() + 600}
	for _, more := range []m{f.claims, change} {
		for k, v := range more {
			c[k] = v
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Error(err)
	}
	token, err := f.key.Sign(text)
	if err != nil {
		t.Error(err)
	}
	return token
}

// withProviders returns a world whose providers google, github and corp are the fake, and the fake.
func withProviders(t *testing.T, change ...func(*Options)) (*world, *fakeProvider) {
	t.Helper()
	w := newWorld(t, change...)
	f := newFakeProvider(t, w)
	w.providers(map[string]idp.Config{
		"google": {ClientIDs: []string{"client"}, Secret: "s", RedirectURI: "https://api.example.org/auth/v1/callback",
			URL: f.URL},
		"corp": {ClientIDs: []string{"client"}, Secret: "s", RedirectURI: "https://api.example.org/auth/v1/callback",
			URL: f.URL},
		"github": {ClientIDs: []string{"client"}, Secret: "s", RedirectURI: "https://api.example.org/auth/v1/callback",
			URL: f.URL},
	}, f.Client())
	return w, f
}

// through signs in at the provider, follows the callback and returns the URL of the final redirect.
func (w *world) through(path string) *url.URL {
	w.t.Helper()
	r := w.do("GET", path, "", nil).want(302)
	at, err := url.Parse(r.header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	back := w.do("GET", "/callback?code=the-code&state="+at.Query().Get("state"), "", nil).want(302)
	to, err := url.Parse(back.header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	return to
}

func fragment(t testing.TB, u *url.URL) url.Values {
	t.Helper()
	q, err := url.ParseQuery(u.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestSignInWithProvider(t *testing.T) {
	w, f := withProviders(t)
	f.claims = m{"email": "Ayan@example.org", "email_verified": true, "name": "Ayan",
		"picture": "https://example.org/a.png"}
	to := w.through("/authorize?provider=google&redirect_to=https://app.example.com/in&scopes=extra")
	q := fragment(t, to)
	if to.Host != "app.example.com" || q.Get("provider_token") != "provider-access" ||
		q.Get("provider_refresh_token") != "provider-refresh" || !q.Has("sb") {
		t.Fatalf("%s", to)
	}
	u := w.do("GET", "/user", q.Get("access_token"), nil).want(200)
	if u.text("email") != "ayan@example.org" || u.text("app_metadata.provider") != "google" ||
		u.text("user_metadata.full_name") != "Ayan" || u.text("email_confirmed_at") == "" {
		t.Errorf("%s", u.raw)
	}
	// The second sign-in finds the same account. The account has no password.
	again := fragment(t, w.through("/authorize?provider=google"))
	if got := w.do("GET", "/user", again.Get("access_token"), nil).want(200); got.text("id") != u.text("id") {
		t.Error("the second sign-in created a second account")
	}
	if w.signIn("ayan@example.org", "").status != 400 {
		t.Error("signed in without a password")
	}
	// Another provider with the same verified address links to the account.
	f.emails = []m{{"email": "ayan@example.org", "verified": true, "primary": true}}
	linked := fragment(t, w.through("/authorize?provider=github"))
	got := w.do("GET", "/user", linked.Get("access_token"), nil).want(200)
	if got.text("id") != u.text("id") || len(got.at("identities").([]any)) != 2 {
		t.Errorf("%s", got.raw)
	}
	// The last identity cannot be deleted.
	for i, want := range []int{200, 422} {
		id := got.at("identities").([]any)[i].(m)["identity_id"].(string)
		w.do("DELETE", "/user/identities/"+id, linked.Get("access_token"), nil).want(want)
	}
}

// TestUnverifiedAddress checks that an address which the provider has not verified does not link to
// its owner's account.
func TestUnverifiedAddress(t *testing.T) {
	w, f := withProviders(t, confirming)
	w.post("/signup", m{"email": "a@example.org", "password": "password-1"}).want(200)
	_, _, code := w.mail()
	w.post("/verify", m{"type": "signup", "email": "a@example.org", "token": code}).want(200)
	f.claims = m{"email": "a@example.org", "email_verified": false}
	to := w.through("/authorize?provider=corp")
	if to.Query().Get("error") != "access_denied" ||
		to.Query().Get("error_code") != "provider_email_needs_verification" {
		t.Errorf("%s", to)
	}
	if n := w.count(`select count(*) from auth.identities i join auth.users u on u.id = i.user_id where u.email = 'a@example.org' and i.provider = 'corp'`); n != 0 {
		t.Error("the unverified address was linked to the account")
	}
	// The server uses PKCE with the generic provider.
	if asked := f.requests(); len(asked) != 1 || len(strings.Fields(asked[0])) != 2 {
		t.Errorf("asked %q", asked)
	}
}

// TestPreAccountTakeover checks that a password set before the address was verified is invalid
// after its owner signs in.
func TestPreAccountTakeover(t *testing.T) {
	w, f := withProviders(t, confirming)
	w.post("/signup", m{"email": "victim@example.org", "password": "attacker-1"}).want(200)
	f.claims = m{"email": "victim@example.org", "email_verified": true}
	if fragment(t, w.through("/authorize?provider=google")).Get("access_token") == "" {
		t.Fatal("the owner cannot sign in")
	}
	w.signIn("victim@example.org", "attacker-1").want(400, "invalid_credentials")
}

func TestProviderPKCEAndErrors(t *testing.T) {
	w, f := withProviders(t)
	f.claims = m{"email": "a@example.org", "email_verified": true}
	verifier := strings.Repeat("x", 43)
	to := w.through("/authorize?provider=google&code_challenge=" + verifier + "&code_challenge_method=plain")
	s := w.post("/token?grant_type=pkce", m{"auth_code": to.Query().Get("code"), "code_verifier": verifier}).want(200)
	if s.text("provider_token") != "provider-access" {
		t.Errorf("%s", s.raw)
	}
	r := w.do("GET", "/authorize?provider=google", "", nil).want(302)
	at, _ := url.Parse(r.header.Get("Location"))
	if q := at.Query(); q.Get("redirect_uri") != "https://api.example.org/auth/v1/callback" ||
		q.Get("client_id") != "client" {
		t.Errorf("%s", at)
	}
	denied := w.do("GET", "/callback?error=access_denied&error_description=No&state="+at.Query().Get("state"), "",
		nil).want(302)
	if to, _ := url.Parse(denied.header.Get("Location")); to.Query().Get("error") != "access_denied" ||
		to.Query().Get("error_description") != "No" {
		t.Errorf("%s", to)
	}
	w.do("GET", "/authorize?provider=unknown", "", nil).want(400, "validation_failed")
	w.do("GET", "/authorize?provider=zoom", "", nil).want(400, "validation_failed")
	// The client cannot set redirect_uri and state.
	r = w.do("GET", "/authorize?provider=google&redirect_uri=https://evil.example&state=x&prompt=login", "",
		nil).want(302)
	at, _ = url.Parse(r.header.Get("Location"))
	if at.Query().Get("redirect_uri") != "https://api.example.org/auth/v1/callback" || at.Query().Get("state") == "x" ||
		at.Query().Get("prompt") != "login" {
		t.Errorf("%s", at)
	}
}

func TestIDTokenGrant(t *testing.T) {
	w, f := withProviders(t)
	f.claims = m{"email": "a@example.org", "email_verified": true}
	grant := func(change m, nonce string) reply {
		return w.post("/token?grant_type=id_token",
			m{"provider": "google", "id_token": f.idToken(t, w, change), "nonce": nonce})
	}
	grant(nil, "").want(200)
	for name, r := range map[string]reply{
		"another audience": grant(m{"aud": "others"}, ""),
		"expired":          grant(m{"exp": w.now().Unix() - 10}, ""),
		"another issuer":   grant(m{"iss": "https://evil.example"}, ""),
		"wrong nonce":      grant(m{"nonce": "x"}, "y"),
		"missing nonce":    grant(m{"nonce": "x"}, ""),
	} {
		want := "invalid request"
		if name == "wrong nonce" {
			want = "invalid nonce"
		}
		if r.status != 400 || r.text("error") != want {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	f.Close() // a malformed JWT is rejected without a request to the provider
	w.post("/token?grant_type=id_token", m{"provider": "google", "id_token": "rubbish"}).want(400)
	if got := w.post("/token?grant_type=id_token", m{"provider": "facebook", "id_token": "x"}).want(400,
		"provider_disabled"); got.text("msg") != `Provider (issuer "https://www.facebook.com") is not enabled` {
		t.Error(got.raw)
	}
	w.post("/token?grant_type=id_token", m{"provider": "x", "id_token": "x"}).want(400, "validation_failed")
	w.post("/token?grant_type=web3", m{"chain": "solana"}).want(422, "web3_provider_disabled")
}

// TestAzureTenants checks Microsoft's multi-tenant endpoints, whose discovery documents name the
// issuer with the placeholder {tenantid}. The issuer of a token must match its tid claim. Its
// address is verified only if xms_edov is true, or if the server is configured for a single tenant.
func TestAzureTenants(t *testing.T) {
	w := newWorld(t)
	f, mux := fakeProviderOf(t, w)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	const tenant, other = "6f1f3b0e-5f57-4c11-9d5c-0b7d0d7d8f11", "9188040d-6c67-4c5b-b112-36a304b66dad"
	published := map[string]string{"common": "{tenantid}", "organizations": "{tenantid}", "consumers": other,
		tenant: tenant}
	for path, issuer := range published {
		mux.HandleFunc("/"+path+"/v2.0/.well-known/openid-configuration",
			func(rw http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(rw).Encode(m{"issuer": f.URL + "/" + issuer + "/v2.0",
					"authorization_endpoint": f.URL +
						"/auth", "token_endpoint": f.URL + "/token",
					"jwks_uri": f.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}})
			})
	}
	for path, verified := range map[string]string{"common": "false", "organizations": "false", "consumers": "false",
		tenant: "true"} {
		w.providers(map[string]idp.Config{"azure": {ClientIDs: []string{"client"}, URL: f.URL + "/" + path}},
			f.Client())
		own, stranger := tenant, other
		if path == "consumers" {
			own, stranger = other, tenant
		}
		f.claims = m{"sub": path, "email": path + "@example.org", "iss": f.URL + "/" + own + "/v2.0", "tid": own}
		grant := func(change m) reply {
			return w.post("/token?grant_type=id_token", m{"provider": "azure", "id_token": f.idToken(t, w, change)})
		}
		if r := grant(nil).want(200); r.text("user.user_metadata.email_verified") == "" ||
			w.count(`select count(*) from auth.identities where provider_id = $1 and identity_data ->> 'email_verified' = $2`, path, verified) != 1 {
			t.Errorf("%s: %s", path, r.raw)
		}
		grant(m{"sub": path + "-2", "email": path + "2@example.org", "xms_edov": true}).want(200)
		if n := w.count(`select count(*) from auth.identities where provider_id = $1 and identity_data ->> 'email_verified' = 'true'`, path+"-2"); n != 1 {
			t.Errorf("%s: xms_edov did not verify the address", path)
		}
		grant(m{"iss": f.URL + "/" + stranger + "/v2.0"}).want(400)
		grant(m{"iss": f.URL + "/{tenantid}/v2.0", "tid": "{tenantid}"}).want(400)
		grant(m{"iss": "https://evil.example/" + own + "/v2.0"}).want(400)
		if path != tenant {
			grant(m{"tid": nil}).want(400)
			grant(m{"iss": f.URL + "/x/v2.0", "tid": "x"}).want(400)
		}
	}
}

// TestApple checks that the name which Apple posts with the first sign-in is stored and kept.
func TestApple(t *testing.T) {
	w := newWorld(t)
	f := newFakeProvider(t, w)
	w.providers(map[string]idp.Config{"apple": {ClientIDs: []string{"client"}, Secret: "s", URL: f.URL}}, f.Client())
	f.claims = m{"email": "ayan@example.org"}
	signIn := func(more url.Values) reply {
		to, err := url.Parse(w.do("GET", "/authorize?provider=apple", "", nil).want(302).header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		more.Set("code", "the-code")
		more.Set("state", to.Query().Get("state"))
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/callback", strings.NewReader(more.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		w.e.ServeHTTP(rec, r)
		if to, err = url.Parse(rec.Header().Get("Location")); err != nil {
			t.Fatal(err)
		}
		return w.do("GET", "/user", fragment(t, to).Get("access_token"), nil).want(200)
	}
	for _, posted := range []url.Values{{"user": {`{"name":{"firstName":"Ayan","lastName":"Cali"},"email":"x@example.org"}`}}, {}} {
		if u := signIn(posted); u.text("user_metadata.full_name") != "Ayan Cali" ||
			u.text("user_metadata.name") != "Ayan Cali" || u.text("email") != "ayan@example.org" {
			t.Errorf("%v: %s", posted, u.raw)
		}
	}
}
