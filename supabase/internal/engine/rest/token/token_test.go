package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/base/keys"
)

// TestKeys verifies a token of each supported algorithm with the right key set and with another.
func TestKeys(t *testing.T) {
	b64 := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	edPub, edKey, _ := ed25519.GenerateKey(rand.Reader)
	point, err := ec.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	set, err := ParseSet([]byte(fmt.Sprintf(`{"keys":[{"kty":"oct","kid":"h","k":%q},{"kty":"EC","kid":"e","crv":"P-256","x":%q,"y":%q},
		{"kty":"RSA","kid":"r","n":%q,"e":%q},{"kty":"OKP","kid":"o","crv":"Ed25519","x":%q}]}`,
		b64([]byte("a shared secret of thirty-two bytes!")), b64(point[1:33]), b64(point[33:]), b64(rsaKey.N.Bytes()),
		b64(big.NewInt(int64(rsaKey.E)).Bytes()), b64(edPub))))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := ParseSet([]byte("another secret"))
	for _, c := range []struct {
		method jwt.SigningMethod
		key    any
	}{{jwt.SigningMethodHS256, []byte("a shared secret of thirty-two bytes!")},
		{jwt.SigningMethodHS512, []byte("a shared secret of thirty-two bytes!")}, {jwt.SigningMethodES256, ec},
		{jwt.SigningMethodRS256, rsaKey}, {jwt.SigningMethodPS384, rsaKey}, {jwt.SigningMethodEdDSA, edKey}} {
		text, err := jwt.NewWithClaims(c.method, jwt.MapClaims{"role": "r"}).SignedString(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if claims, err := set.Verify(text); err != nil || string(claims) != `{"role":"r"}` {
			t.Errorf("%s: %s %v", c.method.Alg(), claims, err)
		}
		if _, err := other.Verify(text); err == nil {
			t.Errorf("%s: another secret verifies it", c.method.Alg())
		}
	}
}

func TestCheck(t *testing.T) {
	now := time.Unix(1000, 0)
	for claims, want := range map[string]string{
		`{"exp":970}`: "", `{"exp":969}`: "JWT expired", `{"exp":"x"}`: "The JWT 'exp' claim must be a number",
		`{"nbf":1030}`: "", `{"nbf":1031}`: "JWT not yet valid", `{"iat":1031}`: "JWT issued at future",
		`{"aud":"me"}`: "", `{"aud":["x","me"]}`: "", `{"aud":[]}`: "", `{"aud":"x"}`: "JWT not in audience",
		`{"aud":{"a":1}}`: "The JWT 'aud' claim must be a string or an array of strings",
		`{"exp":1e400}`:   "JWT expired",
	} {
		err := Check(json.RawMessage(claims), now, func(a string) bool { return a == "me" })
		got := ""
		if err != nil {
			got = err.Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", claims, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	claims := json.RawMessage(`{"role":"r","app":{"roles":["test_one","other"],"a-b":7},"n":[[1],{"x":"deep"}]}`)
	for path, want := range map[string]string{
		"$.role": "r", ".role": "r", "$.app.roles[0]": "test_one", "$.app.roles[-1]": "other", `$.app["a-b"]`: "7",
		`.app."a-b"`: "7", "$.n[1].x": "deep",
		`$.app.roles[?(@ == "other")]`: "other", `.app.roles[?(@ ^== "test_")]`: "test_one",
		`.app.roles[?(@ ==^ "er")]`: "other", `.app.roles[?(@ *== "st_")]`: "test_one",
		`$.app.roles[?search(@, "^oth")]`: "other", `$.app.roles[?match(@, "other")]`: "other",
		"$.app.roles[*]": "test_one", "$.nothing": "", "$.app.roles[9]": "",
	} {
		p, err := ParsePath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got, _ := p.Role(claims); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{`.roles[?(@ ^== "r")]`: `."roles"[?(@ ^== "r")]`,
		".a.b[0]": `."a"."b"[0]`, "$.a.b[0]": "$.a.b[0]"} {
		if p, err := ParsePath(path); err != nil || p.String() != want || p.Old() != (path[0] == '.') {
			t.Errorf("%s: %s, %v", path, p, err)
		}
	}
	for _, bad := range []string{"role", "$.", "$.a[", "$.a[x]", `$.a[?(@ = "x")]`, `$.a[?search(@, "(")]`, `$."a`,
		".role##", "$.my_role;;domain", "$.a b", ".#$$%&$%/"} {
		if _, err := ParsePath(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// FuzzToken checks that no token makes Verify or Check panic.
func FuzzToken(f *testing.F) {
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJIUzI1NiJ9.e30.AAAA")
	set, _ := ParseSet([]byte("secret"))
	f.Fuzz(func(t *testing.T, text string) {
		if claims, err := set.Verify(text); err == nil {
			Check(claims, time.Now(), func(string) bool { return true })
		}
	})
}

// TestReplacedKeys: a key that rotation replaced verifies tokens of the sessions that it signed,
// but no API keys.
func TestReplacedKeys(t *testing.T) {
	old, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	next, err := old.Rotate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet(next.Verifying()...)
	secret, signing := keys.Secret("", old.JWTSecret), old.Signing[0]
	for claims, accepted := range map[string][]keys.Key{
		`{"role":"authenticated","sub":"u","session_id":"s"}`: {signing}, `{"role":"anon"}`: {secret, signing},
		`{"role":"service_role"}`: {},
	} {
		for _, key := range []keys.Key{secret, signing} {
			accepted := slices.ContainsFunc(accepted, func(k keys.Key) bool { return k.Algorithm == key.Algorithm })
			text, err := key.Sign(json.RawMessage(claims))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := set.Verify(text); (err == nil) != accepted {
				t.Errorf("%s with the old %s key: %v", claims, key.Algorithm, err)
			}
		}
	}
}
