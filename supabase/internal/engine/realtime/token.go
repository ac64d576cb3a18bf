package realtime

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"daawo/supabase/internal/base/keys"
)

// claims are the claims of a verified token. They do not change.
type claims struct {
	token   string
	role    string
	all     map[string]any // numbers are json.Number
	expires time.Time
}

// tokenError is why a token is refused, in upstream's words.
type tokenError struct {
	code      string // before the text in error replies to joins
	text      string // to a client that joins or that renews its token
	handshake string // to a client that connects
}

func (e *tokenError) Error() string { return e.code + ": " + e.text }

func sameText(code, text string) *tokenError { return &tokenError{code, text, text} }

var (
	errMalformed     = sameText("MalformedJWT", "The token provided is not a valid JWT")
	errMissingClaims = sameText("InvalidJWTToken", "Fields `role` and `exp` are required in JWT")
	errSignature     = sameText("JwtSignatureError", "Failed to validate JWT signature")
	errSigner        = sameText("JwtSignerError",
		"Failed to generate JWT signer, check your JWT secret or JWKS configuration")
	errNotYet = sameText("InvalidJWTToken", "The token is not valid yet")
)

// authorize verifies a token and returns its claims. The error is a *tokenError.
func (e *Engine) authorize(token string) (*claims, error) {
	token = cleanToken(token)
	verified, err := e.o.Verify(token)
	if err != nil {
		return nil, e.refusal(token, err)
	}
	if known, ok := e.claims.Get(token); ok {
		return known, nil
	}
	c := &claims{token: token, expires: verified.Expires}
	decoder := json.NewDecoder(bytes.NewReader(verified.Raw))
	decoder.UseNumber()
	if err := decoder.Decode(&c.all); err != nil {
		return nil, errMalformed
	}
	role, isText := c.all["role"].(string)
	if !isText || verified.Expires.IsZero() {
		return nil, errMissingClaims
	}
	c.role = role
	e.claims.Add(token, c)
	return c, nil
}

// refusal translates an error of keys.
func (e *Engine) refusal(token string, err error) *tokenError {
	switch {
	case errors.Is(err, keys.ErrExpired):
		ago := int64(e.o.Now().Sub(expiryOf(token)).Seconds())
		return &tokenError{"InvalidJWTToken", fmt.Sprintf("Token has expired %d seconds ago", max(ago, 0)),
			"Token has expired"}
	case errors.Is(err, keys.ErrNoRole):
		return errMissingClaims
	case errors.Is(err, keys.ErrSignature):
		return errSignature
	case errors.Is(err, keys.ErrKey), errors.Is(err, keys.ErrAlgorithm):
		return errSigner
	case errors.Is(err, keys.ErrNotYet):
		return errNotYet
	}
	return errMalformed
}

// expiryOf reads the expiry of a token without verifying it, for the text of an error. It returns
// the zero time on error.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	var payload struct {
		Exp float64 `json:"exp"`
	}
	if len(parts) == 3 {
		if text, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil &&
			json.Unmarshal(text, &payload) == nil {
			return time.Unix(int64(payload.Exp), 0)
		}
	}
	return time.Time{}
}

// cleanToken decodes percent signs and removes white space, as upstream does.
func cleanToken(token string) string {
	if decoded, err := url.PathUnescape(token); err == nil {
		token = decoded
	}
	if !strings.ContainsFunc(token, unicode.IsSpace) {
		return token
	}
	return strings.Join(strings.Fields(token), "")
}

// requestToken returns the token of a request to the HTTP API, or "".
func requestToken(r *http.Request) string {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if strings.EqualFold(scheme, "bearer") {
			return token
		}
		return ""
	}
	return r.Header.Get("apikey")
}
