package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/base/keys"
)

// forger makes access tokens of one user, valid and forged.
type forger struct {
	t           *testing.T
	signing     keys.Key // the server's ES256 key
	id, session string
	now         int64
}

// claims returns the claims of a valid access token, with changes.
func (f forger) claims(change m) json.RawMessage {
	f.t.Helper()
	c := m{"sub": f.id, "aud": "authenticated", "role": "authenticated", "session_id": f.session, "iat": f.now,
		"exp": f.now + 3600}
	for k, v := range change {
		c[k] = v
	}
	text, err := json.Marshal(c)
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

func (f forger) sign(k keys.Key, change m) string {
	f.t.Helper()
	token, err := k.Sign(f.claims(change))
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

// foreign returns a service_role token that is signed with a key unknown to the server.
func (f forger) foreign(method jwt.SigningMethod, kid string, key any) string {
	f.t.Helper()
	token := jwt.NewWithClaims(method,
		jwt.MapClaims{"sub": f.id, "aud": "authenticated", "role": "service_role", "exp": f.now + 3600})
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

// rawToken joins a header, claims and a signature, which may not match.
func rawToken(header string, payload json.RawMessage, signature string) string {
	b := base64.RawURLEncoding.EncodeToString
	return b([]byte(header)) + "." + b(payload) + "." + signature
}

// forgeries returns forged, expired and malformed tokens by the name of the attack. good is a valid
// token.
func (f forger) forgeries(good string) map[string]string {
	f.t.Helper()
	otherKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	otherRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.t.Fatal(err)
	}
	public, _ := f.signing.Public()
	publicText, err := json.Marshal(public)
	if err != nil {
		f.t.Fatal(err)
	}
	signing, now := f.signing, f.now
	parts := strings.Split(good, ".")
	return map[string]string{
		"alg none":     rawToken(`{"alg":"none","typ":"JWT"}`, f.claims(nil), ""),
		"alg None":     rawToken(`{"alg":"None","typ":"JWT"}`, f.claims(nil), ""),
		"no signature": parts[0] + "." + parts[1] + ".",
		"signature of another payload": parts[0] + "." +
			base64.RawURLEncoding.EncodeToString(f.claims(m{"role": "service_role"})) + "." + parts[2],
		"key confusion: HS256, public key": f.sign(keys.Secret(signing.ID, string(publicText)), nil),
		"key confusion: HS256, kid of ES256": rawToken(`{"alg":"HS256","kid":"`+signing.ID+`"}`, f.claims(nil),
			parts[2]),
		"unknown key, known kid":   f.foreign(jwt.SigningMethodES256, signing.ID, otherKey),
		"unknown key, no kid":      f.foreign(jwt.SigningMethodES256, "", otherKey),
		"RS256 without an RSA key": f.foreign(jwt.SigningMethodRS256, "x", otherRSA),
		"kid injection: path":      f.foreign(jwt.SigningMethodES256, "../../dev/null", otherKey),
		"kid injection: SQL":       f.foreign(jwt.SigningMethodES256, "' or 1=1 --", otherKey),
		"key in the header": rawToken(`{"alg":"ES256","jwk":{"kty":"EC"},"kid":"`+signing.ID+`"}`,
			f.claims(nil), parts[2]),
		"another secret": f.sign(keys.Secret("", "another-secret-of-at-least-32-characters"), nil),
		"expired":        f.sign(signing, m{"exp": now - 1}),
		"not yet valid":  f.sign(signing, m{"nbf": now + 60}),
		"wrong audience": f.sign(signing, m{"aud": "others"}),
		"forged role": parts[0] + "." +
			base64.RawURLEncoding.EncodeToString(f.claims(m{"role": "supabase_admin"})) + "." + parts[2],
		"8 KB of claims, invalid signature": rawToken(`{"alg":"ES256","kid":"`+signing.ID+`"}`,
			f.claims(m{"x": strings.Repeat("y", 8<<10)}), "AA"),
		"8 KB of claims, changed signature": f.sign(signing, m{"x": strings.Repeat("y", 8<<10)}) + "A",
		"64 KB of claims":                   f.sign(signing, m{"x": strings.Repeat("y", 64<<10)}),
		"unknown session":                   f.sign(signing, m{"session_id": "00000000-0000-4000-8000-000000000001"}),
		"unknown subject":                   f.sign(signing, m{"sub": "00000000-0000-4000-8000-000000000001"}),
	}
}

// TestTokenAttacks checks that forged, expired and malformed access tokens are rejected.
func TestTokenAttacks(t *testing.T) {
	signing, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	secret := keys.Secret("", testSecret)
	w := newWorld(t, func(o *Options) { o.Keys = ring{signing, []keys.Key{secret, signing}} })
	s := w.signUp("a@example.org")
	f := forger{t: t, signing: signing, id: s.text("user.id"), session: s.header.Get("sb-auth-session-id"),
		now: w.now().Unix()}
	good := f.sign(signing, nil)
	w.do("GET", "/user", good, nil).want(200)
	w.do("GET", "/user", f.sign(secret, nil), nil).want(200)
	for name, token := range f.forgeries(good) {
		for _, path := range []string{"/user", "/admin/users"} {
			if r := w.do("GET", path, token, nil); r.status != 401 && r.status != 403 {
				t.Errorf("%s: %s replied %d %s", name, path, r.status, r.raw)
			}
		}
	}
	// Metadata does not make a user an administrator.
	w.do("PUT", "/user", good, m{"data": m{"role": "service_role"}}).want(200)
	w.do("GET", "/admin/users", f.sign(signing, m{"user_metadata": m{"role": "service_role"}}), nil).want(403,
		"not_admin")
	// A valid token does not read the user of another audience.
	w.do("GET", "/user", good, nil, "X-JWT-AUD", "others").want(400, "validation_failed")
	// A valid token with 8 KB of claims is accepted.
	w.do("GET", "/user", f.sign(signing, m{"x": strings.Repeat("y", 8<<10)}), nil).want(200)
	// A token has exactly three parts.
	for _, text := range []string{"a", "a.b", "a.b.c.d", fmt.Sprintf("%s.%s", good, "x")} {
		w.do("GET", "/user", text, nil).want(403, "bad_jwt")
	}
	w.wait(2 * time.Hour)
	w.do("GET", "/user", good, nil).want(403, "bad_jwt")
}
