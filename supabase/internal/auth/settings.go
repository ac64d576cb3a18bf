package auth

import (
	"net/http"

	"daawo/supabase/internal/keys"
)

func (e *Engine) health(w http.ResponseWriter, _ *http.Request) error {
	return send(w, http.StatusOK, struct {
		Version     string `json:"version"`
		Name        string `json:"name"`
		Description string `json:"description"`
	}{Version, "GoTrue", "GoTrue is a user registration and authentication API"})
}

// jwks publishes the public halves of the keys that sign access tokens.
func (e *Engine) jwks(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=600")
	return send(w, http.StatusOK, keys.JWKS(e.keys.Verifying()))
}

// providerNames are the names under which /settings speaks of providers, all of them, enabled or not.
var providerNames = []string{
	"apple", "azure", "bitbucket", "discord", "facebook", "snapchat", "figma", "fly", "github", "gitlab", "google",
	"keycloak", "kakao", "linkedin", "linkedin_oidc", "notion", "spotify", "slack", "slack_oidc", "workos", "twitch",
	"twitter", "zoom",
}

// settings tells a sign-in page what it may offer.
func (e *Engine) settings(w http.ResponseWriter, _ *http.Request) error {
	external := map[string]bool{
		"anonymous_users": e.config.EnableAnonymous, "email": !e.config.DisableEmail, "phone": e.config.EnablePhone,
	}
	for _, name := range providerNames {
		external[name] = false
	}
	return send(w, http.StatusOK, struct {
		External          map[string]bool `json:"external"`
		DisableSignup     bool            `json:"disable_signup"`
		MailerAutoconfirm bool            `json:"mailer_autoconfirm"`
		PhoneAutoconfirm  bool            `json:"phone_autoconfirm"`
		SMSProvider       string          `json:"sms_provider"`
		SAMLEnabled       bool            `json:"saml_enabled"`
		SAMLNextKey       bool            `json:"saml_private_key_next_configured"`
		PasskeysEnabled   bool            `json:"passkeys_enabled"`
	}{
		External: external, DisableSignup: e.config.DisableSignup, MailerAutoconfirm: e.config.MailerAutoconfirm,
		PhoneAutoconfirm: e.config.PhoneAutoconfirm,
	})
}
