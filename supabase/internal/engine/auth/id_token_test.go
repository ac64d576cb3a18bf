package auth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth/external/idp"
)

// fixedTransport sends every request to one server, whatever its host.
type fixedTransport struct{ to *httptest.Server }

func (f fixedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", f.to.Listener.Addr().String()
	return f.to.Client().Transport.RoundTrip(r)
}

// TestAppleIssuers checks that tokens and discovery documents may name either of Apple's two
// issuers, and no other.
func TestAppleIssuers(t *testing.T) {
	w := newWorld(t)
	f, rest := fakeProviderOf(t, w)
	const old, other, stranger = "https://appleid.apple.com", "https://account.apple.com",
		"https://appleid.apple.com.evil.example"
	var named, asked string // issuer in the discovery document; host of the last request for it
	signed := old
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(rw http.ResponseWriter, r *http.Request) {
		asked = r.Host
		_ = json.NewEncoder(rw).Encode(m{"issuer": named, "authorization_endpoint": old + "/auth",
			"token_endpoint": old + "/token", "jwks_uri": signed + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.Handle("/", rest)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	f.claims = m{"email": "ayan@example.org"}
	for _, tt := range []struct {
		document, token string
		status          int
	}{
		{old, old, 200}, {old, other, 200}, {other, old, 200}, {other, other, 200},
		{old, stranger, 400}, {other, stranger, 400}, {old, old + "/", 400}, {old, "", 400},
		{stranger, stranger, 500}, {stranger, old, 500}, {"", old, 500},
	} {
		named = tt.document
		w.providers(map[string]idp.Config{"apple": {ClientIDs: []string{"client"}}},
			&http.Client{Transport: fixedTransport{f.Server}})
		r := w.post("/token?grant_type=id_token",
			m{"provider": "apple", "id_token": f.idToken(t, w, m{"iss": tt.token})})
		if r.status != tt.status || asked != "appleid.apple.com" {
			t.Errorf("issuer of token %q, of document %q, requested from %s: %d %s", tt.token, tt.document, asked,
				r.status, r.raw)
		}
	}
	if n := w.count(`select count(*) from auth.identities where provider = 'apple'`); n != 1 {
		t.Errorf("one user has %d identities", n)
	}
	// A provider that cannot be reached is not a database that is down.
	f.Close()
	w.providers(map[string]idp.Config{"apple": {ClientIDs: []string{"client"}, URL: f.URL}}, http.DefaultClient)
	w.post("/token?grant_type=id_token", m{"provider": "apple", "id_token": f.idToken(t, w, m{"iss": f.URL})}).want(500)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	// With a configured URL only that issuer is valid.
	w.providers(map[string]idp.Config{"apple": {ClientIDs: []string{"client"}, URL: f.URL}}, f.Client())
	for issuer, status := range map[string]int{f.URL: 200, old: 400, other: 400} {
		named, signed = f.URL, f.URL
		w.post("/token?grant_type=id_token",
			m{"provider": "apple", "id_token": f.idToken(t, w, m{"iss": issuer})}).want(status)
	}
}

// TestFacebookLimitedLogin checks ID tokens of Facebook's Limited Login, which mobile applications
// use. The nonce is not hashed, the address is verified, and the subject is the same as in a
// sign-in with a browser.
func TestFacebookLimitedLogin(t *testing.T) {
	w := newWorld(t)
	f := newFakeProvider(t, w)
	w.providers(map[string]idp.Config{"facebook": {ClientIDs: []string{"client"}, Secret: "s", URL: f.URL}}, f.Client())
	f.claims = m{"email": "ayan@example.org", "name": "Ayan", "nonce": "as-it-is"}
	grant := func(change m) reply {
		return w.post("/token?grant_type=id_token",
			m{"provider": "facebook", "id_token": f.idToken(t, w, change), "nonce": "as-it-is"})
	}
	if r := grant(nil).want(200); r.text("user.email") != "ayan@example.org" ||
		r.text("user.email_confirmed_at") == "" || r.text("user.user_metadata.name") != "Ayan" {
		t.Errorf("%s", r.raw)
	}
	if n := w.count(`select count(*) from auth.identities where provider = 'facebook' and provider_id = 'person-1' and (identity_data ->> 'email_verified')::boolean`); n != 1 {
		t.Errorf("%d identities", n)
	}
	for name, change := range map[string]m{
		"another audience": {"aud": "others"}, "another issuer": {"iss": "https://evil.example"},
		"expired": {"exp": w.now().Unix() - 10}, "no subject": {"sub": ""},
	} {
		if r := grant(change); r.status != 400 {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	stranger, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	f.key = stranger
	grant(nil).want(400)
	// Sign-in with a browser needs no discovery document.
	f.Close()
	w.do("GET", "/authorize?provider=facebook", "", nil).want(302)
}
