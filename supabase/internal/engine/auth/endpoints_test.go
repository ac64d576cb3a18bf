package auth

import (
	"strconv"
	"strings"
	"testing"
)

const (
	endpointID = "6f1f3b0e-5f57-4c11-9d5c-0b7d0d7d8f11"
	oauthOff   = "404 feature_disabled"
	samlOff    = "404 saml_provider_disabled"
)

// endpointCases lists every endpoint of GoTrue's openapi.yaml and the reply to an empty request
// without a token.
var endpointCases = []struct{ endpoint, want string }{
	{"POST /token?grant_type=password", "400 validation_failed"},
	{"POST /token?grant_type=refresh_token", "400 validation_failed"},
	{"POST /token?grant_type=pkce", "400 validation_failed"},
	{"POST /token?grant_type=id_token", "400 "},
	{"POST /token?grant_type=web3", "422 web3_provider_disabled"},
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
	{"DELETE /user/identities/" + endpointID, "401 no_authorization"},
	{"GET /user/oauth/grants", "401 no_authorization"},
	{"DELETE /user/oauth/grants", "401 no_authorization"},
	{"GET /reauthenticate", "401 no_authorization"},
	{"POST /factors", "401 no_authorization"},
	{"POST /factors/" + endpointID + "/challenge", "401 no_authorization"},
	{"POST /factors/" + endpointID + "/verify", "401 no_authorization"},
	{"DELETE /factors/" + endpointID, "401 no_authorization"},
	{"GET /callback", "303 bad_oauth_callback"},
	{"POST /callback", "303 bad_oauth_callback"},
	{"POST /sso", samlOff},
	{"GET /sso/saml/metadata", samlOff},
	{"POST /sso/saml/acs", samlOff},
	{"GET /saml/metadata", "404 "},
	{"POST /saml/acs", "404 "},
	{"POST /invite", "401 no_authorization"},
	{"POST /admin/generate_link", "401 no_authorization"},
	{"GET /admin/audit", "401 no_authorization"},
	{"GET /admin/users", "401 no_authorization"},
	{"POST /admin/users", "401 no_authorization"},
	{"GET /admin/users/" + endpointID, "401 no_authorization"},
	{"PUT /admin/users/" + endpointID, "401 no_authorization"},
	{"DELETE /admin/users/" + endpointID, "401 no_authorization"},
	{"GET /admin/users/" + endpointID + "/factors", "401 no_authorization"},
	{"PUT /admin/users/" + endpointID + "/factors/" + endpointID, "401 no_authorization"},
	{"DELETE /admin/users/" + endpointID + "/factors/" + endpointID, "401 no_authorization"},
	{"GET /admin/users/" + endpointID + "/passkeys", "401 no_authorization"},
	{"DELETE /admin/users/" + endpointID + "/passkeys/" + endpointID, "401 no_authorization"},
	{"GET /admin/sso/providers", "401 no_authorization"},
	{"POST /admin/sso/providers", "401 no_authorization"},
	{"GET /admin/sso/providers/" + endpointID, "401 no_authorization"},
	{"PUT /admin/sso/providers/" + endpointID, "401 no_authorization"},
	{"DELETE /admin/sso/providers/" + endpointID, "401 no_authorization"},
	{"GET /admin/oauth/clients", "401 no_authorization"},
	{"POST /admin/oauth/clients", "401 no_authorization"},
	{"GET /admin/oauth/clients/" + endpointID, "401 no_authorization"},
	{"PUT /admin/oauth/clients/" + endpointID, "401 no_authorization"},
	{"DELETE /admin/oauth/clients/" + endpointID, "401 no_authorization"},
	{"POST /admin/oauth/clients/" + endpointID + "/regenerate_secret", "401 no_authorization"},
	{"GET /admin/custom-providers", "401 no_authorization"},
	{"POST /admin/custom-providers", "401 no_authorization"},
	{"GET /admin/custom-providers/custom:x", "401 no_authorization"},
	{"PUT /admin/custom-providers/custom:x", "401 no_authorization"},
	{"DELETE /admin/custom-providers/custom:x", "401 no_authorization"},
	{"POST /oauth/clients/register", oauthOff},
	{"POST /oauth/token", oauthOff},
	{"GET /oauth/authorize", oauthOff},
	{"GET /oauth/userinfo", oauthOff},
	{"GET /oauth/authorizations/x", oauthOff},
	{"POST /oauth/authorizations/x/consent", oauthOff},
	{"GET /health", "200 "},
	{"GET /settings", "200 "},
	{"GET /.well-known/jwks.json", "200 "},
	{"GET /.well-known/openid-configuration", "200 "},
	{"GET /.well-known/oauth-authorization-server", oauthOff},
	{"POST /passkeys/authentication/options", "200 "},
	{"POST /passkeys/authentication/verify", "400 validation_failed"},
	{"POST /passkeys/registration/options", "401 no_authorization"},
	{"POST /passkeys/registration/verify", "401 no_authorization"},
	{"GET /passkeys", "401 no_authorization"},
	{"PATCH /passkeys/" + endpointID, "401 no_authorization"},
	{"DELETE /passkeys/" + endpointID, "401 no_authorization"},
}

// TestEndpoints checks that every endpoint of GoTrue exists, and that disabled features reply as
// GoTrue does.
func TestEndpoints(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	for _, e := range endpointCases {
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
		// Administrators get the reason: the feature is disabled.
		if strings.HasPrefix(path, "/admin/oauth/") {
			w.do(method, path, w.admin(), body).want(404, "feature_disabled")
		}
	}
	w.do("GET", "/user/oauth/grants", w.signUp("a@example.org").text("access_token"), nil).want(404, "feature_disabled")
	list := w.do("GET", "/admin/sso/providers", w.admin(), nil).want(200)
	if list.raw != `{"items":[]}` {
		t.Errorf("%s", list.raw)
	}
	w.do("POST", "/admin/sso/providers", w.admin(), m{}).want(400, "validation_failed")
}
