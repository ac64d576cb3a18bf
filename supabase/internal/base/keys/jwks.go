package keys

import (
	"encoding/json"
	"fmt"
)

// ParseSet reads a JWK set ({"keys":[…]}) or a bare array of keys, the format of GOTRUE_JWT_KEYS.
func ParseSet(text string) ([]Key, error) {
	var bare []Key
	if err := json.Unmarshal([]byte(text), &bare); err == nil {
		return bare, nil
	}
	var set struct {
		Keys []Key `json:"keys"`
	}
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		return nil, fmt.Errorf("JWK set: %w", err)
	}
	return set.Keys, nil
}

// ParseVerifySet reads keys that only verify, as PostgREST reads them: one JWK or a JWK set. It
// takes more keys than ParseSet (RSA keys of any size, P-384, P-521, Ed25519) and ignores alg, use,
// key_ops and private halves.
func ParseVerifySet(text []byte) ([]Key, error) {
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	if set.Keys == nil {
		var single jwk
		if err := json.Unmarshal(text, &single); err != nil {
			return nil, err
		}
		set.Keys = []jwk{single}
	}
	keys := make([]Key, len(set.Keys))
	for i, j := range set.Keys {
		var err error
		if keys[i], err = j.readPublic(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// JWKS returns the JWK set to publish: the public halves. It leaves out secrets.
func JWKS(keys []Key) json.RawMessage {
	set := struct {
		Keys []Key `json:"keys"`
	}{Keys: []Key{}}
	for _, k := range keys {
		if public, ok := k.Public(); ok {
			set.Keys = append(set.Keys, public)
		}
	}
	text, err := json.Marshal(set)
	if err != nil { // keys that were parsed or generated here always encode
		return json.RawMessage(`{"keys":[]}`)
	}
	return text
}
