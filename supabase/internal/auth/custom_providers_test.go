package auth

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"daawo/supabase/internal/auth/external/idp"
)

// withCustom makes a world whose administrators may describe the fake, which speaks TLS and asks nobody to believe its
// certificate but us.
func withCustom(t *testing.T, change ...func(*Options)) (*world, *fakeProvider) {
	t.Helper()
	w := newWorld(t, change...)
	f, mux := fakeProviderOf(t, w)
	mux.HandleFunc("/people/me", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(f.claims)
	})
	f.Server = httptest.NewTLSServer(mux)
	t.Cleanup(f.Close)
	w.restart(func(o *Options) { o.Client = f.Client() })
	return w, f
}

// come signs somebody in by a provider and gives their account, or what the site is told instead.
func (w *world) come(name string) reply {
	w.t.Helper()
	to := w.through("/authorize?provider=" + name)
	token := fragment(w.t, to).Get("access_token")
	if token == "" {
		return reply{t: w.t, raw: to.String()}
	}
	return w.do("GET", "/user", token, nil).want(200)
}

// TestCustomProviders: an administrator describes a provider, people sign in by it, and it goes again.
func TestCustomProviders(t *testing.T) {
	w, f := withCustom(t)
	f.claims = m{"email": "Ayan@example.org", "email_verified": true, "name": "Ayan", "department": "Ward 3", "secret": "x"}
	oidc := m{
		"provider_type": "oidc", "identifier": "custom:ministry", "name": "Ministry", "client_id": "client", "client_secret": "kept-to-itself", "issuer": f.URL,
		"custom_claims_allowlist": []string{"department", "absent"}, "authorization_params": m{"prompt": "login"}, "scopes": []string{"email"},
	}
	made := w.do("POST", "/admin/custom-providers", w.admin(), oidc).want(201)
	if strings.Contains(made.raw, "kept-to-itself") || made.text("scopes") != "[openid email]" || made.text("discovery_document.issuer") != f.URL || made.text("enabled") != "true" {
		t.Error(made.raw)
	}
	w.do("POST", "/admin/custom-providers", w.admin(), oidc).want(400, "conflict")
	to, _ := url.Parse(w.do("GET", "/authorize?provider=custom:ministry", "", nil).want(302).header.Get("Location"))
	if q := to.Query(); q.Get("prompt") != "login" || q.Get("scope") != "openid email" || q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != "https://api.example.org/auth/v1/callback" {
		t.Error(to)
	}
	u := w.come("custom:ministry")
	if u.text("email") != "ayan@example.org" || u.text("app_metadata.provider") != "custom:ministry" || u.text("user_metadata.custom_claims") != "map[department:Ward 3]" {
		t.Error(u.raw)
	}
	if asked := f.asked[len(f.asked)-1]; len(strings.TrimPrefix(asked, "x ")) < 43 {
		t.Errorf("no proof key came with the code: %q", asked)
	}

	// One that speaks OAuth alone, in its own words.
	f.claims = m{"uid": 42, "mail": "hodan@example.org", "email_verified": true, "label": "Hodan", "role": "service_role"}
	w.do("POST", "/admin/custom-providers", w.admin(), m{
		"provider_type": "oauth2", "identifier": "custom:people", "name": "People", "client_id": "client", "client_secret": "s", "pkce_enabled": false,
		"authorization_url": f.URL + "/auth", "token_url": f.URL + "/token", "userinfo_url": f.URL + "/people/me",
		"attribute_mapping": m{"sub": "uid", "email": "mail", "name": "label", "locale": "so", "zoneinfo": m{}},
	}).want(201)
	u = w.come("custom:people")
	if u.text("email") != "hodan@example.org" || u.text("user_metadata.full_name") != "Hodan" || u.text("user_metadata.provider_id") != "42" || u.text("role") != "authenticated" {
		t.Error(u.raw)
	}

	// Found, changed, turned off, gone.
	list := w.do("GET", "/admin/custom-providers?type=oauth2", w.admin(), nil).want(200)
	if got := list.at("providers").([]any); len(got) != 1 || got[0].(m)["identifier"] != "custom:people" {
		t.Error(list.raw)
	}
	one := "/admin/custom-providers/custom:ministry"
	if r := w.do("PUT", one, w.admin(), m{"name": "The ministry", "enabled": false}).want(200); r.text("client_id") != "client" || r.text("name") != "The ministry" {
		t.Error(r.raw)
	}
	w.do("GET", "/authorize?provider=custom:ministry", "", nil).want(400, "validation_failed")
	w.do("PUT", one, w.admin(), m{"issuer": f.URL + "/other"}).want(400, "validation_failed") // its document is another's
	w.do("DELETE", one, w.admin(), nil).want(204)
	w.do("GET", one, w.admin(), nil).want(404, "custom_provider_not_found")
	w.do("GET", "/admin/custom-providers", w.signUp("a@example.org").text("access_token"), nil).want(403, "not_admin")
}

