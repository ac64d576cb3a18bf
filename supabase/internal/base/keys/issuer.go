package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// Issuer is a third party whose tokens are accepted, such as Clerk or Firebase.
type Issuer struct {
	Names    []string `json:"names"`              // accepted values of iss; a slash at the end does not matter
	Audience string   `json:"audience,omitempty"` // a value that aud must have; "" for any
}

// maxIssuerKeys is the most keys that ParseIssuerKeys returns. Every token tries those with its id.
const maxIssuerKeys = 100

// ParseIssuerKeys reads the public keys in the JWK set of a third party. A token that one of them
// signed is accepted only if it names the issuer and the audience, and never with a role of the
// platform. ParseIssuerKeys leaves out keys that cannot verify such a token: keys without an
// id, for encryption, secrets, RSA keys below 2048 bits, and algorithms other than RS256 and ES256.
// It returns an error if no key is left.
func ParseIssuerKeys(text []byte, issuer Issuer) ([]Key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("JWK set: %w", err)
	}
	var keys []Key
	for _, raw := range set.Keys {
		var k Key
		if json.Unmarshal(raw, &k) != nil || k.ID == "" || !slices.Contains([]string{"RS256", "ES256"}, k.Algorithm) {
			continue
		}
		public, ok := k.Public()
		if !ok {
			continue
		}
		public.issuer = &issuer
		if keys = append(keys, public); len(keys) > maxIssuerKeys {
			return nil, fmt.Errorf("JWK set: more than %d keys", maxIssuerKeys)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("JWK set: no key for RS256 or ES256 with an id")
	}
	return keys, nil
}

// grantable reports whether a third party may grant a role. The roles of the platform bypass row
// level security or own tables with it, and "none" is the role with which an engine logs in.
func grantable(role string) bool {
	switch role {
	case RoleService, "none", "postgres", "authenticator", "dashboard_user", "pgbouncer":
		return false
	}
	return !strings.HasPrefix(role, "supabase_") && !strings.HasPrefix(role, "pg_")
}

// accepts reports whether the issuer may sign a token with these claims.
func (i *Issuer) accepts(claims json.RawMessage) bool {
	all, err := exactClaims(claims)
	if err != nil {
		return false
	}
	var issuer, role string
	var audience jwt.ClaimStrings
	var expires *jwt.NumericDate
	for _, c := range []struct {
		name string
		to   any
	}{{"iss", &issuer}, {"role", &role}, {"aud", &audience}, {"exp", &expires}} {
		if raw, ok := all[c.name]; ok && json.Unmarshal(raw, c.to) != nil {
			return false
		}
	}
	if expires == nil || !grantable(role) {
		return false
	}
	named := slices.ContainsFunc(i.Names, func(name string) bool {
		return issuer != "" && strings.TrimSuffix(name, "/") == strings.TrimSuffix(issuer, "/")
	})
	return named && (i.Audience == "" || slices.Contains(audience, i.Audience))
}

// exactClaims parses claims. It removes those whose name differs from a name in registered by case
// alone: other parsers of this program and of functions would take them for it.
func exactClaims(claims json.RawMessage) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(claims, &all); err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return slices.ContainsFunc(registered, func(r string) bool { return name != r && strings.EqualFold(name, r) })
	})
	return all, nil
}

// registered lists the claims that decide about access.
var registered = []string{"role", "sub", "iss", "aud", "exp", "nbf", "iat", "session_id"}

// Complete returns the claims of a token that the key verified. In a third party's claims each
// claim that decides about access is unambiguous, and a missing role is anon, as with PostgREST.
func (k Key) Complete(claims json.RawMessage) json.RawMessage {
	if k.issuer == nil {
		return claims
	}
	all, err := exactClaims(claims)
	if err != nil { // Verifies has parsed them
		return json.RawMessage(`{}`)
	}
	if role := string(all["role"]); role == "" || role == "null" || role == `""` {
		all["role"] = json.RawMessage(`"` + RoleAnon + `"`)
	}
	completed, err := json.Marshal(all)
	if err != nil { // the values were parsed
		return json.RawMessage(`{}`)
	}
	return completed
}
