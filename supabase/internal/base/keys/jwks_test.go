package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// TestParseVerifySet reads keys that ParseSet refuses and verifies a signature with them.
func TestParseVerifySet(t *testing.T) {
	const payload = `{"role":"r"}`
	for _, c := range []struct {
		curve  elliptic.Curve
		method *jwt.SigningMethodECDSA
	}{{elliptic.P256(), jwt.SigningMethodES256}, {elliptic.P384(), jwt.SigningMethodES384},
		{elliptic.P521(), jwt.SigningMethodES512}} {
		private, err := ecdsa.GenerateKey(c.curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(Key{ID: "k", Algorithm: c.method.Alg(), public: private.Public()})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := ParseVerifySet(text)
		if err != nil || len(parsed) != 1 || parsed[0].Algorithm != c.method.Alg() || parsed[0].CanSign() {
			t.Fatalf("%s: %v %v", c.method.Alg(), parsed, err)
		}
		signature, err := c.method.Sign("header.payload", private)
		if err != nil {
			t.Fatal(err)
		}
		if !parsed[0].Verifies(c.method, "header.payload", signature, json.RawMessage(payload)) {
			t.Errorf("%s: signature refused", c.method.Alg())
		}
		if parsed[0].Verifies(jwt.SigningMethodHS256, "header.payload", signature, json.RawMessage(payload)) {
			t.Errorf("%s: HMAC with a public key", c.method.Alg())
		}
		if _, err := ParseSet(`{"keys":[` + string(text) + `]}`); (err == nil) != (c.curve == elliptic.P256()) {
			t.Errorf("%s: ParseSet: %v", c.method.Alg(), err)
		}
	}
	for name, text := range map[string]string{
		"padded secret": `{"kty":"oct","k":"c2VjcmV0LXM="}`,
		"short RSA key": `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`,
		"other use":     `{"kty":"oct","k":"AQAB","use":"enc","alg":"RS256"}`, "empty set": `{"keys":[]}`,
	} {
		if _, err := ParseVerifySet([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty secret": `{"kty":"oct","k":""}`, "no secret": `{"kty":"oct"}`, "unknown type": `{"kty":"x"}`,
		"not JSON":          `{`,
		"short Ed25519 key": `{"kty":"OKP","crv":"Ed25519","x":"AQAB"}`,
		"other curve":       `{"kty":"EC","crv":"secp256k1","x":"AQ","y":"AQ"}`,
	} {
		if _, err := ParseVerifySet([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestJWKSExt: the published key has ext if the given one has it, as GoTrue publishes it. Generated
// keys have it.
func TestJWKSExt(t *testing.T) {
	generated, err := GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(generated)
	if err != nil {
		t.Fatal(err)
	}
	for ext, published := range map[string]string{`"ext":true,`: `"ext":true`, `"ext":false,`: `"ext":false`, ``: ``} {
		set, err := ParseSet("[" + strings.Replace(string(text), `"ext":true,`, ext, 1) + "]")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(JWKS(set)); !strings.Contains(got, published) || published == "" &&
			strings.Contains(got, "ext") {
			t.Errorf("%s: %s", ext, got)
		}
	}
}
