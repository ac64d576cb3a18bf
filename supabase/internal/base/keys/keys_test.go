package keys

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(t time.Time) Options { return Options{Now: func() time.Time { return t }} }

func mustES256(t testing.TB) Key {
	t.Helper()
	k, err := GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustSign(t testing.TB, k Key, payload string) string {
	t.Helper()
	token, err := k.Sign(json.RawMessage(payload))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestDemoSet compares the demo keys with the official CLI's, byte for byte, because tutorials
// contain them.
func TestDemoSet(t *testing.T) {
	const anon = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZS1kZW1vIiwicm9sZSI6ImFub24iLCJleHAiOjE5ODM4MTI5OTZ9.CRXP1A7WOeoJeXxjNni43kdQwgnWNReilDMblYTn_I0"
	if got := Demo().Anon; got != anon {
		t.Errorf("anon key\n got %s\nwant %s", got, anon)
	}
	if !Demo().IsDemo() {
		t.Error("IsDemo is false for the demo set")
	}
	fresh, err := Generate(noon)
	if err != nil {
		t.Fatal(err)
	}
	if fresh.IsDemo() {
		t.Error("IsDemo is true for a generated set")
	}
}

func TestVerify(t *testing.T) {
	secret, ec := Secret("", strings.Repeat("s", 32)), mustES256(t)
	v := NewVerifier(at(noon), secret, ec)
	valid := fmt.Sprintf(`{"role":"authenticated","sub":"u","session_id":"s","aud":"authenticated","exp":%d}`,
		noon.Add(time.Hour).Unix())

	for name, key := range map[string]Key{"HS256": secret, "ES256": ec} {
		claims, err := v.Verify(mustSign(t, key, valid))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if claims.Role != "authenticated" || claims.Subject != "u" || claims.SessionID != "s" ||
			string(claims.Raw) != valid {
			t.Errorf("%s: %+v, raw %s", name, claims, claims.Raw)
		}
	}
}

// TestVerifyRefusesForgedTokens lists ways to forge a token and the error of each.
func TestVerifyRefusesForgedTokens(t *testing.T) {
	secret, ec, other := Secret("", strings.Repeat("s", 32)), mustES256(t), mustES256(t)
	v := NewVerifier(at(noon), secret, ec)
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	payload := fmt.Sprintf(`{"role":"service_role","exp":%d}`, noon.Add(time.Hour).Unix())
	good := mustSign(t, ec, payload)
	public, _ := ec.Public()
	publicJSON, _ := json.Marshal(public)
	confused := Secret(ec.ID, string(publicJSON))
	otherID := other
	otherID.ID = ec.ID

	for name, c := range map[string]struct {
		token string
		want  error
	}{
		"alg none": {part(`{"alg":"none","typ":"JWT"}`) + "." + part(payload) + ".",
			ErrAlgorithm},
		"alg nOnE":                       {part(`{"alg":"nOnE"}`) + "." + part(payload) + ".", ErrMalformed},
		"public key used as HMAC secret": {mustSign(t, confused, payload), ErrSignature},
		"unknown kid":                    {mustSign(t, other, payload), ErrKey},
		"known kid, other key":           {mustSign(t, otherID, payload), ErrSignature},
		"kid is a path": {part(`{"alg":"ES256","kid":"../../dev/null"}`) + "." + part(payload) + "." +
			part("x"), ErrKey},
		"kid is SQL": {part(`{"alg":"ES256","kid":"' or 1=1"}`) + "." + part(payload) + "." +
			part("x"), ErrKey},
		"kid is an object": {part(`{"alg":"ES256","kid":{}}`) + "." + part(payload) + "." + part("x"),
			ErrKey},
		"asymmetric without kid": {part(`{"alg":"ES256"}`) + "." + part(payload) + "." + part("x"), ErrKey},
		"own key in the header": {part(`{"alg":"ES256","jwk":`+string(publicJSON)+`}`) + "." + part(payload) +
			"." + part("x"), ErrKey},
		"payload replaced": {strings.Join([]string{strings.Split(good, ".")[0],
			part(`{"role":"postgres"}`), strings.Split(good, ".")[2]}, "."), ErrSignature},
		"truncated signature": {good[:len(good)-4], ErrSignature},
		"no signature":        {strings.Join(strings.Split(good, ".")[:2], ".") + ".", ErrSignature},
		"two parts":           {strings.Join(strings.Split(good, ".")[:2], "."), ErrMalformed},
		"expired":             {mustSign(t, secret, fmt.Sprintf(`{"exp":%d}`, noon.Unix())), ErrExpired},
		"not yet valid": {mustSign(t, secret, fmt.Sprintf(`{"nbf":%d}`, noon.Add(time.Minute).Unix())),
			ErrNotYet},
		"exp is a word":     {mustSign(t, secret, `{"exp":"never"}`), ErrMalformed},
		"payload is a list": {mustSign(t, secret, `[]`), ErrMalformed},
		"RS256 without an RSA key": {part(`{"alg":"RS256","kid":"x"}`) + "." + part(payload) + "." + part("x"),
			ErrAlgorithm},
		"too long": {strings.Repeat("a", 1<<20), ErrMalformed},
		"empty":    {"", ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			if claims, err := v.Verify(c.token); !errors.Is(err, c.want) {
				t.Errorf("got %+v, %v; want %v", claims, err, c.want)
			}
		})
	}
}

// TestVerifyCacheEnds verifies a cached token after its expiry and after a change of the keys.
func TestVerifyCacheEnds(t *testing.T) {
	secret := Secret("", strings.Repeat("s", 32))
	now := noon
	v := NewVerifier(Options{Now: func() time.Time { return now }}, secret)
	token := mustSign(t, secret, fmt.Sprintf(`{"exp":%d}`, noon.Add(time.Minute).Unix()))
	if _, err := v.Verify(token); err != nil {
		t.Fatal(err)
	}
	now = noon.Add(time.Minute)
	if _, err := v.Verify(token); !errors.Is(err, ErrExpired) {
		t.Errorf("after expiry: %v", err)
	}
	now = noon
	v.SetKeys(Secret("", strings.Repeat("t", 32)))
	if _, err := v.Verify(token); !errors.Is(err, ErrSignature) {
		t.Errorf("after SetKeys: %v", err)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	first, err := Generate(noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Anon != again.Anon || first.Secret != again.Secret || first.Signer().ID != again.Signer().ID {
		t.Error("Load returns another set than was saved")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("file that others can read: %v", err)
	}
}

func TestJWK(t *testing.T) {
	ec := mustES256(t)
	text, err := json.Marshal([]Key{ec, Secret("legacy", "shared")})
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseSet(string(text))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(read)
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Error(diff)
	}
	published := string(JWKS(read))
	if strings.Contains(published, `"d"`) || strings.Contains(published, "oct") || !strings.Contains(published, ec.ID) {
		t.Errorf("published: %s", published)
	}
	for name, bad := range map[string]string{
		"point off the curve": `[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}]`,
		"unsupported curve":   `[{"kty":"EC","crv":"P-384","x":"AQ","y":"AQ"}]`,
		"short RSA key":       `[{"kty":"RSA","n":"AQAB","e":"AQAB"}]`,
		"encryption key":      `[{"kty":"oct","k":"AQAB","use":"enc"}]`,
		"wrong algorithm":     `[{"kty":"oct","k":"AQAB","alg":"RS256"}]`,
		"not JSON":            `keys`,
	} {
		if _, err := ParseSet(bad); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzVerify(f *testing.F) {
	secret := Secret("", strings.Repeat("s", 32))
	f.Add(mustSign(f, secret, `{"role":"anon"}`))
	f.Add(Demo().Anon)
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	v := NewVerifier(at(noon), secret)
	f.Fuzz(func(t *testing.T, token string) {
		claims, err := v.Verify(token)
		if (claims == nil) == (err == nil) {
			t.Fatalf("claims %v with error %v", claims, err)
		}
	})
}

// BenchmarkVerify compares a cached token with an uncached one.
func BenchmarkVerify(b *testing.B) {
	ec := mustES256(b)
	token := mustSign(b, ec, `{"role":"anon"}`)
	b.Run("cached", func(b *testing.B) {
		v := NewVerifier(Options{}, ec)
		for b.Loop() {
			if _, err := v.Verify(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("uncached", func(b *testing.B) {
		keys := []Key{ec}
		for b.Loop() {
			if _, err := verify(token, keys); err != nil {
				b.Fatal(err)
			}
		}
	})
}
