package gotrue

import (
	"errors"
	"fmt"
	"strconv"
)

// refuse adds an error for each variable of a missing feature without which the server would let in
// or store more than the operator wants.
func (e *env) refuse() {
	for name, why := range map[string]string{
		"EXTERNAL_WEB3_SOLANA_ENABLED":   "sign-in with a wallet",
		"EXTERNAL_WEB3_ETHEREUM_ENABLED": "sign-in with a wallet",
		"SECURITY_DB_ENCRYPTION_ENCRYPT": "encryption of columns; leave it to the disk or to Postgres",
		"EXPERIMENTAL_SCIM_ENABLED":      "provisioning with SCIM",
	} {
		if e.flag(name, false) {
			e.errs = append(e.errs, notSupported(name, why))
		}
	}
	if schema := e.text("DB_NAMESPACE", "auth"); schema != "auth" {
		e.errs = append(e.errs, notSupported("DB_NAMESPACE", "another schema than auth"))
	}
	for name, why := range map[string]string{
		"SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS":                     "encryption of columns; let GoTrue decrypt them first",
		"EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN":             "accounts that are not linked by their address",
		"EXPERIMENTAL_PROVIDER_LINKING_DOMAINS":                      "accounts that are not linked by their address",
		"MAILER_EMAIL_VALIDATION_EXTENDED":                           "validation of addresses; use the hook before_user_created",
		"MAILER_EMAIL_VALIDATION_SERVICE_URL":                        "validation of addresses; use the hook before_user_created",
		"MAILER_EMAIL_VALIDATION_BLOCKED_MX":                         "validation of addresses; use the hook before_user_created",
		"EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED": "an identity for a new password",
	} {
		if v := e.text(name, ""); v != "" && v != "false" && v != "0" {
			e.errs = append(e.errs, notSupported(name, why))
		}
	}
}

func notSupported(name, why string) error {
	return fmt.Errorf("GOTRUE_%s: not supported: %s; see docs/auth.md", name, why)
}

// percentage reads a number from 0 to 100.
func (e *env) percentage(name string) int {
	return read(e, name, 0, func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err == nil && (n < 0 || n > 100) {
			err = errors.New("not between 0 and 100")
		}
		return n, err
	})
}
