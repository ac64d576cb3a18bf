package endpoint

import (
	"net/http"
	"net/url"
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
