package auth

import (
	"net/http"
	"strings"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/external"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/provider/protocol"
	"daawo/supabase/internal/engine/auth/sso"
)

// discovery serves the endpoints that describe the installation.
type discovery struct {
	config    Config
	keys      Keyring
	providers *idp.Registry
	sso       *sso.Service
}

// health replies with name and version.
func (d discovery) health(w http.ResponseWriter, _ *http.Request) error {
	return endpoint.SendJSON(w, http.StatusOK, struct {
		Version     string `json:"version"`
		Name        string `json:"name"`
		Description string `json:"description"`
	}{Version, "GoTrue", "GoTrue is a user registration and authentication API"})
}

// jwks replies with the public keys that verify access tokens.
func (d discovery) jwks(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=600")
	return endpoint.SendJSON(w, http.StatusOK, keys.JWKS(d.keys.Verifying()))
}

// settings replies with what a sign-in page may offer.
func (d discovery) settings(w http.ResponseWriter, _ *http.Request) error {
	providers := map[string]bool{
		"anonymous_users": d.config.EnableAnonymous, "email": !d.config.DisableEmail, "phone": d.config.EnablePhone,
	}
	for _, name := range external.ProviderNames() {
		providers[name] = d.providers.Enabled(name)
	}
	return endpoint.SendJSON(w, http.StatusOK, struct {
		External          map[string]bool `json:"external"`
		DisableSignup     bool            `json:"disable_signup"`
		MailerAutoconfirm bool            `json:"mailer_autoconfirm"`
		PhoneAutoconfirm  bool            `json:"phone_autoconfirm"`
		SMSProvider       string          `json:"sms_provider"`
		SAMLEnabled       bool            `json:"saml_enabled"`
		SAMLNextKey       bool            `json:"saml_private_key_next_configured"`
		PasskeysEnabled   bool            `json:"passkeys_enabled"`
	}{
		External: providers, DisableSignup: d.config.DisableSignup, MailerAutoconfirm: d.config.MailerAutoconfirm,
		PhoneAutoconfirm: d.config.PhoneAutoconfirm, SMSProvider: d.config.SMSProvider,
		SAMLEnabled: d.sso.Enabled(), SAMLNextKey: d.sso.Rotating(), PasskeysEnabled: d.config.WebAuthn.Passkeys,
	})
}

// openID replies with the discovery document of OpenID Connect (Discovery, section 3), which is
// also the metadata of an OAuth server (RFC 8414).
func (d discovery) openID(w http.ResponseWriter, _ *http.Request) error {
	base := strings.TrimRight(d.config.Issuer, "/")
	registration := ""
	if d.config.OAuthServer.Enabled && d.config.OAuthServer.DynamicRegistration {
		registration = base + "/oauth/clients/register"
	}
	w.Header().Set("Cache-Control", "public, max-age=600")
	return endpoint.SendJSON(w, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		JWKS          string   `json:"jwks_uri"`
		UserInfo      string   `json:"userinfo_endpoint"`
		Registration  string   `json:"registration_endpoint,omitempty"`
		Scopes        []string `json:"scopes_supported"`
		ResponseTypes []string `json:"response_types_supported"`
		ResponseModes []string `json:"response_modes_supported"`
		Grants        []string `json:"grant_types_supported"`
		Subjects      []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		ClientAuth    []string `json:"token_endpoint_auth_methods_supported"`
		Claims        []string `json:"claims_supported"`
		Challenges    []string `json:"code_challenge_methods_supported"`
	}{
		Issuer: d.config.Issuer, Authorization: base + "/oauth/authorize", Token: base + "/oauth/token",
		JWKS: base + "/.well-known/jwks.json", UserInfo: base + "/oauth/userinfo",
		Registration: registration, Scopes: protocol.SupportedScopes(), ResponseTypes: []string{"code"},
		ResponseModes: []string{"query"}, Grants: []string{"authorization_code", "refresh_token"},
		Subjects: []string{"public"}, Algorithms: []string{"RS256", "HS256", "ES256"},
		ClientAuth: []string{"client_secret_basic", "client_secret_post", "none"}, Claims: []string{
			"sub", "aud", "iss", "exp", "iat", "auth_time", "nonce", "email", "email_verified", "phone_number",
			"phone_number_verified", "name", "picture", "preferred_username", "updated_at",
		},
		Challenges: []string{"S256", "plain"},
	})
}
