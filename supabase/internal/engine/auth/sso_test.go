package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"

	"daawo/supabase/internal/engine/auth/sso/ssotest"
)

const clinicIdP = "https://idp.example.edu/realms/clinic"

// TestSAMLSignIn checks a sign-in by domain from the request to the session, and what is stored.
func TestSAMLSignIn(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	id := addIdP(w, p, "clinic.example", nil)
	ordinary := w.signUp("ayan@clinic.example").text("user.id")
	request, state := samlRequest(w, m{"domain": "Clinic.example", "redirect_to": "https://app.example.com/home"})
	if request.Destination != clinicIdP+"/protocol/saml" || request.AssertionConsumerServiceURL != testSAMLBase+"acs" ||
		*request.NameIDPolicy.Format != "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" {
		t.Errorf("%+v", request)
	}
	to := consume(w, samlText(t, p.signed(t, p.statement(w.now(), request.ID, "Ayan@clinic.example"), true)), state)
	if !strings.HasPrefix(to.String(), "https://app.example.com/home#") {
		t.Fatal(to)
	}
	token := fragment(t, to)
	u := w.do("GET", "/user", token.Get("access_token"), nil).want(200)
	if u.text("id") == ordinary || u.text("email") != "ayan@clinic.example" ||
		u.text("app_metadata.provider") != "sso:"+id || u.text("user_metadata.iss") != clinicIdP ||
		u.text("user_metadata.sub") != "G-Ayan@clinic.example" || u.text("user_metadata.name") != "Unknown" ||
		u.text("user_metadata.custom_claims.role") != "[surgeon auditor]" || u.text("email_confirmed_at") == "" {
		t.Error(u.raw)
	}
	claims := payload(t, token.Get("access_token"))
	if amr := claims["amr"].([]any)[0].(m); amr["method"] != "sso/saml" || amr["provider"] != id {
		t.Error(claims)
	}
	if n := w.count(`select count(*) from auth.users where is_sso_user and id = $1`, u.text("id")); n != 1 {
		t.Error("the account is not one of single sign-on")
	}
	w.do("PUT", "/user", token.Get("access_token"), m{"password": "password-2"}).want(422, "user_sso_managed")
	if n := w.count(`select count(*) from auth.saml_relay_states where request_id not like 'assertion:%'`); n != 0 {
		t.Error("the request is still stored")
	}
}

// TestSAMLAccounts checks which account a later sign-in finds, also without a request.
func TestSAMLAccounts(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	addIdP(w, p, "clinic.example", nil)
	ordinary := w.signUp("ayan@clinic.example").text("user.id")
	user := func(by *samlIdP, relayState string, change func(*ssotest.Statement)) (reply, string) {
		s := by.statement(w.now(), "", "Ayan@clinic.example")
		change(&s)
		to := consume(w, samlText(t, by.signed(t, s, relayState != "")), relayState)
		return w.do("GET", "/user", fragment(t, to).Get("access_token"), nil).want(200), to.Host + to.Path
	}
	first, to := user(p, "", func(*ssotest.Statement) {})
	if first.text("id") == ordinary || to != "example.org" {
		t.Errorf("%v %s", to, first.raw)
	}
	second, to := user(p, "https://app.example.com/elsewhere", func(s *ssotest.Statement) {
		s.Attributes += ssotest.Attribute("displayName", "displayName", "Ayan Ali")
	})
	if second.text("id") != first.text("id") || second.text("user_metadata.name") != "Ayan Ali" ||
		to != "app.example.com/elsewhere" {
		t.Errorf("%v %s", to, second.raw)
	}
	// A provider may change its id of a user; the address finds the account at that provider only.
	moved, to := user(p, "https://foreign.example.net/", func(s *ssotest.Statement) { s.NameID = "another" })
	if moved.text("id") != first.text("id") || to != "example.org" {
		t.Errorf("%v %s", to, moved.raw)
	}
	other := newSAMLIdP(t, 2, "https://idp.example.net")
	addIdP(w, other, "other.example", nil)
	if foreign, _ := user(other, "", func(*ssotest.Statement) {}); foreign.text("id") == first.text("id") ||
		foreign.text("id") == ordinary {
		t.Error("two providers share an account")
	}
}

