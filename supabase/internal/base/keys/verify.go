package keys

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"
)

// Errors of Verify. Each engine answers them in its own dialect. If several apply, Verify returns
// the first that it finds.
var (
	ErrMalformed = errors.New("the token is malformed")
	ErrAlgorithm = errors.New("the token's algorithm is not accepted")
	ErrKey       = errors.New("no key fits the token")
	ErrSignature = errors.New("the token's signature is wrong")
	ErrExpired   = errors.New("the token is expired")
	ErrNotYet    = errors.New("the token is not valid yet")
	ErrNoRole    = errors.New("the token has a subject but no role")
)

// AlgorithmError says that no key has the token's algorithm. It wraps ErrAlgorithm.
type AlgorithmError struct{ Algorithm string }

func (e *AlgorithmError) Error() string { return ErrAlgorithm.Error() + ": " + e.Algorithm }

// Unwrap returns ErrAlgorithm.
func (e *AlgorithmError) Unwrap() error { return ErrAlgorithm }

// maxToken bounds what Verify parses. Header sizes are limited earlier, but WebSocket and query
// tokens are not.
const maxToken = 16 << 10

// Claims is a verified token.
type Claims struct {
	Role      string
	Subject   string
	SessionID string
	Audience  []string
	Issuer    string
	Expires   time.Time       // zero if the token never expires
	NotBefore time.Time       // zero if not given
	Raw       json.RawMessage // the whole payload, for request.jwt.claims
}

// Options configures a Verifier.
type Options struct {
	Leeway time.Duration    // accepted difference between clocks
	Now    func() time.Time // nil means time.Now
	// RefuseIDTokens refuses a token with a subject and without a role. Such a token is an OIDC ID
	// token that the same keys signed: a client application reads it, and it grants no access.
	RefuseIDTokens bool
}

// Verifier verifies tokens with a set of keys that may change while it runs. It caches verified
// tokens: an ES256 check takes a hundred microseconds, a lookup one.
type Verifier struct {
	options Options
	state   atomic.Pointer[verifierState]
}

// verifierState is a set of keys and the tokens that it verified. The cache's key is the digest of
// the token, so that a memory dump shows no token.
type verifierState struct {
	keys  []Key
	cache *lru.Cache[[sha256.Size]byte, *Claims]
}

// cacheSize is the number of tokens that a Verifier caches.
const cacheSize = 10_000

// NewVerifier returns a Verifier for the keys.
func NewVerifier(o Options, keys ...Key) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Verifier{options: o}
	v.SetKeys(keys...)
	return v
}

// SetKeys replaces the keys and empties the cache.
func (v *Verifier) SetKeys(keys ...Key) {
	cache, err := lru.New[[sha256.Size]byte, *Claims](cacheSize)
	if err != nil { // only for a size below 1
		panic(err)
	}
	v.state.Store(&verifierState{keys: slices.Clone(keys), cache: cache})
}

// Verify checks signature, algorithm, expiry and not-before. The caller checks the audience.
func (v *Verifier) Verify(token string) (*Claims, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("%w: over %d bytes", ErrMalformed, maxToken)
	}
	state := v.state.Load()
	digest := sha256.Sum256([]byte(token))
	claims, cached := state.cache.Get(digest)
	if !cached {
		var err error
		if claims, err = verify(token, state.keys); err != nil {
			return nil, err
		}
	}
	if err := v.checkTimes(claims); err != nil {
		return nil, err
	}
	if v.options.RefuseIDTokens && claims.Subject != "" && claims.Role == "" {
		return nil, ErrNoRole
	}
	if !cached {
		state.cache.Add(digest, claims)
	}
	return claims, nil
}

func (v *Verifier) checkTimes(c *Claims) error {
	now := v.options.Now()
	if !c.Expires.IsZero() && !now.Before(c.Expires.Add(v.options.Leeway)) {
		return ErrExpired
	}
	if now.Add(v.options.Leeway).Before(c.NotBefore) {
		return ErrNotYet
	}
	return nil
}

