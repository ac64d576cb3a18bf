package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Errors of Verify. Each engine answers them in its own dialect; several may apply, the first found is reported.
var (
	ErrMalformed = errors.New("the token is malformed")
	ErrAlgorithm = errors.New("the token's algorithm is not accepted")
	ErrKey       = errors.New("no key fits the token")
	ErrSignature = errors.New("the token's signature is wrong")
	ErrExpired   = errors.New("the token is expired")
	ErrNotYet    = errors.New("the token is not valid yet")
	ErrNoRole    = errors.New("the token names a person but no role")
)

// maxToken bounds what is parsed at all; headers are limited before, WebSocket and query tokens are not.
const maxToken = 16 << 10

// Claims is a verified token.
type Claims struct {
	Role      string
	Subject   string
	SessionID string
	Audience  []string
	Issuer    string
	Expires   time.Time       // zero when the token never expires
	NotBefore time.Time       // zero when not given
	Raw       json.RawMessage // the whole payload, for request.jwt.claims
}

// Options says how a Verifier reads time.
type Options struct {
	Leeway time.Duration    // clocks may differ by so much
	Now    func() time.Time // nil means time.Now
	// RefuseIDTokens refuses a token with a subject and without a role: the same keys sign it for an application to read, and
	// it opens nothing.
	RefuseIDTokens bool
}

// Verifier checks tokens against a set of keys that may change while it runs. What was verified is remembered until it
// expires: an ES256 check costs a hundred microseconds, a look-up one.
type Verifier struct {
	options Options

	mu    sync.RWMutex
	keys  []Key
	cache map[[sha256.Size]byte]*Claims
}

// cacheSize bounds the memory of a Verifier: beyond it the cache starts anew, which costs some signatures.
const cacheSize = 10_000

// NewVerifier makes a Verifier that accepts tokens of the keys.
func NewVerifier(o Options, keys ...Key) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Verifier{options: o}
	v.SetKeys(keys...)
	return v
}

// SetKeys replaces the keys and forgets what was verified with the old ones.
func (v *Verifier) SetKeys(keys ...Key) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys = slices.Clone(keys)
	v.cache = map[[sha256.Size]byte]*Claims{}
}

// Verify checks signature, algorithm, expiry and not-before. The audience is the caller's to check.
func (v *Verifier) Verify(token string) (*Claims, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("%w: over %d bytes", ErrMalformed, maxToken)
	}
	// The digest, not the token, is the cache's key: a memory dump shows no token.
	digest := sha256.Sum256([]byte(token))
	v.mu.RLock()
	claims, known := v.cache[digest]
	keys := v.keys
	v.mu.RUnlock()
	if !known {
		var err error
		if claims, err = check(token, keys); err != nil {
			return nil, err
		}
	}
	if err := v.timely(claims); err != nil {
		return nil, err
	}
	if v.options.RefuseIDTokens && claims.Subject != "" && claims.Role == "" {
		return nil, ErrNoRole
	}
	if !known {
		v.remember(digest, claims, keys)
	}
	return claims, nil
}

func (v *Verifier) timely(c *Claims) error {
	now := v.options.Now()
	if !c.Expires.IsZero() && !now.Before(c.Expires.Add(v.options.Leeway)) {
		return ErrExpired
	}
	if now.Add(v.options.Leeway).Before(c.NotBefore) {
		return ErrNotYet
	}
	return nil
}

// remember keeps a verified token, unless the keys changed while it was checked.
func (v *Verifier) remember(digest [sha256.Size]byte, c *Claims, used []Key) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(used) != len(v.keys) || (len(used) > 0 && &used[0] != &v.keys[0]) {
		return
	}
	if len(v.cache) >= cacheSize {
		clear(v.cache)
	}
	v.cache[digest] = c
}

// check verifies a token's signature and reads its payload.
func check(token string, keys []Key) (*Claims, error) {
	parser := jwt.NewParser(jwt.WithoutClaimsValidation())
	var payload claimSet
	parsed, parts, err := parser.ParseUnverified(token, &payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	candidates, err := fitting(parsed, keys)
	if err != nil {
		return nil, err
	}
	signature, err := parser.DecodeSegment(parts[2])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	signed := token[:strings.LastIndexByte(token, '.')]
	for _, k := range candidates {
		if k.verify(parsed.Method, signed, signature) && (!k.previous || keepsAlive(payload.Role, payload.Subject, payload.SessionID)) {
			raw, err := parser.DecodeSegment(parts[1])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			return payload.claims(raw), nil
		}
	}
	return nil, ErrSignature
}

// keepsAlive says which tokens outlive a rotation, until they expire: those of a person who is signed in, and the anonymous
// one, which opens no more than a request without a token does and which a slow request under way carries. Every other is an
// API key of ten years, and whoever rotates wants a stolen one to end.
func keepsAlive(role, subject, session string) bool {
	if subject == "" {
		return role == RoleAnon
	}
	return role == roleUser && session != ""
}

// fitting picks the keys that may have signed a token: those of its algorithm and id. Asymmetric tokens must name their
// key; an HS256 token may leave it out (legacy API keys do), and then every secret is tried.
func fitting(token *jwt.Token, keys []Key) ([]Key, error) {
	algorithm := token.Method.Alg()
	id, _ := token.Header["kid"].(string)
	var found []Key
	known := false
	for _, k := range keys {
		if k.Algorithm != algorithm {
			continue
		}
		known = true
		if (id != "" && k.ID == id) || (algorithm == "HS256" && (k.ID == "" || id == "")) {
			found = append(found, k)
		}
	}
	switch {
	case !known:
		return nil, fmt.Errorf("%w: %s", ErrAlgorithm, algorithm)
	case len(found) == 0:
		return nil, ErrKey
	}
	return found, nil
}

func (k Key) verify(method jwt.SigningMethod, signed string, signature []byte) bool {
	if k.Algorithm == "HS256" {
		mac := hmac.New(sha256.New, k.secret)
		mac.Write([]byte(signed))
		return hmac.Equal(mac.Sum(nil), signature)
	}
	return method.Verify(signed, signature, k.public) == nil
}

// claimSet is the payload as far as anybody here reads it. Numbers may have fractions (RFC 7519, NumericDate).
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
	out := &Claims{Role: c.Role, Subject: c.Subject, SessionID: c.SessionID, Issuer: c.Issuer, Audience: c.Audience, Raw: raw}
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