// TestSAMLSessionEnd checks that a session ends when its provider says so, with tokens and with a
// code.
func TestSAMLSessionEnd(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	id := addIdP(w, p, "clinic.example", nil)
	say := func(inResponseTo string) string {
		s := p.statement(w.now(), inResponseTo, "ayan@clinic.example")
		s.SessionEnd = w.now().Add(30 * time.Minute)
		return samlText(t, p.signed(t, s, true))
	}
	request, state := samlRequest(w, m{"provider_id": id})
	tokens := fragment(t, consume(w, say(request.ID), state))

	verifier := strings.Repeat("v", 43)
	request, state = samlRequest(w, m{"provider_id": id, "code_challenge": verifier, "code_challenge_method": "plain"})
	to := consume(w, say(request.ID), state)
	code := to.Query().Get("code")
	if code == "" || to.Fragment != "" {
		t.Fatal(to)
	}
	grant := m{"auth_code": code, "code_verifier": verifier}
	byCode := w.post("/token?grant_type=pkce", grant).want(200)
	w.post("/token?grant_type=pkce", grant).want(404, "flow_state_not_found")
	if n := w.count(`select count(*) from auth.sessions where not_after is null`); n != 0 {
		t.Errorf("%d sessions without an end", n)
	}
	w.wait(29 * time.Minute)
	next := w.refresh(tokens.Get("refresh_token")).want(200).text("refresh_token")
	w.wait(2 * time.Minute)
	w.refresh(next).want(400, "session_expired")
	w.refresh(byCode.text("refresh_token")).want(400, "session_expired")
}

