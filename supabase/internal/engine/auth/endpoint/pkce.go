package endpoint

import (
	"net/http"
	"regexp"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

var challengeForm = regexp.MustCompile(`^[a-zA-Z._~0-9-]+$`)

// CheckChallenge checks a code challenge (RFC 7636); both parameters may be empty.
func CheckChallenge(method, challenge string) error {
	bad := func(format string, args ...any) error {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", format, args...)
	}
	switch {
	case challenge == "" && method == "":
		return nil
	case challenge == "" || method == "":
		return bad("PKCE flow requires code_challenge_method and code_challenge")
	case len(challenge) < 43 || len(challenge) > 128:
		return bad("code challenge has to be between %v and %v characters", 43, 128)
	case !challengeForm.MatchString(challenge):
		return bad("code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes")
	}
	if m := strings.ToLower(method); m != "s256" && m != "plain" {
		return bad("Invalid code_challenge_method")
	}
	return nil
}
