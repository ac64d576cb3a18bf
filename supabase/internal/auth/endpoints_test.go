package auth

import (
	"strconv"
	"strings"
	"testing"
)

// TestEndpoints asks every endpoint of GoTrue's openapi.yaml: those that are served answer something else than "no such
// place", those that are turned off answer as GoTrue does whose part is not enabled.
func TestEndpoints(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	const id = "6f1f3b0e-5f57-4c11-9d5c-0b7d0d7d8f11"
	off := map[string]string{"oauth": "404 feature_disabled", "saml": "404 saml_provider_disabled"}
	for _, e := range []struct{ endpoint, want string }{
		{"POST /token?grant_type=password", "400 validation_failed"},
		{"POST /token?grant_type=refresh_token", "400 validation_failed"},
		{"POST /token?grant_type=pkce", "400 validation_failed"},
		{"POST /token?grant_type=id_token", "400 "},
		{"POST /token?grant_type=web3", "400 web3_unsupported_chain"},
		{"POST /logout", "401 no_authorization"},
		{"GET /verify", "400 validation_failed"},
		{"POST /verify", "400 validation_failed"},
		{"GET /authorize", "400 validation_failed"},
		{"POST /signup", "200 "}, // anonymous
		{"POST /recover", "400 validation_failed"},
		{"POST /resend", "400 validation_failed"},
		{"POST /magiclink", "422 validation_failed"},
		{"POST /otp", "400 validation_failed"},
		{"GET /user", "401 no_authorization"},
		{"PUT /user", "401 no_authorization"},
		{"GET /user/identities/authorize", "401 no_authorization"},
		{"DELETE /user/identities/" + id, "401 no_authorization"},
		{"GET /user/oauth/grants", "401 no_authorization"},
		{"DELETE /user/oauth/grants", "401 no_authorization"},
		{"GET /reauthenticate", "401 no_authorization"},
		{"POST /factors", "401 no_authorization"},
		{"POST /factors/" + id + "/challenge", "401 no_authorization"},
		{"POST /factors/" + id + "/verify", "401 no_authorization"},
		{"DELETE /factors/" + id, "401 no_authorization"},
		{"GET /callback", "303 bad_oauth_callback"},
		{"POST /callback", "303 bad_oauth_callback"},
		{"POST /sso", off["saml"]},
		{"GET /sso/saml/metadata", off["saml"]},
		{"POST /sso/saml/acs", off["saml"]},
		{"GET /saml/metadata", "404 "},
		{"POST /saml/acs", "404 "},
		{"POST /invite", "401 no_authorization"},
		{"POST /admin/generate_link", "401 no_authorization"},
		{"GET /admin/audit", "401 no_authorization"},
		{"GET /admin/users", "401 no_authorization"},
		{"POST /admin/users", "401 no_authorization"},
		{"GET /admin/users/" + id, "401 no_authorization"},
		{"PUT /admin/users/" + id, "401 no_authorization"},
		{"DELETE /admin/users/" + id, "401 no_authorization"},
		{"GET /admin/users/" + id + "/factors", "401 no_authorization"},
		{"PUT /admin/users/" + id + "/factors/" + id, "401 no_authorization"},
		{"DELETE /admin/users/" + id + "/factors/" + id, "401 no_authorization"},
		{"GET /admin/users/" + id + "/passkeys", "401 no_authorization"},
		{"DELETE /admin/users/" + id + "/passkeys/" + id, "401 no_authorization"},
		{"GET /admin/sso/providers", "401 no_authorization"},
		{"POST /admin/sso/providers", "401 no_authorization"},
		{"GET /admin/sso/providers/" + id, "401 no_authorization"},
		{"PUT /admin/sso/providers/" + id, "401 no_authorization"},
		{"DELETE /admin/sso/providers/" + id, "401 no_authorization"},
		{"GET /admin/oauth/clients", "401 no_authorization"},
		{"POST /admin/oauth/clients", "401 no_authorization"},
		{"GET /admin/oauth/clients/" + id, "401 no_authorization"},
		{"PUT /admin/oauth/clients/" + id, "401 no_authorization"},
		{"DELETE /admin/oauth/clients/" + id, "401 no_authorization"},
		{"POST /admin/oauth/clients/" + id + "/regenerate_secret", "401 no_authorization"},
		{"GET /admin/custom-providers", "401 no_authorization"},
		{"POST /admin/custom-providers", "401 no_authorization"},
		{"GET /admin/custom-providers/custom:x", "401 no_authorization"},
		{"PUT /admin/custom-providers/custom:x", "401 no_authorization"},
		{"DELETE /admin/custom-providers/custom:x", "401 no_authorization"},
		{"POST /oauth/clients/register", off["oauth"]},
		{"POST /oauth/token", off["oauth"]},
		{"GET /oauth/authorize", off["oauth"]},
		{"GET /oauth/userinfo", off["oauth"]},
		{"GET /oauth/authorizations/x", off["oauth"]},
		{"POST /oauth/authorizations/x/consent", off["oauth"]},
		{"GET /health", "200 "},
		{"GET /settings", "200 "},
		{"GET /.well-known/jwks.json", "200 "},
		{"GET /.well-known/openid-configuration", "200 "},
		{"GET /.well-known/oauth-authorization-server", off["oauth"]},
		{"POST /passkeys/authentication/options", "200 "},
		{"POST /passkeys/authentication/verify", "400 validation_failed"},
		{"POST /passkeys/registration/options", "401 no_authorization"},
		{"POST /passkeys/registration/verify", "401 no_authorization"},
		{"GET /passkeys", "401 no_authorization"},
		{"PATCH /passkeys/" + id, "401 no_authorization"},
		{"DELETE /passkeys/" + id, "401 no_authorization"},
	} {
		method, path, _ := strings.Cut(e.endpoint, " ")
		var body any
		if method != "GET" {
			body = m{}
		}
		r := w.do(method, path, "", body)
		status, code, _ := strings.Cut(e.want, " ")
		if strconv.Itoa(r.status) != status || !strings.Contains(r.raw, code) {
			t.Errorf("%s: %d %s, want %s", e.endpoint, r.status, r.raw, e.want)
		}
		// What is for administrators and turned off says so to them.
		if strings.HasPrefix(path, "/admin/oauth/") {
			w.do(method, path, w.admin(), body).want(404, "feature_disabled")
		}
	}
	w.do("GET", "/user/oauth/grants", w.signUp("a@example.org").text("access_token"), nil).want(404, "feature_disabled")
	list := w.do("GET", "/admin/sso/providers", w.admin(), nil).want(200)
	if list.raw != `{"items":[]}` {
		t.Errorf("%s", list.raw)
	}
	w.do("POST", "/admin/sso/providers", w.admin(), m{}).want(404, "saml_provider_disabled")
}