// TestSAMLRelayState checks that a request has one response, in time and by its own provider.
func TestSAMLRelayState(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	other := newSAMLIdP(t, 2, "https://idp.example.net")
	id := addIdP(w, p, "clinic.example", nil)
	addIdP(w, other, "other.example", nil)
	code := func(response, state string) string { return consume(w, response, state).Query().Get("error_code") }
	say := func(by *samlIdP, request string) string {
		return samlText(t, by.signed(t, by.statement(w.now(), request, "ayan@clinic.example"), true))
	}
	request, state := samlRequest(w, m{"provider_id": id})
	w.wait(2 * time.Minute)
	if got := code(say(p, request.ID), state); got != "saml_relay_state_expired" {
		t.Error(got)
	}
	if got := code(say(p, request.ID), state); got != "saml_relay_state_not_found" {
		t.Error(got)
	}
	if got := code(say(p, request.ID), "neither"); got != "validation_failed" {
		t.Error(got)
	}
	request, state = samlRequest(w, m{"provider_id": id})
	if got := code(say(other, request.ID), state); got != "validation_failed" {
		t.Error(got)
	}
	request, state = samlRequest(w, m{"provider_id": id})
	w.do("PUT", "/admin/sso/providers/"+id, w.admin(), m{"disabled": true}).want(200)
	if got := code(say(p, request.ID), state); got != "sso_provider_disabled" {
		t.Error(got)
	}
	w.post("/sso", m{"provider_id": id}).want(404, "sso_provider_disabled")
	w.post("/sso", m{"domain": "clinic.example"}).want(404, "sso_provider_disabled")
	w.post("/sso", m{"domain": "none.example"}).want(404, "sso_provider_not_found")
	w.post("/sso", m{}).want(400, "validation_failed")
	w.post("/sso", m{"domain": "clinic.example", "provider_id": id}).want(400, "validation_failed")
	if n := w.count(`select count(*) from auth.sessions`); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// TestSSOProviders checks the administration of providers.
func TestSSOProviders(t *testing.T) {
	w, p := newWorld(t), newSAMLIdP(t, 1, clinicIdP)
	id := addIdP(w, p, "clinic.example", m{"resource_id": "Clinic",
		"name_id_format": "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"})
	one := "/admin/sso/providers/" + id
	got := w.do("GET", one, w.admin(), nil).want(200)
	if got.text("saml.entity_id") != clinicIdP || got.text("saml.metadata_xml") != p.Metadata() ||
		got.text("domains") != "[map[domain:clinic.example]]" || got.text("resource_id") != "Clinic" ||
		got.at("disabled") != nil || got.text("saml.attribute_mapping.keys.role.array") != "true" {
		t.Error(got.raw)
	}
	w.do("GET", "/admin/sso/providers/resource_Clinic", w.admin(), nil).want(200)
	w.do("GET", "/admin/sso/providers/resource_other", w.admin(), nil).want(404, "sso_provider_not_found")
	for query, want := range map[string]int{"": 1, "?resource_id=Clinic": 1, "?resource_id=x": 0,
		"?resource_id_prefix=Cli": 1, "?resource_id_prefix=%25": 0} {
		list := w.do("GET", "/admin/sso/providers"+query, w.admin(), nil).want(200)
		if items := list.at("items").([]any); len(items) != want || strings.Contains(list.raw, "metadata_xml") {
			t.Error(query, list.raw)
		}
	}
	other := newSAMLIdP(t, 2, "https://idp.example.net")
	w.do("POST", "/admin/sso/providers", w.admin(), m{"type": "saml", "metadata_xml": p.Metadata()}).
		want(422, "saml_idp_already_exists")
	w.do("POST", "/admin/sso/providers", w.admin(), m{"type": "saml", "metadata_xml": other.Metadata(),
		"domains": []string{"CLINIC.example"}}).want(400, "sso_domain_already_exists")
	w.do("PUT", one, w.admin(), m{"metadata_xml": other.Metadata()}).want(400, "saml_entity_id_mismatch")
	for _, bad := range []m{
		{"type": "oidc", "metadata_xml": p.Metadata()}, {"type": "saml"}, {"type": "saml", "metadata_xml": "<x"},
		{"type": "saml", "metadata_xml": p.Metadata(), "metadata_url": "https://example.com"},
		{"type": "saml", "metadata_url": "http://example.com"}, {"type": "saml", "metadata_url": "x"},
		{"type": "saml", "metadata_xml": other.Metadata(), "name_id_format": "x"},
		{"type": "saml", "metadata_xml": other.Metadata(), "domains": []string{" "}},
		{"type": "saml", "metadata_xml": `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"/>`},
		{"type": "saml", "metadata_xml": strings.Repeat(" ", 600<<10) + other.Metadata()},
	} {
		w.do("POST", "/admin/sso/providers", w.admin(), bad).want(400, "validation_failed")
	}
	changed := w.do("PUT", one, w.admin(), m{"domains": []string{"a.example", "clinic.example"}, "disabled": true,
		"resource_id": "", "attribute_mapping": m{"keys": m{}}}).want(200)
	if changed.text("domains") != "[map[domain:a.example] map[domain:clinic.example]]" || changed.at("disabled") != true ||
		changed.text("resource_id") != "" || changed.text("saml.attribute_mapping") != "map[]" ||
		changed.text("saml.name_id_format") != "" {
		t.Error(changed.raw)
	}
	w.do("DELETE", one, w.signUp("a@example.org").text("access_token"), nil).want(403, "not_admin")
	w.do("DELETE", one, w.admin(), nil).want(200)
	w.do("DELETE", one, w.admin(), nil).want(404, "sso_provider_not_found")
	if n := w.count(`select count(*) from auth.sso_domains d full join auth.saml_providers s on true`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestSAMLMetadataURL checks that metadata are fetched over HTTPS with limits, and again when they
// are stale; and that a failure or another provider's metadata change nothing.
func TestSAMLMetadataURL(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	reply := p.Metadata
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(rw, r, "http://"+r.Host+"/metadata", http.StatusFound)
		case "/missing":
			http.NotFound(rw, r)
		case "/large":
			_, _ = rw.Write(make([]byte, 1<<20))
		default:
			_, _ = rw.Write([]byte(reply()))
		}
	}))
	t.Cleanup(server.Close)
	create := m{"type": "saml", "metadata_url": server.URL + "/metadata"}
	// Without a client of the test, the address of this machine cannot be reached.
	w.do("POST", "/admin/sso/providers", w.admin(), create).want(400, "saml_metadata_fetch_failed")
	w.restart(func(o *Options) { o.Client = server.Client() })
	for _, path := range []string{"/away", "/missing", "/large"} {
		w.do("POST", "/admin/sso/providers", w.admin(), m{"type": "saml", "metadata_url": server.URL + path}).
			want(400, "saml_metadata_fetch_failed")
	}
	id := w.do("POST", "/admin/sso/providers", w.admin(), create).want(201).text("id")
	rolled := newSAMLIdP(t, 3, clinicIdP)
	signsIn := func(by *samlIdP) bool {
		s := by.statement(w.now(), "", "ayan@clinic.example")
		return fragment(t, consume(w, samlText(t, by.signed(t, s, true)), "")).Get("access_token") != ""
	}
	reply = rolled.Metadata
	if !signsIn(p) || signsIn(rolled) {
		t.Error("metadata were fetched before they were stale")
	}
	w.wait(25 * time.Hour)
	if signsIn(p) || !signsIn(rolled) {
		t.Error("stale metadata were not fetched")
	}
	w.wait(25 * time.Hour)
	reply = newSAMLIdP(t, 2, "https://idp.example.net").Metadata
	if !signsIn(rolled) {
		t.Error("the metadata of another provider count")
	}
	got := w.do("GET", "/admin/sso/providers/"+id, w.admin(), nil)
	if got.text("saml.metadata_xml") != rolled.Metadata() {
		t.Error(got.raw)
	}
}

