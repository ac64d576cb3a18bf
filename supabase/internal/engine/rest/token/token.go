// Package token applies PostgREST's rules to bearer tokens: its error codes and texts, thirty
// seconds of clock skew, the audience, and the path to the role in the claims. Package keys parses
// the keys and verifies signatures.
package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/base/apierror"
)

func invalid(code, message string) *apierror.Error {
	return apierror.Errorf(401, code, "%s", message).
		WithHeader("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+message+`"`)
}

func undecodable(message, details string) *apierror.Error {
	e := invalid("PGRST301", message)
	if details != "" {
		e.Details = details
	}
	return e
}

// ErrMissing is the error for a request without a token when there is no anonymous role.
func ErrMissing() *apierror.Error {
	return apierror.Errorf(401, "PGRST302", "Anonymous access is disabled").WithHeader("WWW-Authenticate", "Bearer")
}

// ErrNoRole is the error for a token with a subject and without a role.
func ErrNoRole() *apierror.Error { return invalid("PGRST303", "The JWT names a subject but no role") }

// ErrNoSecret is the error for a request with a token when no key is configured.
func ErrNoSecret() *apierror.Error {
	return apierror.Errorf(500, "PGRST300", "Server lacks JWT secret")
}

// Bearer returns the token of an Authorization header. ok reports whether there is one, even an
// empty one.
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

// Verify checks the signature of a token and returns its claims.
func (s *Set) Verify(token string) (json.RawMessage, *apierror.Error) {
	if token == "" {
		return nil, undecodable("Empty JWT is sent in Authorization header", "")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, apierror.Errorf(401, "PGRST301", "Expected 3 parts in JWT; got %d", len(parts)).
			WithHeader("WWW-Authenticate",
				`Bearer error="invalid_token", error_description="Expected 3 parts in JWT; got `+
					strconv.Itoa(len(parts))+`"`)
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
		return nil, undecodable("Wrong or unsupported encoding algorithm",
			"JWT is unsecured but expected 'alg' was not 'none'")
	}
	signature, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[2], "="))
	if err != nil {
		return nil, undecodable("JWT cryptographic operation failed", "")
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	key, verr := s.verify(method, header.KeyID, parts[0]+"."+parts[1], signature, claims)
	if verr != nil {
		if errors.Is(verr, errNoKey) {
			return nil, undecodable("No suitable key or wrong key type", "None of the keys was able to decode the JWT")
		}
		return nil, undecodable("JWT cryptographic operation failed", "")
	}
	if err != nil || !json.Valid(claims) || !strings.HasPrefix(strings.TrimSpace(string(claims)), "{") {
		return nil, invalid("PGRST303", "Parsing claims failed")
	}
	return key.Complete(claims), nil
}
