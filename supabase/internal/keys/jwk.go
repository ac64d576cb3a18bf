package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/google/uuid"
)

// Key is one JSON Web Key (RFC 7517) for signatures: an HMAC secret, a P-256 key or an RSA key. A key without its private
// half checks only.
type Key struct {
	ID        string // kid; "" for a secret that every HS256 token may mean
	Algorithm string // HS256, ES256 or RS256
	secret    []byte
	private   crypto.Signer
	public    crypto.PublicKey
	checks    bool // its key_ops say that it only checks
	previous  bool // rotation replaced it: see keepsAlive
}

// jwk is the JSON form (RFC 7518, section 6). Numbers are base64url, big-endian.
type jwk struct {
	Type      string   `json:"kty"`
	ID        string   `json:"kid,omitempty"`
	Algorithm string   `json:"alg,omitempty"`
	Use       string   `json:"use,omitempty"`
	Ops       []string `json:"key_ops,omitempty"`
	Ext       *bool    `json:"ext,omitempty"`
	Secret    string   `json:"k,omitempty"`
	Curve     string   `json:"crv,omitempty"`
	X         string   `json:"x,omitempty"`
	Y         string   `json:"y,omitempty"`
	D         string   `json:"d,omitempty"`
	N         string   `json:"n,omitempty"`
	E         string   `json:"e,omitempty"`
	P         string   `json:"p,omitempty"`
	Q         string   `json:"q,omitempty"`
	DP        string   `json:"dp,omitempty"`
	DQ        string   `json:"dq,omitempty"`
	QI        string   `json:"qi,omitempty"`
	Previous  bool     `json:"daawo_previous,omitempty"` // ours; who does not know it leaves it (RFC 7517, section 4)
}

// Secret makes an HS256 key of a shared secret. With an empty id it checks every HS256 token, whatever its kid.
func Secret(id, secret string) Key {
	return Key{ID: id, Algorithm: "HS256", secret: []byte(secret)}
}

// GenerateES256 makes a new P-256 signing key with a random id.
func GenerateES256() (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, err
	}
	return Key{ID: uuid.NewString(), Algorithm: "ES256", private: private, public: private.Public()}, nil
}

// CanSign says whether the key has its private half, and is meant to sign with it.
func (k Key) CanSign() bool { return !k.checks && (k.secret != nil || k.private != nil) }

// Shared is the secret of an HS256 key; false for the other kinds.
func (k Key) Shared() ([]byte, bool) { return k.secret, k.secret != nil }

// CheckOnly is the key for checking alone: without its private half, or, as a secret has none, marked so.
func (k Key) CheckOnly() Key {
	if public, ok := k.Public(); ok {
		public.previous = k.previous
		return public
	}
	k.checks = true
	return k
}

// Public is the key without its private half; a secret has none and gives false.
func (k Key) Public() (Key, bool) {
	if k.public == nil {
		return Key{}, false
	}
	return Key{ID: k.ID, Algorithm: k.Algorithm, public: k.public}, true
}

// Replaced says whether rotation replaced the key.
func (k Key) Replaced() bool { return k.previous }

// UnmarshalJSON reads one JWK. Keys of other types or curves, and RSA keys under 2048 bits, are refused.
func (k *Key) UnmarshalJSON(text []byte) error {
	var j jwk
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if j.Use != "" && j.Use != "sig" {
		return fmt.Errorf("key %q is for %q, not for signatures", j.ID, j.Use)
	}
	var err error
	switch j.Type {
	case "oct":
		*k, err = readSecret(j)
	case "EC":
		*k, err = readEC(j)
	case "RSA":
		*k, err = readRSA(j)
	default:
		err = fmt.Errorf("key type %q is not supported", j.Type)
	}
	k.checks = len(j.Ops) > 0 && !slices.Contains(j.Ops, "sign")
	k.previous = j.Previous
	if err == nil && j.Algorithm != "" && j.Algorithm != k.Algorithm {
		err = fmt.Errorf("key %q: algorithm %s does not fit a key of type %s", j.ID, j.Algorithm, j.Type)
	}
	return err
}

func readSecret(j jwk) (Key, error) {
	secret, err := base64.RawURLEncoding.DecodeString(j.Secret)
	if err != nil || len(secret) == 0 {
		return Key{}, fmt.Errorf("key %q: k is not base64url", j.ID)
	}
	return Key{ID: j.ID, Algorithm: "HS256", secret: secret}, nil
}

