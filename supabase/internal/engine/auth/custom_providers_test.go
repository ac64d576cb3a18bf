package auth

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"daawo/supabase/internal/engine/auth/external/idp"
)

// withCustom returns a world whose administrators can add the fake provider, and the fake. The fake
// serves TLS with a certificate that only this world trusts.
func withCustom(t *testing.T, change ...func(*Options)) (*world, *fakeProvider) {
	t.Helper()
	w := newWorld(t, change...)
	f, mux := fakeProviderOf(t, w)
	mux.HandleFunc("/people/me", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(f.claims)
	})
	f.Server = httptest.NewTLSServer(mux)
	f.URL = "https://example.com" // a public name, which its client connects to this server
	t.Cleanup(f.Close)
	w.restart(func(o *Options) { o.Client = f.Client() })
	return w, f
}

// signInWith signs in with a provider and returns the user, or the redirect URL as raw if the
// sign-in fails.
func (w *world) signInWith(name string) reply {
	w.t.Helper()
	to := w.through("/authorize?provider=" + name)
	token := fragment(w.t, to).Get("access_token")
	if token == "" {
		return reply{t: w.t, raw: to.String()}
	}
	return w.do("GET", "/user", token, nil).want(200)
}

// TestCustomOIDCProvider checks that users sign in with an OpenID Connect provider that an
// administrator has added, and that the administrator can list, change and delete it.
func TestCustomOIDCProvider(t *testing.T) {
	w, f := withCustom(t)
	f.claims = m{"email": "Ayan@example.org", "email_verified": true, "name": "Ayan", "department": "Sales",
		"secret": "x"}
	oidc := m{
		"provider_type": "oidc", "identifier": "custom:corp", "name": "Corp", "client_id": "client",
		"client_secret": "kept-to-itself", "issuer": f.URL, "custom_claims_allowlist": []string{"department", "absent"},
		"authorization_params": m{"prompt": "login"}, "scopes": []string{"email"},
	}
	created := w.do("POST", "/admin/custom-providers", w.admin(), oidc).want(201)
	if strings.Contains(created.raw, "kept-to-itself") || created.text("scopes") != "[openid email]" ||
		created.text("discovery_document.issuer") != f.URL || created.text("enabled") != "true" {
		t.Error(created.raw)
	}
	w.do("POST", "/admin/custom-providers", w.admin(), oidc).want(400, "conflict")
	to, _ := url.Parse(w.do("GET", "/authorize?provider=custom:corp", "", nil).want(302).header.Get("Location"))
	if q := to.Query(); q.Get("prompt") != "login" || q.Get("scope") != "openid email" ||
		q.Get("code_challenge_method") != "S256" ||
		q.Get("redirect_uri") != "https://api.example.org/auth/v1/callback" {
		t.Error(to)
	}
	u := w.signInWith("custom:corp")
	if u.text("email") != "ayan@example.org" || u.text("app_metadata.provider") != "custom:corp" ||
		u.text("user_metadata.custom_claims") != "map[department:Sales]" {
		t.Error(u.raw)
	}
	if asked := f.requests(); len(strings.TrimPrefix(asked[len(asked)-1], "x ")) < 43 {
		t.Errorf("no code verifier with the code: %q", asked)
	}
	addCustomOAuth2(w, f)
	list := w.do("GET", "/admin/custom-providers?type=oauth2", w.admin(), nil).want(200)
	if got := list.at("providers").([]any); len(got) != 1 || got[0].(m)["identifier"] != "custom:people" {
		t.Error(list.raw)
	}
	one := "/admin/custom-providers/custom:corp"
	if r := w.do("PUT", one, w.admin(), m{"name": "New name",
		"enabled": false}).want(200); r.text("client_id") != "client" || r.text("name") != "New name" {
		t.Error(r.raw)
	}
	w.do("GET", "/authorize?provider=custom:corp", "", nil).want(400, "validation_failed")
	// its document names another issuer
	w.do("PUT", one, w.admin(), m{"issuer": f.URL + "/other"}).want(400, "validation_failed")
	w.do("DELETE", one, w.admin(), nil).want(204)
	w.do("GET", one, w.admin(), nil).want(404, "custom_provider_not_found")
	w.do("GET", "/admin/custom-providers", w.signUp("a@example.org").text("access_token"), nil).want(403, "not_admin")
}

// addCustomOAuth2 adds the fake as a provider without OpenID Connect, whose user information has
// names of its own.
func addCustomOAuth2(w *world, f *fakeProvider) {
	w.t.Helper()
	w.do("POST", "/admin/custom-providers", w.admin(), m{
		"provider_type": "oauth2", "identifier": "custom:people", "name": "People", "client_id": "client",
		"client_secret": "s", "pkce_enabled": false, "authorization_url": f.URL + "/auth", "token_url": f.URL +
			"/token", "userinfo_url": f.URL + "/people/me",
		"attribute_mapping": m{"sub": "uid", "email": "mail", "name": "label", "locale": "so", "zoneinfo": m{}},
	}).want(201)
}

// TestCustomOAuth2Provider checks that the attribute mapping of an OAuth 2 provider sets the user's
// fields, but not the role.
func TestCustomOAuth2Provider(t *testing.T) {
	w, f := withCustom(t)
	f.claims = m{"uid": 42, "mail": "hodan@example.org", "email_verified": true, "label": "Hodan",
		"role": "service_role"}
	addCustomOAuth2(w, f)
	u := w.signInWith("custom:people")
	if u.text("email") != "hodan@example.org" || u.text("user_metadata.full_name") != "Hodan" ||
		u.text("user_metadata.provider_id") != "42" || u.text("role") != "authenticated" {
		t.Error(u.raw)
	}
}

