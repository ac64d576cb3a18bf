package protocol

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ScopeOpenID requests an ID token (OpenID Connect Core, section 3.1.2.1).
const ScopeOpenID = "openid"

// SupportedScopes returns all scopes.
func SupportedScopes() []string {
	return []string{ScopeOpenID, "profile", "email", "phone", "offline_access"}
}

// Scopes splits a list that is separated by spaces.
func Scopes(text string) []string { return strings.Fields(text) }

// Covers reports whether all requested scopes have been granted.
func Covers(granted, asked []string) bool {
	return !slices.ContainsFunc(asked, func(s string) bool { return !slices.Contains(granted, s) })
}

// Request is an authorization request.
type Request struct {
	ClientID, RedirectURI, ResponseType, Scope, State, Nonce string
	Resource                                                 string // RFC 8707
	Challenge, ChallengeMethod                               string // RFC 7636
}

// Read returns the Request in the query of the authorization endpoint.
func Read(q url.Values) Request {
	return Request{
		ClientID: q.Get("client_id"), RedirectURI: q.Get("redirect_uri"), ResponseType: q.Get("response_type"),
		Scope: q.Get("scope"), State: q.Get("state"), Nonce: q.Get("nonce"), Resource: q.Get("resource"),
		Challenge: q.Get("code_challenge"), ChallengeMethod: q.Get("code_challenge_method"),
	}
}

// The methods of PKCE, with the form of their challenges (RFC 7636, section 4.2): a hash, or the
// verifier itself.
var challengeForms = map[string]*regexp.Regexp{
	"s256":  regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`),
	"plain": regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`),
}

// Check validates the members other than the client and its redirect URI, so that the reply to an
// error is a redirect. The client sees the error.
func (r Request) Check() error {
	if r.ResponseType != "" && r.ResponseType != "code" {
		return errors.New("only response_type=code is supported")
	}
	scopes := Scopes(r.Scope)
	if len(scopes) == 0 {
		return errors.New("scope parameter cannot be empty")
	}
	for _, s := range scopes {
		if !slices.Contains(SupportedScopes(), s) {
			return fmt.Errorf("unsupported scope: %s", s)
		}
	}
	for _, text := range []struct {
		name, value string
		most        int
	}{{"scope", r.Scope, 2048}, {"state", r.State, 4096}, {"nonce", r.Nonce, 255}, {"resource", r.Resource, 2048}} {
		if len(text.value) > text.most {
			return fmt.Errorf("%s cannot exceed %d characters", text.name, text.most)
		}
		if !printable(text.value) {
			return fmt.Errorf("%s must be text without control characters", text.name)
		}
	}
	if r.Resource != "" {
		u, err := url.Parse(r.Resource)
		if err != nil || !u.IsAbs() || u.RawQuery != "" || strings.Contains(r.Resource, "#") {
			return errors.New("resource must be an absolute URI without query and fragment")
		}
	}
	if r.Challenge == "" || r.ChallengeMethod == "" {
		return errors.New("PKCE flow requires both code_challenge and code_challenge_method")
	}
	form := challengeForms[strings.ToLower(r.ChallengeMethod)]
	switch {
	case form == nil:
		return errors.New("code_challenge_method must be 'S256' or 'plain'")
	case !form.MatchString(r.Challenge):
		return errors.New("code_challenge must be 43 characters of base64url, or a verifier of 43 to 128 " +
			"characters with 'plain'")
	}
	return nil
}

// printable reports whether text is valid UTF-8 without control characters, as the database and a
// page need.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// Verifies reports whether a verifier belongs to a challenge. method is s256 or plain.
func Verifies(method, challenge, verifier string) bool {
	switch method {
	case "s256":
		sum := sha256.Sum256([]byte(verifier))
		verifier = base64.RawURLEncoding.EncodeToString(sum[:])
	case "plain":
	default:
		return false
	}
	return challenge != "" && subtle.ConstantTimeCompare([]byte(verifier), []byte(challenge)) == 1
}