func readEC(j jwk) (Key, error) {
	if j.Curve != "P-256" {
		return Key{}, fmt.Errorf("key %q: curve %q is not supported", j.ID, j.Curve)
	}
	x, xerr := number(j.X)
	y, yerr := number(j.Y)
	if err := errors.Join(xerr, yerr); err != nil {
		return Key{}, err
	}
	if x.BitLen() > 256 || y.BitLen() > 256 {
		return Key{}, fmt.Errorf("key %q: the point is not on the curve", j.ID)
	}
	point := append([]byte{4}, append(x.FillBytes(make([]byte, 32)), y.FillBytes(make([]byte, 32))...)...)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return Key{}, fmt.Errorf("key %q: the point is not on the curve", j.ID)
	}
	k := Key{ID: j.ID, Algorithm: "ES256", public: public}
	if j.D != "" {
		d, err := number(j.D)
		if err != nil || d.BitLen() > 256 {
			return Key{}, fmt.Errorf("key %q: d is not a private key", j.ID)
		}
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d.FillBytes(make([]byte, 32)))
		if err != nil || !private.PublicKey.Equal(public) {
			return Key{}, fmt.Errorf("key %q: private and public half do not belong together", j.ID)
		}
		k.private = private
	}
	return k, nil
}

func readRSA(j jwk) (Key, error) {
	n, nerr := number(j.N)
	e, eerr := number(j.E)
	if err := errors.Join(nerr, eerr); err != nil {
		return Key{}, err
	}
	if n.BitLen() < 2048 || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 {
		return Key{}, fmt.Errorf("key %q: an RSA key of at least 2048 bits is needed", j.ID)
	}
	public := &rsa.PublicKey{N: n, E: int(e.Int64())}
	k := Key{ID: j.ID, Algorithm: "RS256", public: public}
	if j.D != "" {
		d, derr := number(j.D)
		p, perr := number(j.P)
		q, qerr := number(j.Q)
		if err := errors.Join(derr, perr, qerr); err != nil {
			return Key{}, err
		}
		private := &rsa.PrivateKey{PublicKey: *public, D: d, Primes: []*big.Int{p, q}}
		if err := private.Validate(); err != nil {
			return Key{}, fmt.Errorf("key %q: %w", j.ID, err)
		}
		private.Precompute()
		k.private = private
	}
	return k, nil
}

func number(text string) (*big.Int, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return nil, errors.New("a number of the key is missing or not base64url")
	}
	return new(big.Int).SetBytes(raw), nil
}

// MarshalJSON writes the JWK, private half included where the key has it: use Public first for what others may see.
func (k Key) MarshalJSON() ([]byte, error) {
	encode := func(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
	extractable := true
	j := jwk{ID: k.ID, Algorithm: k.Algorithm, Use: "sig", Ops: []string{"verify"}, Ext: &extractable, Previous: k.previous}
	if k.CanSign() {
		j.Ops = []string{"sign", "verify"}
	}
	switch public := k.public.(type) {
	case nil:
		j.Type, j.Secret = "oct", encode(k.secret)
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			return nil, err
		}
		j.Type, j.Curve, j.X, j.Y = "EC", "P-256", encode(point[1:33]), encode(point[33:])
		if private, ok := k.private.(*ecdsa.PrivateKey); ok {
			d, err := private.Bytes()
			if err != nil {
				return nil, err
			}
			j.D = encode(d)
		}
	case *rsa.PublicKey:
		j.Type, j.N, j.E = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
		if private, ok := k.private.(*rsa.PrivateKey); ok {
			j.D, j.P, j.Q = encode(private.D.Bytes()), encode(private.Primes[0].Bytes()), encode(private.Primes[1].Bytes())
			j.DP, j.DQ, j.QI = encode(private.Precomputed.Dp.Bytes()), encode(private.Precomputed.Dq.Bytes()), encode(private.Precomputed.Qinv.Bytes())
		}
	}
	return json.Marshal(j)
}

// ParseSet reads a JWK set ({"keys":[…]}) or a bare array of keys, as GOTRUE_JWT_KEYS holds it.
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

// JWKS is the JWK set that anybody may see: the public halves. Secrets are left out.
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
