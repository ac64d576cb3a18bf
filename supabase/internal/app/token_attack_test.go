package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/keys"
)

// TestTokenAttacks names each way in which a token lies. Behind the gateway auth and REST answer 401 or 403 to every one of
// them, and nothing else.
func TestTokenAttacks(t *testing.T) {
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
		"JWT_SECRET": demo.JWTSecret, "JWT_KEYS": string(private), "ANON_KEY": demo.Anon, "SERVICE_ROLE_KEY": demo.ServiceRole,
	}))
	api, anon := info.Get("API_URL"), info.Get("ANON_KEY")
	status, body := call(t, "POST", api+"/auth/v1/signup", `{"email":"a@example.org","password":"password-1"}`, "apikey", anon, "Content-Type", "application/json")
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); status != 200 || err != nil {
		t.Fatal(status, body)
	}
	ask := func(target, token string) int {
		t.Helper()
		status, _ := call(t, "GET", api+target, "", "apikey", anon, "Authorization", "Bearer "+token)
		return status
	}
	auth, rest := []string{"/auth/v1/user", "/auth/v1/admin/users"}, []string{"/rest/v1/resources?select=id"}
	if got := ask(auth[0], session.Token); got != 200 {
		t.Fatalf("a true token got %d", got)
	}
	if got := ask(rest[0], session.Token); got != 200 {
		t.Fatalf("a true token got %d", got)
	}

	parts := strings.Split(session.Token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	claims := func(change map[string]any) string {
		var c map[string]any
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		for name, value := range change {
			c[name] = value
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	signed := func(k keys.Key, change map[string]any) string {
		token, err := k.Sign(json.RawMessage(claims(change)))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	encode := base64.RawURLEncoding.EncodeToString
	public, _ := signing.Public()
	publicText, err := json.Marshal(public)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := stranger.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	service := claims(map[string]any{"role": "service_role"})
	inject := func(kid string) string { return forged(fmt.Sprintf(`{"alg":"HS256","kid":%q}`, kid), service, "") }
	both := append(append([]string{}, auth...), rest...)
	for _, attack := range []struct {
		name, token string
		targets     []string
	}{
		{"alg none", encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode([]byte(service)) + ".", both},
		{"alg nOnE, with the true signature", encode([]byte(`{"alg":"nOnE"}`)) + "." + parts[1] + "." + parts[2], both},
		{"key confusion: the public JWK as HMAC secret", signed(keys.Secret(signing.ID, string(publicText)), nil), both},
		{"key confusion: the public point as HMAC secret", signed(keys.Secret(signing.ID, string(point)), nil), both},
		{"key confusion: HS256 in the header of an ES256 signature", encode([]byte(`{"alg":"HS256","kid":"`+signing.ID+`"}`)) + "." + parts[1] + "." + parts[2], both},
		{"kid injection: a file of zeros", inject("../../../../dev/null"), both},
		{"kid injection: SQL", inject(`x' union select '' --`), both},
		{"kid injection: an address", inject("https://evil.example/keys"), both},
		{"kid injection: another key's id", forged(`{"alg":"HS256","kid":"`+signing.ID+`"}`, service, "guess"), both},
		{"expired", signed(signing, map[string]any{"exp": now - 60}), both},
		{"from the future", signed(signing, map[string]any{"nbf": now + 600}), both},
		{"wrong audience", signed(signing, map[string]any{"aud": "another-service"}), auth},
		{"forged role", parts[0] + "." + encode([]byte(service)) + "." + parts[2], both},
		{"forged role: one that the database does not lend", signed(signing, map[string]any{"role": "postgres"}), rest},
		{"8 KB of claims under an old signature", parts[0] + "." + encode([]byte(claims(map[string]any{"x": strings.Repeat("y", 8<<10)}))) + "." + parts[2], both},
		{"8 KB of claims with a guessed secret", forged(`{"alg":"HS256"}`, claims(map[string]any{"x": strings.Repeat("y", 8<<10)}), "guess"), both},
	} {
		for _, target := range attack.targets {
			if got := ask(target, attack.token); got != 401 && got != 403 {
				t.Errorf("%s: %s answered %d", attack.name, target, got)
			}
		}
		// Nor does it open the gateway as a key.
		if status, _ := call(t, "GET", api+rest[0], "", "apikey", attack.token); status != 401 {
			t.Errorf("%s: as a key it got %d", attack.name, status)
		}
	}

	// An ID token is a person's without a role, for an application to read. Nowhere does it stand for that person.
	idToken := signed(signing, map[string]any{"role": nil, "session_id": nil, "aud": []string{"00000000-0000-4000-8000-000000000001"}})
	for target, want := range map[string][2]int{ // of a true token, of an ID token
		auth[0]: {200, 403}, rest[0]: {200, 401}, "/graphql/v1": {404, 404}, "/storage/v1/bucket": {200, 400},
	} {
		if got := [2]int{ask(target, session.Token), ask(target, idToken)}; got != want {
			t.Errorf("%s answered a true token and an ID token %v, want %v", target, got, want)
		}
	}
	for token, want := range map[string]int{session.Token: 400, idToken: 401} {
		status, body := call(t, "POST", api+"/functions/v1/track-download", `{"resourceId":""}`, "apikey", anon, "Authorization", "Bearer "+token, "Content-Type", "application/json")
		if status != want {
			t.Errorf("functions answered %d %s, want %d", status, body, want)
		}
	}
}