// TestSAMLMetadata checks what providers read about this service, and a rotation of its key.
func TestSAMLMetadata(t *testing.T) {
	w := newWorld(t)
	w.post("/sso", m{"domain": "clinic.example"}).want(404, "saml_provider_disabled")
	w.do("GET", "/sso/saml/metadata", "", nil).want(404, "saml_provider_disabled")
	w.restart(withSAML)
	got := w.do("GET", "/sso/saml/metadata?download=true", "", nil).want(200)
	if got.header.Get("Content-Disposition") != `attachment; filename="metadata.xml"` ||
		got.header.Get("Content-Type") != "application/xml" || strings.Contains(got.raw, "encryption") {
		t.Errorf("%v %s", got.header, got.raw)
	}
	doc := etree.NewDocument()
	if err := doc.ReadFromString(got.raw); err != nil {
		t.Fatal(err)
	}
	if doc.Root().SelectAttrValue("entityID", "") != "https://api.example.org/auth/v1/sso/saml/metadata" ||
		!strings.HasPrefix(doc.Root().SelectAttrValue("validUntil", ""), "2031-") {
		t.Error(got.raw)
	}
	w.restart(func(o *Options) {
		o.Config.SAML.NextKey, o.Config.SAML.AllowEncrypted = o.Config.SAML.PrivateKey, true
	})
	got = w.do("GET", "/sso/saml/metadata", "", nil).want(200)
	if got.header.Get("Cache-Control") != "public, max-age=60" || strings.Count(got.raw, "<X509Certificate") != 4 {
		t.Errorf("%v %s", got.header, got.raw)
	}
	settings := w.do("GET", "/settings", "", nil)
	if settings.at("saml_enabled") != true || settings.at("saml_private_key_next_configured") != true {
		t.Error(settings.raw)
	}
	for _, bad := range []string{"", "!", "AAAA"} {
		o := w.options
		o.Config.SAML.PrivateKey = bad
		if _, err := New(o); err == nil {
			t.Errorf("key %q is accepted", bad)
		}
	}
}
