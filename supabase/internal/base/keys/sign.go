package keys

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// Sign returns a token with the payload. The header has the key's id, if any. Equal payloads give
// equal HS256 tokens.
func (k Key) Sign(payload json.RawMessage) (string, error) {
	header := map[string]any{"typ": "JWT"}
	if k.ID != "" {
		header["kid"] = k.ID
	}
	return k.sign(header, payload)
}

// SignPlain is Sign without typ and kid in the header, as storage-api signs its URLs.
func (k Key) SignPlain(payload json.RawMessage) (string, error) {
	return k.sign(map[string]any{}, payload)
}

// sign joins header, payload and signature itself, so that the payload keeps the order of its
// members and its numbers.
func (k Key) sign(header map[string]any, payload json.RawMessage) (string, error) {
	if !json.Valid(payload) {
		return "", errors.New("the token's payload is not JSON")
	}
	method, material, err := k.signer()
	if err != nil {
		return "", err
	}
	header["alg"] = k.Algorithm
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode(head) + "." + encode(payload)
	signature, err := method.Sign(signed, material)
	if err != nil {
		return "", fmt.Errorf("key %q: %w", k.ID, err)
	}
	return signed + "." + encode(signature), nil
}

func (k Key) signer() (jwt.SigningMethod, any, error) {
	switch {
	case !k.CanSign():
		return nil, nil, fmt.Errorf("key %q has no private half", k.ID)
	case k.Algorithm == "HS256":
		return jwt.SigningMethodHS256, k.secret, nil
	case k.Algorithm == "ES256":
		return jwt.SigningMethodES256, k.private, nil
	case k.Algorithm == "RS256":
		return jwt.SigningMethodRS256, k.private, nil
	}
	return nil, nil, fmt.Errorf("key %q cannot sign: algorithm %q", k.ID, k.Algorithm)
}
