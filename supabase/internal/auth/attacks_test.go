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

	"daawo/supabase/internal/keys"
)

// TestTokenAttacks names the ways in which a token may lie. Each is refused.
func TestTokenAttacks(t *testing.T) {
	signing, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	secret := keys.Secret("", testSecret)
	w := newWorld(t, func(o *Options) { o.Keys = ring{signing, []keys.Key{secret, signing}} })
	s := w.signUp("a@example.org")
	id, session, now := s.text("user.id"), s.header.Get("sb-auth-session-id"), w.now().Unix()
	claims := func(change m) json.RawMessage {
		c := m{"sub": id, "aud": "authenticated", "role": "authenticated", "session_id": session, "iat": now, "exp": now + 3600}
		for k, v := range change {
			c[k] = v
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	sign := func(k keys.Key, change m) string {
		token, err := k.Sign(claims(change))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	raw := func(header string, payload json.RawMessage, signature string) string {
		b := base64.RawURLEncoding.EncodeToString
		return b([]byte(header)) + "." + b(payload) + "." + signature
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	strangerRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	foreign := func(method jwt.SigningMethod, kid string, key any) string {
		token := jwt.NewWithClaims(method, jwt.MapClaims{"sub": id, "aud": "authenticated", "role": "service_role", "exp": now + 3600})
		if kid != "" {
			token.Header["kid"] = kid
		}
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	public, _ := signing.Public()
	publicText, err := json.Marshal(public)
	if err != nil {
		t.Fatal(err)
	}
	good := sign(signing, nil)
	w.do("GET", "/user", good, nil).want(200)
	w.do("GET", "/user", sign(secret, nil), nil).want(200)
	parts := strings.Split(good, ".")

	for name, token := range map[string]string{
		"alg none":                          raw(`{"alg":"none","typ":"JWT"}`, claims(nil), ""),
		"alg None":                          raw(`{"alg":"None","typ":"JWT"}`, claims(nil), ""),
		"no signature":                      parts[0] + "." + parts[1] + ".",
		"signature of another payload":      parts[0] + "." + base64.RawURLEncoding.EncodeToString(claims(m{"role": "service_role"})) + "." + parts[2],
		"key confusion: HS256, public key":  sign(keys.Secret(signing.ID, string(publicText)), nil),
		"key confusion: ES256 as HS256 kid": raw(`{"alg":"HS256","kid":"`+signing.ID+`"}`, claims(nil), parts[2]),
		"a stranger's key, our kid":         foreign(jwt.SigningMethodES256, signing.ID, stranger),
		"a stranger's key, no kid":          foreign(jwt.SigningMethodES256, "", stranger),
		"RS256 where there is no such key":  foreign(jwt.SigningMethodRS256, "x", strangerRSA),
		"kid injection: a path":             foreign(jwt.SigningMethodES256, "../../dev/null", stranger),
		"kid injection: SQL":                foreign(jwt.SigningMethodES256, "' or 1=1 --", stranger),
		"key in the header":                 raw(`{"alg":"ES256","jwk":{"kty":"EC"},"kid":"`+signing.ID+`"}`, claims(nil), parts[2]),
		"another secret":                    sign(keys.Secret("", "another-secret-of-at-least-32-characters"), nil),
		"expired":                           sign(signing, m{"exp": now - 1}),
		"from the future":                   sign(signing, m{"nbf": now + 60}),
		"wrong audience":                    sign(signing, m{"aud": "others"}),
		"forged role":                       parts[0] + "." + base64.RawURLEncoding.EncodeToString(claims(m{"role": "supabase_admin"})) + "." + parts[2],
		"8 KB of claims, unsigned":          raw(`{"alg":"ES256","kid":"`+signing.ID+`"}`, claims(m{"x": strings.Repeat("y", 8<<10)}), "AA"),
		"8 KB of claims, then changed":      sign(signing, m{"x": strings.Repeat("y", 8<<10)}) + "A",
		"64 KB of claims":                   sign(signing, m{"x": strings.Repeat("y", 64<<10)}),
		"another user's session":            sign(signing, m{"session_id": "00000000-0000-4000-8000-000000000001"}),
		"a subject who does not exist":      sign(signing, m{"sub": "00000000-0000-4000-8000-000000000001"}),
	} {
		for _, path := range []string{"/user", "/admin/users"} {
			if r := w.do("GET", path, token, nil); r.status != 401 && r.status != 403 {
				t.Errorf("%s: %s answered %d %s", name, path, r.status, r.raw)
			}
		}
	}
	// A true token of a user is no administrator's, whatever its metadata says.
	w.do("PUT", "/user", good, m{"data": m{"role": "service_role"}}).want(200)
	w.do("GET", "/admin/users", sign(signing, m{"user_metadata": m{"role": "service_role"}}), nil).want(403, "not_admin")
	// Another audience does not read the user.
	w.do("GET", "/user", good, nil, "X-JWT-AUD", "others").want(400, "validation_failed")
	// Eight kilobytes that are true are only long.
	w.do("GET", "/user", sign(signing, m{"x": strings.Repeat("y", 8<<10)}), nil).want(200)
	// Two parts, four parts, no parts.
	for _, text := range []string{"a", "a.b", "a.b.c.d", fmt.Sprintf("%s.%s", good, "x")} {
		w.do("GET", "/user", text, nil).want(403, "bad_jwt")
	}
	w.wait(2 * time.Hour)
	w.do("GET", "/user", good, nil).want(403, "bad_jwt")
}
