// Package token checks the bearer tokens of requests as PostgREST does: JSON Web Tokens signed with a shared secret or a
// key of a key set, their times with thirty seconds of tolerance, their audience, and the path to the role in them.
//
// Only app, rest and rest/pgrst import it; of ours it imports wire.
package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/wire"
)

func invalid(code, message string) *wire.Error {
	return wire.Errorf(401, code, "%s", message).
		WithHeader("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+message+`"`)
}

func undecodable(message, details string) *wire.Error {
	e := invalid("PGRST301", message)
	if details != "" {
		e.Details = details
	}
	return e
}

// ErrMissing answers a request without a token where there is no anonymous role.
func ErrMissing() *wire.Error {
	return wire.Errorf(401, "PGRST302", "Anonymous access is disabled").WithHeader("WWW-Authenticate", "Bearer")
}

// ErrNoRole answers a token that names a person and no role, where that is refused.
func ErrNoRole() *wire.Error { return invalid("PGRST303", "The JWT names a subject but no role") }

// ErrNoSecret answers a request with a token where no key is configured.
func ErrNoSecret() *wire.Error { return wire.Errorf(500, "PGRST300", "Server lacks JWT secret") }

// Bearer takes the token out of an Authorization header; ok says whether there is one, even an empty one.
func Bearer(header string) (token string, ok bool) {
	scheme, rest, found := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", false
	}
	if !found {
		return "", true
	}
	return strings.TrimSpace(rest), true
}

// Open checks the signature of a token and gives its claims.
func (s *Set) Open(token string) (json.RawMessage, *wire.Error) {
	if token == "" {
		return nil, undecodable("Empty JWT is sent in Authorization header", "")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, wire.Errorf(401, "PGRST301", "Expected 3 parts in JWT; got %d", len(parts)).
			WithHeader("WWW-Authenticate", `Bearer error="invalid_token", error_description="Expected 3 parts in JWT; got `+itoa(len(parts))+`"`)
	}
	var header struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[0], "="))
	if err != nil || json.Unmarshal(raw, &header) != nil {
		return nil, undecodable("JWT cryptographic operation failed", "")
	}
	method := jwt.GetSigningMethod(header.Algorithm)
	if method == nil || header.Algorithm == "none" {
		return nil, undecodable("Wrong or unsupported encoding algorithm", "JWT is unsecured but expected 'alg' was not 'none'")
	}
	signature, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[2], "="))
	if err != nil {
		return nil, undecodable("JWT cryptographic operation failed", "")
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	kept := err == nil && outlivesRotation(claims)
	if err := s.verify(method, header.KeyID, parts[0]+"."+parts[1], signature, kept); err != nil {
		if errors.Is(err, errNoKey) {
			return nil, undecodable("No suitable key or wrong key type", "None of the keys was able to decode the JWT")
		}
		return nil, undecodable("JWT cryptographic operation failed", "")
	}
	if err != nil || !json.Valid(claims) || !strings.HasPrefix(strings.TrimSpace(string(claims)), "{") {
		return nil, invalid("PGRST303", "Parsing claims failed")
	}
	return claims, nil
}

// outlivesRotation says whether the token stays good when the key that signed it is replaced: a session's and the anonymous
// one do, API keys of other roles end (the same rule as in package keys).
func outlivesRotation(claims json.RawMessage) bool {
	var c struct {
		Role    string `json:"role"`
		Subject string `json:"sub"`
		Session string `json:"session_id"`
	}
	if json.Unmarshal(claims, &c) != nil {
		return false
	}
	if c.Subject == "" {
		return c.Role == "anon"
	}
	return c.Role == "authenticated" && c.Session != ""
}
