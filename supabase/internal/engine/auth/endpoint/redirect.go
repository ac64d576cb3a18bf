package endpoint

import (
	"net/http"
	"net/url"

	"daawo/supabase/internal/base/apierror"
)

// AddQuery sets a parameter of a URL.
func AddQuery(target, name, value string) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// OAuthError returns RFC 6749's error code for a status.
func OAuthError(status int) (code string, ok bool) {
	code, ok = map[int]string{
		http.StatusBadRequest: "invalid_request", http.StatusUnauthorized: "unauthorized_client",
		http.StatusForbidden: "access_denied", http.StatusInternalServerError: "server_error",
		http.StatusServiceUnavailable: "temporarily_unavailable",
	}[status]
	return code, ok
}

// SetFragment returns u with the fragment, and the parameter sb, by which clients recognise the
// redirect.
func SetFragment(u *url.URL, fragment url.Values) string {
	fragment.Set("sb", "")
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	return bare.String() + "#" + fragment.Encode()
}

// ErrorRedirect returns target with an error in the query and, if asked, also in the fragment.
func ErrorRedirect(target string, we *apierror.Error, fragment bool) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	values := url.Values{"error_description": {we.Message}}
	word, ok := OAuthError(we.Status)
	switch we.Code {
	case "signup_disabled", "user_banned", "provider_email_needs_verification":
		word, ok = "access_denied", true
	}
	if !ok {
		word = "server_error"
	}
	if _, foreign := we.Details.(OAuthFormat); foreign { // the provider's own error
		word = we.Code
	} else {
		values.Set("error_code", we.Code)
	}
	values.Set("error", word)
	q := u.Query()
	for name := range values {
		q.Set(name, values.Get(name))
	}
	u.RawQuery = q.Encode()
	if !fragment {
		return u.String(), nil
	}
	return SetFragment(u, values), nil
}
