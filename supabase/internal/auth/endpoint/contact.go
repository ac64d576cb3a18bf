package endpoint

import (
	"net/http"
	"net/mail"
	"regexp"
	"strings"

	"daawo/supabase/internal/wire"
)

// ValidEmail checks an address and returns its stored form.
func ValidEmail(text string) (string, error) {
	if text == "" {
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "An email address is required")
	}
	invalid := wire.Errorf(http.StatusBadRequest, "validation_failed", "Unable to validate email address: invalid format")
	if len(text) > 255 {
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "An email address is too long")
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text {
		return "", invalid
	}
	return strings.ToLower(text), nil
}

var phoneForm = regexp.MustCompile(`^[1-9][0-9]{1,14}$`)

// ValidPhone checks a number (E.164) and returns its stored form, without plus and spaces.
func ValidPhone(text string) (string, error) {
	digits := strings.ReplaceAll(strings.TrimPrefix(text, "+"), " ", "")
	if !phoneForm.MatchString(digits) {
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Invalid phone number format (E.164 required)")
	}
	return digits, nil
}
