package gotrue

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"daawo/supabase/internal/base/compare"
)

// walk makes a random sequence of requests to auth. The same seed makes the same sequence.
type walk struct {
	*rand.Rand
	singleShare int // how often single sign-on comes
}

func newWalk(seed uint64, more []string) walk {
	share := 4
	if slices.Contains(more, "GOTRUE_SAML_ENABLED=true") {
		share = 40
	}
	return walk{rand.New(rand.NewPCG(seed, 42)), share}
}

// rareSequences are requests that lead to known differences which random ones seldom find.
func rareSequences(w walk) [][]compare.Request {
	const admin = "Bearer ${admin}"
	made := w.request("POST", "/admin/users", admin, object{"email": "a0@example.org", "phone": "252610000001",
		"password": "password-0"})
	said := object{"type": "sms", "phone": "252610000001", "token": "123456"}
	provider := w.request("POST", "/admin/sso/providers", admin, object{"type": "saml", "metadata_xml": "${metadata one}"})
	provider.Keep["provider"] = "id"
	banned := w.request("POST", "/admin/users", admin, object{"email": "a0@example.org", "email_confirm": true,
		"ban_duration": "1h"})
	return [][]compare.Request{
		{banned, w.request("POST", "/signup", "", object{"email": "a0@example.org", "password": "password-0"})},
		{made, w.request("POST", "/otp", "", object{"phone": "252610000001", "create_user": false}),
			w.request("POST", "/verify", "", said), w.request("POST", "/token?grant_type=password", "",
				object{"email": "a0@example.org", "password": "password-0"})},
		{made, w.request("POST", "/signup", "", object{"email": "a0@example.org", "password": "password-0"})},
		{made, w.request("POST", "/otp", "", object{"email": "a0@example.org"})},
		{w.request("GET", "/sso/saml/metadata", "", nil)},
		{tokens(w.request("POST", "/signup", "", object{}), "anonymous"),
			w.request("GET", "/factors", "Bearer ${access.anonymous}", nil),
			w.request("PUT", "/admin/users/${id.anonymous}", admin, object{"email": "a1@example.org", "email_confirm": true}),
			w.request("POST", "/factors", "Bearer ${access.anonymous}", object{"factor_type": "totp"})},
		{provider, w.request("PUT", "/admin/sso/providers/${provider}", admin,
			object{"name_id_format": "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"})},
		{w.request("POST", "/admin/oauth/clients", admin, object{"client_name": "shop", "redirect_uris": []string{"x"}})},
	}
}

// environments are the settings under which the servers are compared.
func environments() (out [][]string) {
	set := func(pairs ...string) {
		for i, p := range pairs {
			pairs[i] = "GOTRUE_" + p
		}
		out = append(out, pairs)
	}
	const confirmed, texts = "MAILER_AUTOCONFIRM=true", "SMS_AUTOCONFIRM=true"
	saml := []string{"SAML_ENABLED=true", "SAML_PRIVATE_KEY=" + samlKey}
	set(append(saml, confirmed, texts)...)
	set("MAILER_AUTOCONFIRM=false")
	set(confirmed, "MAILER_SECURE_EMAIL_CHANGE_ENABLED=false")
	set("MAILER_SECURE_EMAIL_CHANGE_ENABLED=false", texts)
	set(confirmed, texts, "SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION=true")
	set(confirmed, "SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD=true")
	set(append(saml, confirmed, texts, "SECURITY_REFRESH_TOKEN_ALGORITHM_VERSION=2")...)
	set(confirmed, "SECURITY_REFRESH_TOKEN_ROTATION_ENABLED=false")
	set(confirmed, texts, "SECURITY_REFRESH_TOKEN_REUSE_INTERVAL=10")
	set(confirmed, texts, "SESSIONS_SINGLE_PER_USER=true")
	set(append(saml, "DISABLE_SIGNUP=true", confirmed)...)
	set("EXTERNAL_PHONE_ENABLED=false", "EXTERNAL_ANONYMOUS_USERS_ENABLED=false", confirmed)
	set("EXTERNAL_EMAIL_ENABLED=false", texts)
	set("EXTERNAL_EMAIL_MAGIC_LINK_ENABLED=false", confirmed)
	set(confirmed, texts, "PASSWORD_MIN_LENGTH=10", "PASSWORD_REQUIRED_CHARACTERS=abc:0123456789:-")
	set(confirmed, texts, "SECURITY_MANUAL_LINKING_ENABLED=true", "OAUTH_SERVER_ENABLED=true")
	set(confirmed, texts, "MFA_PHONE_ENROLL_ENABLED=true", "MFA_PHONE_VERIFY_ENABLED=true", "MFA_MAX_ENROLLED_FACTORS=2")
	set(confirmed, "MFA_TOTP_ENROLL_ENABLED=false", "MFA_TOTP_VERIFY_ENABLED=false")
	set(confirmed, texts, "MAILER_EXTERNAL_HOSTS=auth.example.com,localhost", "MAILER_OTP_LENGTH=8")
	set(texts, "JWT_AUD=people", "JWT_DEFAULT_GROUP_NAME=member", "CUSTOM_OAUTH_ENABLED=true",
		"MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS=true")
	for i := range out {
		out[i] = append(out[i], fmt.Sprintf("ENVIRONMENT=%d", i))
	}
	return out
}
