package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/base/keys"
)

// Set is the keys that verify tokens.
type Set struct{ keys []keys.Key }

var errNoKey = errors.New("no key verifies the signature")

// NewSet returns the Set of the keys.
func NewSet(verifying ...keys.Key) *Set { return &Set{keys: verifying} }

// ParseSet reads a secret as PostgREST does: a text that begins with { is a JSON Web Key or a set
// of them, any other a shared secret.
func ParseSet(secret []byte) (*Set, error) {
	text := strings.TrimSpace(string(secret))
	if !strings.HasPrefix(text, "{") {
		return NewSet(keys.Secret("", string(secret))), nil
	}
	parsed, err := keys.ParseVerifySet([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("JWT secret: not a valid JSON Web Key: %w", err)
	}
	return NewSet(parsed...), nil
}

// verify returns the key that made the signature. It tries the key that the token names. If the
// token or the key has no id, it tries every key that fits the method.
func (s *Set) verify(method jwt.SigningMethod, id, signed string, signature []byte, claims json.RawMessage) (keys.Key,
	error) {
	for _, k := range s.keys {
		if id != "" && k.ID != "" && id != k.ID {
			continue
		}
		if k.Verifies(method, signed, signature, claims) {
			return k, nil
		}
	}
	return keys.Key{}, errNoKey
}
