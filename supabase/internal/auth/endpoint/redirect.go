package endpoint

import (
	"net/http"
	"net/url"
)

// withQuery adds one parameter to a URL.
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

// oauthErrors words a status as RFC 6749 does.
var OAuthErrors = map[int]string{
	http.StatusBadRequest: "invalid_request", http.StatusUnauthorized: "unauthorized_client", http.StatusForbidden: "access_denied",
	http.StatusInternalServerError: "server_error", http.StatusServiceUnavailable: "temporarily_unavailable",
}

func SetFragment(u *url.URL, fragment url.Values) string {
	fragment.Set("sb", "")
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	return bare.String() + "#" + fragment.Encode()
}
