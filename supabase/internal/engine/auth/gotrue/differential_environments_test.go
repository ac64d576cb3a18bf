package gotrue

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
