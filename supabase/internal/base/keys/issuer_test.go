package keys

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// issuerKeys returns the key of a third party, and what a JWK set of it gives.
func issuerKeys(t *testing.T, issuer Issuer) (Key, []Key) {
	t.Helper()
	private, err := GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	set := fmt.Sprintf(`{"keys":[%s,{"kty":"oct","kid":"s","k":"c2VjcmV0","alg":"HS256"},{"kty":"OKP","crv":"X25519","kid":"x","x":"AA"},
		{"kty":"RSA","use":"enc","kid":"e","n":"AQAB","e":"AQAB"},{"kty":"RSA","kid":"short","n":"AQAB","e":"AQAB"}]}`,
		JWKS([]Key{private})[len(`{"keys":[`):len(JWKS([]Key{private}))-2])
	parsed, err := ParseIssuerKeys([]byte(set), issuer)
	if err != nil || len(parsed) != 1 || parsed[0].CanSign() {
		t.Fatal(parsed, err)
	}
	return private, parsed
}

// TestIssuer checks which tokens of a third party are accepted, with keys that went to a process of
// functions as JSON.
func TestIssuer(t *testing.T) {
	private, parsed := issuerKeys(t, Issuer{Names: []string{"https://issuer.example/"}, Audience: "project"})
	text, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := ParseSet(string(text))
	if err != nil {
		t.Fatal(err)
	}
	own, err := GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	v := NewVerifier(Options{RefuseIDTokens: true}, append(sent, own)...)
	later := time.Now().Add(time.Hour).Unix()
	for _, c := range []struct {
		name, claims string // %d is a time in the future
		key          Key
		role         string // "" if the token is refused
	}{
		{"role", `{"iss":"https://issuer.example","aud":"project","sub":"u1","role":"authenticated","exp":%d}`, private,
			"authenticated"},
		{"several audiences", `{"iss":"https://issuer.example/","aud":["x","project"],"role":"editor","exp":%d}`,
			private, "editor"},
		{"no role", `{"iss":"https://issuer.example","aud":"project","sub":"u1","exp":%d}`, private, "anon"},
		{"empty role", `{"iss":"https://issuer.example","aud":"project","role":"","exp":%d}`, private, "anon"},
		{"another case", `{"Role":"service_role","iss":"https://issuer.example","aud":"project","ROLE":"service_role","exp":%d}`, private, "anon"},
		{"another case after", `{"role":"authenticated","iss":"https://issuer.example","aud":"project","exp":%d,"Role":"service_role"}`, private, "authenticated"},
		{"service_role", `{"iss":"https://issuer.example","aud":"project","role":"service_role","exp":%d}`, private,
			""},
		{"service_role hidden", `{"iss":"https://issuer.example","aud":"project","role":"service_role","exp":%d,"Role":"anon"}`, private, ""},
		{"owner of storage", `{"iss":"https://issuer.example","aud":"project","role":"supabase_storage_admin","exp":%d}`, private, ""},
		{"login role", `{"iss":"https://issuer.example","aud":"project","role":"none","exp":%d}`, private, ""},
		{"postgres", `{"iss":"https://issuer.example","aud":"project","role":"postgres","exp":%d}`, private, ""},
		{"another issuer", `{"iss":"https://other.example","aud":"project","role":"authenticated","exp":%d}`, private,
			""},
		{"no issuer", `{"aud":"project","role":"authenticated","exp":%d}`, private, ""},
		{"another audience", `{"iss":"https://issuer.example","aud":"other","role":"authenticated","exp":%d}`, private,
			""},
		{"no expiry", `{"iss":"https://issuer.example","aud":"project","role":"authenticated","n":%d}`, private, ""},
		{"role that is no text", `{"iss":"https://issuer.example","aud":"project","role":7,"exp":%d}`, private, ""},
		{"own key", `{"role":"service_role","exp":%d}`, own, "service_role"},
	} {
		token, err := c.key.Sign(fmt.Appendf(nil, c.claims, later))
		if err != nil {
			t.Fatal(err)
		}
		claims, err := v.Verify(token)
		switch {
		case c.role == "" && err == nil:
			t.Errorf("%s: accepted as %s", c.name, claims.Role)
		case c.role == "":
		case err != nil || claims.Role != c.role:
			t.Errorf("%s: %v %v", c.name, claims, err)
		default:
			var raw struct{ Role string }
			if err := json.Unmarshal(claims.Raw, &raw); err != nil || raw.Role != c.role {
				t.Errorf("%s: the claims are %s, %v", c.name, claims.Raw, err)
			}
		}
	}
}

// TestIssuerKeysRefused checks sets without a usable key.
func TestIssuerKeysRefused(t *testing.T) {
	for _, set := range []string{``, `[]`, `{"keys":[]}`, `{"keys":[{"kty":"oct","kid":"s","k":"c2VjcmV0"}]}`} {
		if keys, err := ParseIssuerKeys([]byte(set), Issuer{Names: []string{"https://issuer.example"}}); err == nil {
			t.Errorf("%s: %v", set, keys)
		}
	}
}
