package app

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/keys"
)

// signUp creates an account and returns the access token of its session.
func signUp(t *testing.T, api, publishable string) string {
	t.Helper()
	status, body := call(t, "POST", api+"/auth/v1/signup", `{"email":"`+time.Now().Format("150405.000000")+
		`@example.org","password":"password-1"}`,
		"apikey", publishable, "Content-Type", "application/json")
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); status != 200 || err != nil {
		t.Fatal(status, body)
	}
	return session.Token
}

// rotation replaces the keys of a running server three times: the local keys, generated keys and
// leaked keys. Each time it checks that the old secret keys are rejected, alone and together with
// the publishable key. A session remains valid unless another party may have signed it.
func rotation(t *testing.T, a *App, data string, info Info) {
	set, err := keyring.Load(t.Context(), a.Config, data)
	if err != nil {
		t.Fatal(err)
	}
	api := info.Get("API_URL")
	get := func(path, apikey, token string) int {
		headers := []string{"apikey", apikey}
		if token != "" {
			headers = append(headers, "Authorization", "Bearer "+token)
		}
		status, _ := call(t, "GET", api+path, "", headers...)
		return status
	}
	endpoints := []struct {
		path     string
		rejected int
	}{{"/rest/v1/notes?select=id", 401}, {"/storage/v1/bucket", 400}, {"/auth/v1/admin/users", 403},
		{"/functions/v1/hello", 401}}
	for _, round := range []struct {
		name    string
		how     keyring.Rotation
		session int // status of a session from before the rotation
	}{{"local keys", keys.Set.Rotate, 403}, {"generated keys", keys.Set.Rotate, 200},
		{"leaked keys", keys.Set.Replace, 403}} {
		old := set
		session := signUp(t, api, old.Publishable)
		stolen := []string{old.ServiceRole}
		if old.ServiceRoleToken != "" {
			stolen = append(stolen, old.ServiceRoleToken)
		}
		check := func(when, publishable string, status func(rejected int) int) {
			for _, e := range endpoints {
				for _, token := range stolen {
					if got := get(e.path, publishable, token); got != status(e.rejected) {
						t.Errorf("%s, %s: %s replies %d to the key", round.name, when, e.path, got)
					}
				}
			}
		}
		check("before", old.Publishable, func(int) int { return 200 })
		if set, err = round.how(old, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := set.Save(keyring.File(data)); err != nil {
			t.Fatal(err)
		}
		if err := control.Command(t.Context(), data, "/keys/reload", &struct{}{}); err != nil {
			t.Fatal(err)
		}
		check("stolen", set.Publishable, func(rejected int) int { return rejected })
		if status := get("/auth/v1/user", set.Publishable, session); status != round.session {
			t.Errorf("%s: the session from before: %d", round.name, status)
		}
		forgery(t, round.name, resigned(t, session, keys.Secret("", old.JWTSecret)),
			func(path, token string) int { return get(path, set.Publishable, token) })
		checkKeys(t, round.name, old, set, get)
	}
}

// forgery checks that no service takes a session that was forged with a retired secret.
func forgery(t *testing.T, round, token string, get func(path, token string) int) {
	t.Helper()
	for path, rejected := range map[string]int{"/auth/v1/user": 403, "/rest/v1/notes?select=id": 401,
		"/storage/v1/bucket": 400, "/functions/v1/hello": 401} {
		if status := get(path, token); status != rejected {
			t.Errorf("%s: a session forged with the old secret opens %s: %d", round, path, status)
		}
	}
}

// resigned returns a token with the claims of another, signed with the key.
func resigned(t *testing.T, token string, key keys.Key) string {
	t.Helper()
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	out, err := key.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkKeys checks the API keys of before and after a rotation. get returns the status of a request
// with a key and a token.
func checkKeys(t *testing.T, name string, old, set keys.Set, get func(path, apikey, token string) int) {
	t.Helper()
	for _, tt := range []struct {
		name, key, token string
		status           int
	}{
		{"new publishable", set.Publishable, "", 200},
		{"old publishable", old.Publishable, "", 200},
		{"old anon, as pages send it", old.Anon, old.Anon, 200},
		{"new secret", set.Secret, "", 200},
		{"old secret", old.Secret, "", 401},
		{"old service_role", old.ServiceRole, "", 401},
	} {
		if status := get("/rest/v1/notes?limit=1", tt.key, tt.token); status != tt.status {
			t.Errorf("%s: %s: %d", name, tt.name, status)
		}
	}
}
