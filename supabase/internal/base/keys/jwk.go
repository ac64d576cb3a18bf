package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Key is one JSON Web Key (RFC 7517) for signatures. A key without its private half only verifies.
type Key struct {
	ID        string // kid; "" for a secret that matches HS256 tokens with any kid
	Algorithm string // HS256, ES256 or RS256; keys of ParseVerifySet may also have ES384, ES512 or EdDSA
	secret    []byte
	private   crypto.Signer
	public    crypto.PublicKey
	checks    bool    // key_ops does not include "sign"
	previous  bool    // rotation replaced it: see survivesRotation
	anonymous bool    // of a replaced key: it never signed a session
	ext       *bool   // the member of that name; nil for a JWK without it
	issuer    *Issuer // nil for a key of the installation
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
	// private members; other programs ignore them (RFC 7517, section 4)
	Previous  bool    `json:"daawo_previous,omitempty"`
	Anonymous bool    `json:"daawo_anonymous,omitempty"`
	Issuer    *Issuer `json:"daawo_issuer,omitempty"`
}

// Secret makes an HS256 key from a shared secret. With an empty id it verifies HS256 tokens with
// any kid.
func Secret(id, secret string) Key {
	return Key{ID: id, Algorithm: "HS256", secret: []byte(secret), ext: new(true)}
}

// GenerateES256 makes a new P-256 signing key with a random id.
func GenerateES256() (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, err
	}
	return Key{ID: uuid.NewString(), Algorithm: "ES256", private: private, public: private.Public(), ext: new(true)},
		nil
}

// CanSign reports whether the key has its private half and its key_ops allow signing.
func (k Key) CanSign() bool { return !k.checks && (k.secret != nil || k.private != nil) }

// Shared returns the secret of an HS256 key, and false for other keys.
func (k Key) Shared() ([]byte, bool) { return k.secret, k.secret != nil }

// CheckOnly returns a key that only verifies: without its private half, or, for a secret, with
// key_ops set to verify.
func (k Key) CheckOnly() Key {
	if public, ok := k.Public(); ok {
		public.previous, public.anonymous, public.issuer = k.previous, k.anonymous, k.issuer
		return public
	}
	k.checks = true
	return k
}

// Public returns the key without its private half, and false for a secret.
func (k Key) Public() (Key, bool) {
	if k.public == nil {
		return Key{}, false
	}
	return Key{ID: k.ID, Algorithm: k.Algorithm, public: k.public, ext: k.ext}, true
}

// Replaced reports whether rotation replaced the key.
func (k Key) Replaced() bool { return k.previous }

// UnmarshalJSON reads one JWK that may sign: a secret, a P-256 key or an RSA key of at least 2048
// bits. It refuses other keys.
func (k *Key) UnmarshalJSON(text []byte) error {
	var j jwk
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if j.Use != "" && j.Use != "sig" {
		return fmt.Errorf("key %q is for %q, not for signatures", j.ID, j.Use)
	}
	read, err := j.readPublic()
	if err != nil {
		return err
	}
	switch public := read.public.(type) {
	case nil:
	case *ecdsa.PublicKey:
		read.private, err = j.ecPrivate(public)
	case *rsa.PublicKey:
		read.private, err = j.rsaPrivate(public)
	default:
		err = fmt.Errorf("key type %q is not supported", j.Type)
	}
	if err == nil && j.Algorithm != "" && j.Algorithm != read.Algorithm {
		err = fmt.Errorf("key %q: algorithm %s does not fit a key of type %s", j.ID, j.Algorithm, j.Type)
	}
	if err != nil {
		return err
	}
	read.checks = len(j.Ops) > 0 && !slices.Contains(j.Ops, "sign")
	*k = read
	return nil
}

// readPublic reads the half of a key that verifies.
func (j jwk) readPublic() (Key, error) {
	k := Key{ID: j.ID, previous: j.Previous, anonymous: j.Anonymous, ext: j.Ext, issuer: j.Issuer}
	var err error
	switch j.Type {
	case "oct":
		k.Algorithm = "HS256"
		if k.secret, err = decode(j.Secret); err != nil {
			err = fmt.Errorf("key %q: k is missing or not base64url", j.ID)
		}
	case "EC":
		k.Algorithm, k.public, err = j.ecPublic()
	case "RSA":
		k.Algorithm = "RS256"
		n, nerr := number(j.N)
		e, eerr := number(j.E)
		if err = errors.Join(nerr, eerr); err == nil {
			k.public = &rsa.PublicKey{N: n, E: int(e.Int64())}
		}
	case "OKP":
		k.Algorithm = "EdDSA"
		x, xerr := decode(j.X)
		if j.Curve != "Ed25519" || xerr != nil || len(x) != ed25519.PublicKeySize {
			err = fmt.Errorf("key %q is not an Ed25519 key", j.ID)
		} else {
			k.public = ed25519.PublicKey(x)
		}
	default:
		err = fmt.Errorf("key type %q is not supported", j.Type)
	}
	return k, err
}