// TestCustomProviderAttacks checks that unsafe provider settings are rejected, and that a provider
// cannot take over accounts.
func TestCustomProviderAttacks(t *testing.T) {
	w, f := withCustom(t, func(o *Options) { o.Config.CustomProviders.Max = 2 })
	good := func(change m) m {
		out := m{
			"provider_type": "oauth2", "identifier": "custom:people", "name": "People", "client_id": "client",
			"client_secret": "s", "authorization_url": f.URL + "/auth", "token_url": f.URL + "/token",
			"userinfo_url": f.URL + "/people/me",
		}
		for name, v := range change {
			out[name] = v
		}
		return out
	}
	for name, change := range map[string]m{
		"unknown type":          {"provider_type": "saml"},
		"built-in name":         {"identifier": "google"},
		"path in the name":      {"identifier": "custom:../admin"},
		"no secret":             {"client_secret": ""},
		"no TLS":                {"token_url": "http://example.org/token"},
		"file URL":              {"userinfo_url": "file:///etc/passwd"},
		"user in the URL":       {"token_url": "https://a@example.org/token"},
		"this machine":          {"token_url": "https://id.localhost/token"},
		"loopback address":      {"token_url": "https://127.0.0.2/token"},
		"private address":       {"token_url": "https://10.0.0.1/token"},
		"private user info":     {"userinfo_url": "https://[fd00::1]/me"},
		"metadata service":      {"authorization_url": "https://169.254.169.254/auth"},
		"IPv4 in IPv6":          {"jwks_uri": "https://[::ffff:192.168.0.1]/keys"},
		"no token URL":          {"token_url": ""},
		"own state":             {"authorization_params": m{"state": "x"}},
		"own redirect URL":      {"authorization_params": m{"redirect_uri": "https://evil.example.org"}},
		"object as parameter":   {"authorization_params": m{"a": m{}}},
		"mapped role":           {"attribute_mapping": m{"role": "group"}},
		"mapped email_verified": {"attribute_mapping": m{"email_verified": "active"}},
		"mapped administrator":  {"attribute_mapping": m{"is_super_admin": true}},
		"empty claim":           {"custom_claims_allowlist": []string{" "}},
		"OpenID without issuer": {"provider_type": "oidc"},
		"document of another issuer": {"provider_type": "oidc", "issuer": "https://example.org",
			"discovery_url": f.URL + "/.well-known/openid-configuration"},
		"not a discovery document": {"provider_type": "oidc", "issuer": f.URL, "discovery_url": f.URL + "/people/me"},
	} {
		if r := w.do("POST", "/admin/custom-providers", w.admin(), good(change)); r.status != 400 ||
			r.text("error_code") != "validation_failed" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if n := w.count(`select count(*) from auth.custom_oauth_providers`); n != 0 {
		t.Fatalf("%d rejected providers are stored", n)
	}
	w.do("POST", "/admin/custom-providers", w.admin(), good(nil)).want(201)

	// Sign-in without a subject fails: all such users would share one account.
	f.claims = m{"email": "a@example.org", "email_verified": true}
	if r := w.signInWith("custom:people"); r.status != 0 || !strings.Contains(r.raw, "error=") {
		t.Errorf("signed in without a subject: %s", r.raw)
	}
	// An unverified address does not link to the account of its owner.
	w.restart(func(o *Options) { o.Config.MailerAutoconfirm = false })
	owner := w.do("POST", "/admin/users", w.admin(), m{"email": "owner@example.org", "email_confirm": true}).want(200)
	f.claims = m{"sub": "thief", "email": "owner@example.org", "email_verified": false}
	if r := w.signInWith("custom:people"); r.text("id") == owner.text("id") {
		t.Error("signed in to the owner's account with an unverified address")
	}
	// Max holds for concurrent requests, too.
	answers := w.together(4, func() reply {
		return w.do("POST", "/admin/custom-providers", w.admin(),
			good(m{"identifier": "custom:p-" + strings.ToLower(rand.Text()[:6])}))
	})
	if n := w.count(`select count(*) from auth.custom_oauth_providers`); n != 2 || answers[201] != 1 {
		t.Errorf("%d providers, replies %v", n, answers)
	}
	// Disabled providers are not found.
	w.restart(func(o *Options) { o.Config.CustomProviders.Disabled = true })
	w.do("GET", "/admin/custom-providers", w.admin(), nil).want(404, "feature_disabled")
	w.do("GET", "/authorize?provider=custom:people", "", nil).want(400, "validation_failed")
}

// TestSafeTransport checks that the HTTP client for providers connects to public addresses only.
func TestSafeTransport(t *testing.T) {
	for _, inside := range []string{"https://127.0.0.1:1/", "https://[::1]/", "https://10.0.0.1/",
		"https://169.254.169.254/", "https://100.64.0.1/", "https://[fd00::1]/", "https://[::ffff:127.0.0.1]/",
		"https://0.0.0.0/"} {
		if response, err := (&http.Client{Transport: idp.SafeTransport()}).Get(inside); err == nil ||
			!strings.Contains(err.Error(), "not a public one") {
			t.Errorf("%s: %v %v", inside, response, err)
		}
	}
}
