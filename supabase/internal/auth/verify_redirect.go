package auth

import (
	"net/url"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/wire"
)

// errorRedirect tells an error behind the #, and with PKCE in the query, too.
func errorRedirect(target string, e *wire.Error, pkce bool) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	fragment, q := url.Values{}, u.Query()
	for _, to := range []url.Values{fragment, q} {
		if word, ok := endpoint.OAuthErrors[e.Status]; ok {
			to.Set("error", word)
		}
		to.Set("error_code", e.Code)
		to.Set("error_description", e.Message)
	}
	if pkce {
		u.RawQuery = q.Encode()
	}
	return endpoint.SetFragment(u, fragment), nil
}

func messageRedirect(target, message string, pkce bool) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	if pkce {
		q := u.Query()
		q.Set("message", message)
		u.RawQuery = q.Encode()
	}
	return endpoint.SetFragment(u, url.Values{"message": {message}}), nil
}
