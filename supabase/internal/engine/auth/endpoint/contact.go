package endpoint

import (
	"net/http"
	"regexp"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

// emailForm is the form of an address in HTML (WHATWG, valid e-mail address), which GoTrue takes,
// too: ASCII alone, no quoted name, and a host name instead of an IP literal.
var emailForm = regexp.MustCompile("^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@" + hostLabel + `(\.` + hostLabel + `)*$`)

const hostLabel = `[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`

// ValidEmail checks an address and returns its stored form.
func ValidEmail(text string) (string, error) {
	if text == "" {
		return "", apierror.Errorf(http.StatusBadRequest, "validation_failed", "An email address is required")
	}
	if len(text) > 255 {
		return "", apierror.Errorf(http.StatusBadRequest, "validation_failed", "An email address is too long")
	}
	if !emailForm.MatchString(text) {
		return "", apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Unable to validate email address: invalid format")
	}
	return strings.ToLower(text), nil
}

var phoneForm = regexp.MustCompile(`^[1-9][0-9]{1,14}$`)

// ValidPhone checks a number (E.164) and returns its stored form, without plus and spaces.
func ValidPhone(text string) (string, error) {
	digits := strings.ReplaceAll(strings.TrimPrefix(text, "+"), " ", "")
	if !phoneForm.MatchString(digits) {
		return "", apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Invalid phone number format (E.164 required)")
	}
	return digits, nil
}
