package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
)

// encode is the base64 encoding of tokens.
var encode = base64.RawURLEncoding.EncodeToString

// forged returns a token with any header and payload, signed with HS256 and the secret.
func forged(header, payload, secret string) string {
	signed := encode([]byte(header)) + "." + encode([]byte(payload))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// tokens makes variants of a valid access token of a stack.
type tokens struct {
	t         *testing.T
	api, anon string
	signing   keys.Key
	valid     string
	parts     []string // of valid: header, claims, signature
}

func startTokens(t *testing.T) *tokens {
	t.Helper()
	signing, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	private, err := json.Marshal([]keys.Key{signing})
	if err != nil {
		t.Fatal(err)
	}
	demo := keys.Demo()
	info := start(t, newApp(t, dataFolder(t), map[string]string{
		"JWT_SECRET": demo.JWTSecret, "JWT_KEYS": string(private), "ANON_KEY": demo.Anon,
		"SERVICE_ROLE_KEY": demo.ServiceRole,
	}))
	k := &tokens{t: t, api: info.Get("API_URL"), anon: info.Get("ANON_KEY"), signing: signing}
	status, body := call(t, "POST", k.api+"/auth/v1/signup", `{"email":"a@example.org","password":"password-1"}`,
		"apikey", k.anon, "Content-Type", "application/json")
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); status != 200 || err != nil {
		t.Fatal(status, body)
	}
	k.valid, k.parts = session.Token, strings.Split(session.Token, ".")
	return k
}

// claims returns the claims of the valid token with changes.
func (k *tokens) claims(changes map[string]any) string {
	k.t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(k.parts[1])
	if err != nil {
		k.t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(raw, &c); err != nil {
		k.t.Fatal(err)
	}
	for name, value := range changes {
		c[name] = value
	}
	text, err := json.Marshal(c)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// signed returns the valid token with changed claims, signed with a key.
func (k *tokens) signed(key keys.Key, changes map[string]any) string {
	k.t.Helper()
	token, err := key.Sign(json.RawMessage(k.claims(changes)))
	if err != nil {
		k.t.Fatal(err)
	}
	return token
}

// get returns the status of a request with a token.
func (k *tokens) get(path, token string) int {
	k.t.Helper()
	status, _ := call(k.t, "GET", k.api+path, "", "apikey", k.anon, "Authorization", "Bearer "+token)
	return status
}

// attack is an invalid token and the paths that must reject it.
type attack struct {
	name, token string
	paths       []string
}

const restPath = "/rest/v1/notes?select=id"

func (k *tokens) attacks() []attack {
	k.t.Helper()
	public, _ := k.signing.Public()
	publicText, err := json.Marshal(public)
	if err != nil {
		k.t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		k.t.Fatal(err)
	}
	point, err := other.PublicKey.Bytes()
	if err != nil {
		k.t.Fatal(err)
	}
	now := time.Now().Unix()
	service := k.claims(map[string]any{"role": "service_role"})
	long := k.claims(map[string]any{"x": strings.Repeat("y", 8<<10)})
	inject := func(kid string) string { return forged(fmt.Sprintf(`{"alg":"HS256","kid":%q}`, kid), service, "") }
	auth, rest := []string{"/auth/v1/user", "/auth/v1/admin/users"}, []string{restPath}
	both := append(append([]string{}, auth...), rest...)
	return []attack{
		{"alg none", encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode([]byte(service)) + ".", both},
		{"alg nOnE with the valid signature", encode([]byte(`{"alg":"nOnE"}`)) + "." + k.parts[1] + "." + k.parts[2],
			both},
		{"key confusion: the public JWK as HMAC secret", k.signed(keys.Secret(k.signing.ID, string(publicText)), nil),
			both},
		{"key confusion: a public point as HMAC secret", k.signed(keys.Secret(k.signing.ID, string(point)), nil), both},
		{"key confusion: HS256 in the header of an ES256 signature",
			encode([]byte(`{"alg":"HS256","kid":"`+k.signing.ID+`"}`)) + "." + k.parts[1] + "." + k.parts[2], both},
		{"kid injection: a file of zeros", inject("../../../../dev/null"), both},
		{"kid injection: SQL", inject(`x' union select '' --`), both},
		{"kid injection: an address", inject("https://evil.example/keys"), both},
		{"kid injection: the id of another key", forged(`{"alg":"HS256","kid":"`+k.signing.ID+`"}`, service, "guess"),
			both},
		{"expired", k.signed(k.signing, map[string]any{"exp": now - 60}), both},
		{"from the future", k.signed(k.signing, map[string]any{"nbf": now + 600}), both},
		{"wrong audience", k.signed(k.signing, map[string]any{"aud": "another-service"}), auth},
		{"forged role", k.parts[0] + "." + encode([]byte(service)) + "." + k.parts[2], both},
		{"forged role: not granted to authenticator", k.signed(k.signing, map[string]any{"role": "postgres"}), rest},
		{"8 KB of claims with an old signature", k.parts[0] + "." + encode([]byte(long)) + "." + k.parts[2], both},
		{"8 KB of claims with a guessed secret", forged(`{"alg":"HS256"}`, long, "guess"), both},
	}
}

// TestTokenAttacks checks that auth and REST behind the gateway reject every kind of invalid token
// with 401 or 403, and that none is accepted as an API key.
func TestTokenAttacks(t *testing.T) {
	k := startTokens(t)
	for _, path := range []string{"/auth/v1/user", restPath} {
		if got := k.get(path, k.valid); got != 200 {
			t.Fatalf("%s: the valid token gets %d", path, got)
		}
	}
	for _, a := range k.attacks() {
		for _, path := range a.paths {
			if got := k.get(path, a.token); got != 401 && got != 403 {
				t.Errorf("%s: %s replies %d", a.name, path, got)
			}
		}
		if status, _ := call(t, "GET", k.api+restPath, "", "apikey", a.token); status != 401 {
			t.Errorf("%s: as an API key it gets %d", a.name, status)
		}
	}

	// An ID token of the OAuth server has no role. Applications read it; no service accepts it as
	// an access token.
	idToken := k.signed(k.signing,
		map[string]any{"role": nil, "session_id": nil, "aud": []string{"00000000-0000-4000-8000-000000000001"}})
	for path, want := range map[string][2]int{ // status for the valid token and for the ID token
		"/auth/v1/user": {200, 403}, restPath: {200, 401}, "/graphql/v1": {200, 401}, "/storage/v1/bucket": {200, 400},
		"/functions/v1/hello": {200, 401},
	} {
		if got := [2]int{k.get(path, k.valid), k.get(path, idToken)}; got != want {
			t.Errorf("%s: the valid token and the ID token get %v, want %v", path, got, want)
		}
	}
}