func (j jwk) ecPublic() (algorithm string, public crypto.PublicKey, err error) {
	var curve elliptic.Curve
	switch j.Curve {
	case "P-256":
		algorithm, curve = "ES256", elliptic.P256()
	case "P-384":
		algorithm, curve = "ES384", elliptic.P384()
	case "P-521":
		algorithm, curve = "ES512", elliptic.P521()
	default:
		return "", nil, fmt.Errorf("key %q: curve %q is not supported", j.ID, j.Curve)
	}
	x, xerr := number(j.X)
	y, yerr := number(j.Y)
	if err := errors.Join(xerr, yerr); err != nil {
		return "", nil, err
	}
	bits := curve.Params().BitSize
	if x.BitLen() > bits || y.BitLen() > bits {
		return "", nil, fmt.Errorf("key %q: the point is not on the curve", j.ID)
	}
	size := (bits + 7) / 8
	point := make([]byte, 1+2*size)
	point[0] = 4 // uncompressed
	x.FillBytes(point[1 : 1+size])
	y.FillBytes(point[1+size:])
	key, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	if err != nil {
		return "", nil, fmt.Errorf("key %q: the point is not on the curve", j.ID)
	}
	return algorithm, key, nil
}

// ecPrivate returns nil for a JWK without a private half.
func (j jwk) ecPrivate(public *ecdsa.PublicKey) (crypto.Signer, error) {
	if public.Curve != elliptic.P256() {
		return nil, fmt.Errorf("key %q: curve %q is not supported", j.ID, j.Curve)
	}
	if j.D == "" {
		return nil, nil
	}
	d, err := number(j.D)
	if err != nil || d.BitLen() > 256 {
		return nil, fmt.Errorf("key %q: d is not a private key", j.ID)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d.FillBytes(make([]byte, 32)))
	if err != nil || !private.PublicKey.Equal(public) {
		return nil, fmt.Errorf("key %q: private and public half do not match", j.ID)
	}
	return private, nil
}

// rsaPrivate returns nil for a JWK without a private half.
func (j jwk) rsaPrivate(public *rsa.PublicKey) (crypto.Signer, error) {
	e, err := number(j.E)
	if err != nil {
		return nil, err
	}
	if public.N.BitLen() < 2048 || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 {
		return nil, fmt.Errorf("key %q: an RSA key of at least 2048 bits is needed", j.ID)
	}
	if j.D == "" {
		return nil, nil
	}
	d, derr := number(j.D)
	p, perr := number(j.P)
	q, qerr := number(j.Q)
	if err := errors.Join(derr, perr, qerr); err != nil {
		return nil, err
	}
	private := &rsa.PrivateKey{PublicKey: *public, D: d, Primes: []*big.Int{p, q}}
	if err := private.Validate(); err != nil {
		return nil, fmt.Errorf("key %q: %w", j.ID, err)
	}
	private.Precompute()
	return private, nil
}

func number(text string) (*big.Int, error) {
	raw, err := decode(text)
	if err != nil {
		return nil, errors.New("a number of the key is missing or not base64url")
	}
	return new(big.Int).SetBytes(raw), nil
}

// decode reads base64url with or without padding. Empty text is an error.
func decode(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err == nil && len(raw) == 0 {
		err = errors.New("empty")
	}
	return raw, err
}

// MarshalJSON writes the JWK, including the private half if the key has one. Call Public first for
// a published key.
func (k Key) MarshalJSON() ([]byte, error) {
	encode := func(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
	j := jwk{ID: k.ID, Algorithm: k.Algorithm, Use: "sig", Ops: []string{"verify"}, Ext: k.ext, Previous: k.previous,
		Anonymous: k.anonymous, Issuer: k.issuer}
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
		half := len(point)/2 + 1
		j.Type, j.Curve, j.X, j.Y = "EC", public.Params().Name, encode(point[1:half]), encode(point[half:])
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
			j.D, j.P, j.Q = encode(private.D.Bytes()), encode(private.Primes[0].Bytes()),
				encode(private.Primes[1].Bytes())
			j.DP, j.DQ, j.QI = encode(private.Precomputed.Dp.Bytes()), encode(private.Precomputed.Dq.Bytes()),
				encode(private.Precomputed.Qinv.Bytes())
		}
	case ed25519.PublicKey:
		j.Type, j.Curve, j.X = "OKP", "Ed25519", encode(public)
	}
	return json.Marshal(j)
}