// verify checks a token's signature and reads its payload.
func verify(token string, keys []Key) (*Claims, error) {
	parser := jwt.NewParser(jwt.WithoutClaimsValidation())
	var payload claimSet
	parsed, parts, err := parser.ParseUnverified(token, &payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	candidates, err := candidateKeys(parsed, keys)
	if err != nil {
		return nil, err
	}
	signature, err := parser.DecodeSegment(parts[2])
	if err != nil {
		return nil, fmt.Errorf("%w: %w: could not base64 decode signature: %w", ErrMalformed, jwt.ErrTokenMalformed,
			err)
	}
	raw, err := parser.DecodeSegment(parts[1])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	signed := token[:strings.LastIndexByte(token, '.')]
	for _, k := range candidates {
		if k.Verifies(parsed.Method, signed, signature, raw) {
			return k.claimsOf(raw, payload)
		}
	}
	return nil, ErrSignature
}

// candidateKeys returns the keys with the token's algorithm and id. An asymmetric token must name
// its key. An HS256 token may omit the id, as legacy API keys do; then every secret is a candidate.
// One that names a key of another algorithm is refused.
func candidateKeys(token *jwt.Token, keys []Key) ([]Key, error) {
	algorithm := token.Method.Alg()
	id, _ := token.Header["kid"].(string)
	var candidates []Key
	known := false
	for _, k := range keys {
		if k.Algorithm != algorithm {
			if id != "" && k.ID == id {
				return nil, ErrSignature
			}
			continue
		}
		known = true
		if (id != "" && k.ID == id) || (algorithm == "HS256" && (k.ID == "" || id == "")) {
			candidates = append(candidates, k)
		}
	}
	switch {
	case !known:
		return nil, &AlgorithmError{Algorithm: algorithm}
	case len(candidates) == 0:
		return nil, ErrKey
	}
	return candidates, nil
}

// Verifies reports whether the key made the signature with the method. signed is the token's header
// and payload as sent, payload the decoded payload. A key that rotation replaced verifies only
// tokens that survive rotation, and a third party's key only tokens that its issuer may sign.
// Algorithm does not matter: a secret verifies every HMAC method, an RSA key every RSA method.
func (k Key) Verifies(method jwt.SigningMethod, signed string, signature []byte, payload json.RawMessage) bool {
	if k.previous && !survivesRotation(payload, k.anonymous) || k.issuer != nil && !k.issuer.accepts(payload) {
		return false
	}
	var material any
	fits := false
	switch method.(type) {
	case *jwt.SigningMethodHMAC:
		material, fits = k.secret, k.secret != nil
	case *jwt.SigningMethodRSA, *jwt.SigningMethodRSAPSS:
		material, fits = k.public.(*rsa.PublicKey)
	case *jwt.SigningMethodECDSA:
		material, fits = k.public.(*ecdsa.PublicKey)
	case *jwt.SigningMethodEd25519:
		material, fits = k.public.(ed25519.PublicKey)
	}
	return fits && method.Verify(signed, signature, material) == nil
}

// claimsOf returns the claims of a token that the key verified. payload is raw, parsed.
func (k Key) claimsOf(raw json.RawMessage, payload claimSet) (*Claims, error) {
	if k.issuer != nil {
		raw, payload = k.Complete(raw), claimSet{}
		if err := json.Unmarshal(raw, &payload); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	return payload.claims(raw), nil
}

// claimSet is the part of the payload that Claims needs. Numbers may have fractions (RFC 7519,
// NumericDate).
type claimSet struct {
	Role      string           `json:"role"`
	SessionID string           `json:"session_id"`
	Subject   string           `json:"sub"`
	Issuer    string           `json:"iss"`
	Audience  jwt.ClaimStrings `json:"aud"`
	Expires   *jwt.NumericDate `json:"exp"`
	NotBefore *jwt.NumericDate `json:"nbf"`
	IssuedAt  *jwt.NumericDate `json:"iat"`
}

func (c *claimSet) claims(raw []byte) *Claims {
	out := &Claims{Role: c.Role, Subject: c.Subject, SessionID: c.SessionID, Issuer: c.Issuer, Audience: c.Audience,
		Raw: raw}
	if c.Expires != nil {
		out.Expires = c.Expires.Time
	}
	if c.NotBefore != nil {
		out.NotBefore = c.NotBefore.Time
	}
	return out
}

// The methods of jwt.Claims.

func (c *claimSet) GetExpirationTime() (*jwt.NumericDate, error) { return c.Expires, nil }
func (c *claimSet) GetIssuedAt() (*jwt.NumericDate, error)       { return c.IssuedAt, nil }
func (c *claimSet) GetNotBefore() (*jwt.NumericDate, error)      { return c.NotBefore, nil }
func (c *claimSet) GetIssuer() (string, error)                   { return c.Issuer, nil }
func (c *claimSet) GetSubject() (string, error)                  { return c.Subject, nil }
func (c *claimSet) GetAudience() (jwt.ClaimStrings, error)       { return c.Audience, nil }