// TestCustomProviderAttacks: what a description must not say, and a provider must not do.
func TestCustomProviderAttacks(t *testing.T) {
	w, f := withCustom(t, func(o *Options) { o.Config.CustomProviders.Max = 2 })
	good := func(change m) m {
		out := m{
			"provider_type": "oauth2", "identifier": "custom:people", "name": "People", "client_id": "client", "client_secret": "s",
			"authorization_url": f.URL + "/auth", "token_url": f.URL + "/token", "userinfo_url": f.URL + "/people/me",
		}
		for name, v := range change {
			out[name] = v
		}
		return out
	}
	for name, change := range map[string]m{
		"of no kind":              {"provider_type": "saml"},
		"a name of ours":          {"identifier": "google"},
		"an odd name":             {"identifier": "custom:../admin"},
		"no secret":               {"client_secret": ""},
		"without TLS":             {"token_url": "http://example.org/token"},
		"a file":                  {"userinfo_url": "file:///etc/passwd"},
		"user information":        {"token_url": "https://a@example.org/token"},
		"no token URL":            {"token_url": ""},
		"our state":               {"authorization_params": m{"state": "x"}},
		"another redirect":        {"authorization_params": m{"redirect_uri": "https://evil.example.org"}},
		"a parameter of parts":    {"authorization_params": m{"a": m{}}},
		"its own role":            {"attribute_mapping": m{"role": "group"}},
		"its word for the mail":   {"attribute_mapping": m{"email_verified": "active"}},
		"an administrator":        {"attribute_mapping": m{"is_super_admin": true}},
		"an empty claim":          {"custom_claims_allowlist": []string{" "}},
		"OpenID without issuer":   {"provider_type": "oidc"},
		"a stranger's document":   {"provider_type": "oidc", "issuer": "https://example.org", "discovery_url": f.URL + "/.well-known/openid-configuration"},
		"a document that is none": {"provider_type": "oidc", "issuer": f.URL, "discovery_url": f.URL + "/people/me"},
	} {
		if r := w.do("POST", "/admin/custom-providers", w.admin(), good(change)); r.status != 400 || r.text("error_code") != "validation_failed" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if n := w.count(`select count(*) from auth.custom_oauth_providers`); n != 0 {
		t.Fatalf("%d were kept", n)
	}
	w.do("POST", "/admin/custom-providers", w.admin(), good(nil)).want(201)

	// People whom it does not name are nobody, not one and the same.
	f.claims = m{"email": "a@example.org", "email_verified": true}
	if r := w.come("custom:people"); r.status != 0 || !strings.Contains(r.raw, "error=") {
		t.Errorf("somebody came: %s", r.raw)
	}
	// An address that it has not verified is nobody's here: the account of its owner stays theirs.
	w.restart(func(o *Options) { o.Config.MailerAutoconfirm = false })
	owner := w.do("POST", "/admin/users", w.admin(), m{"email": "owner@example.org", "email_confirm": true}).want(200)
	f.claims = m{"sub": "thief", "email": "owner@example.org", "email_verified": false}
	if r := w.come("custom:people"); r.text("id") == owner.text("id") {
		t.Error("an unverified address opened its owner's account")
	}
	// No more than there may be, also when several are made at once.
	answers := w.together(4, func() reply {
		return w.do("POST", "/admin/custom-providers", w.admin(), good(m{"identifier": "custom:p-" + strings.ToLower(rand.Text()[:6])}))
	})
	if made := w.count(`select count(*) from auth.custom_oauth_providers`); made != 2 || answers[201] != 1 {
		t.Errorf("%d providers, answers %v", made, answers)
	}
	// Where there are none, none are found.
	w.restart(func(o *Options) { o.Config.CustomProviders.Disabled = true })
	w.do("GET", "/admin/custom-providers", w.admin(), nil).want(404, "feature_disabled")
	w.do("GET", "/authorize?provider=custom:people", "", nil).want(400, "validation_failed")
	// Its neighbours are not asked: the client that goes outside reaches public addresses only.
	for _, inside := range []string{f.URL, "https://127.0.0.1:1/", "https://[::1]/", "https://10.0.0.1/", "https://169.254.169.254/", "https://100.64.0.1/", "https://[fd00::1]/", "https://[::ffff:127.0.0.1]/", "https://0.0.0.0/"} {
		if response, err := (&http.Client{Transport: idp.SafeTransport()}).Get(inside); err == nil || !strings.Contains(err.Error(), "not a public one") {
			t.Errorf("%s: %v %v", inside, response, err)
		}
	}
}
