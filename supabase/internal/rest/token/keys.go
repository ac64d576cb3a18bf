package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Set is the keys that tokens may be signed with.
type Set struct{ keys []key }

type key struct {
	id       string
	material any // []byte, *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
	previous bool
}

var errNoKey = errors.New("no key verifies the signature")

// NewSet reads a secret: the text of a JSON Web Key or of a set of them, else a shared secret.
func NewSet(secret []byte) (*Set, error) {
	text := strings.TrimSpace(string(secret))
	if !strings.HasPrefix(text, "{") {
		return &Set{keys: []key{{material: secret}}}, nil
	}
	var many struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal([]byte(text), &many); err != nil {
		return nil, fmt.Errorf("the JWT secret looks like a JSON Web Key but is none: %w", err)
	}
	if many.Keys == nil {
		var one jwk
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			return nil, fmt.Errorf("the JWT secret looks like a JSON Web Key but is none: %w", err)
		}
		many.Keys = []jwk{one}
	}
	s := &Set{}
	for _, k := range many.Keys {
		m, err := k.material()
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, key{k.ID, m, k.Previous})
	}
	return s, nil
}

// verify tries the key that the token names, else every key that fits its algorithm. kept says whether the token is one that
// a key which rotation replaced may still have signed.
func (s *Set) verify(method jwt.SigningMethod, id, signed string, signature []byte, kept bool) error {
	for _, k := range s.keys {
		if (id != "" && k.id != "" && id != k.id) || (k.previous && !kept) {
			continue
		}
		if fits(method, k.material) && method.Verify(signed, signature, k.material) == nil {
			return nil
		}
	}
	return errNoKey
}

func fits(method jwt.SigningMethod, material any) bool {
	switch method.(type) {
	case *jwt.SigningMethodHMAC:
		_, ok := material.([]byte)
		return ok
	case *jwt.SigningMethodRSA, *jwt.SigningMethodRSAPSS:
		_, ok := material.(*rsa.PublicKey)
		return ok
	case *jwt.SigningMethodECDSA:
		_, ok := material.(*ecdsa.PublicKey)
		return ok
	case *jwt.SigningMethodEd25519:
		_, ok := material.(ed25519.PublicKey)
		return ok
	default:
		return false
	}
}

// jwk is a JSON Web Key (RFC 7517), public parts only.
type jwk struct {
	Type  string `json:"kty"`
	ID    string `json:"kid"`
	K     string `json:"k"`
	N     string `json:"n"`
	E     string `json:"e"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Y     string `json:"y"`

	Previous bool `json:"daawo_previous"` // rotation replaced it
}

func (k jwk) material() (any, error) {
	b := func(s string) []byte {
		out, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
		if err != nil {
			return nil
		}
		return out
	}
	switch k.Type {
	case "oct":
		if v := b(k.K); v != nil {
			return v, nil
		}
	case "RSA":
		n, e := b(k.N), b(k.E)
		if n != nil && e != nil {
			return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
		}
	case "EC":
		curves := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}
		curve, x, y := curves[k.Curve], b(k.X), b(k.Y)
		if curve != nil && x != nil && y != nil {
			size := (curve.Params().BitSize + 7) / 8
			point := append([]byte{4}, append(leftPad(x, size), leftPad(y, size)...)...)
			pub, err := ecdsa.ParseUncompressedPublicKey(curve, point)
			if err != nil {
				return nil, fmt.Errorf("JSON Web Key %q: %w", k.ID, err)
			}
			return pub, nil
		}
	case "OKP":
		if x := b(k.X); k.Curve == "Ed25519" && len(x) == ed25519.PublicKeySize {
			return ed25519.PublicKey(x), nil
		}
	}
	return nil, fmt.Errorf("JSON Web Key %q of type %q cannot be used", k.ID, k.Type)
}

func leftPad(b []byte, size int) []byte {
	if len(b) >= size {
		return b
	}
	return append(make([]byte, size-len(b)), b...)
}
