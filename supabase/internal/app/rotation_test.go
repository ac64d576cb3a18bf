package app

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/keys"
)

// rotation replaces the keys of a running server three times: the local keys, generated keys and leaked keys. Each time it checks
// that the old secret keys are rejected, alone and together with the publishable key. A session remains valid unless another party
// may have signed it.
func rotation(t *testing.T, a *App, data string, info Info) {
	set, err := LoadKeys(t.Context(), a.cfg, data)
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
	}{{"/rest/v1/notes?select=id", 401}, {"/storage/v1/bucket", 400}, {"/auth/v1/admin/users", 403}, {"/functions/v1/hello", 401}}
	for _, round := range []struct {
		name    string
		how     Rotation
		session int // status of a session from before the rotation
	}{{"local keys", keys.Set.Rotate, 403}, {"generated keys", keys.Set.Rotate, 200}, {"leaked keys", keys.Set.Replace, 403}} {
		old := set
		status, body := call(t, "POST", api+"/auth/v1/signup", `{"email":"`+time.Now().Format("150405.000000")+`@example.org","password":"password-1"}`,
			"apikey", old.Publishable, "Content-Type", "application/json")
		var session struct {
			Token string `json:"access_token"`
		}
		if err := json.Unmarshal([]byte(body), &session); status != 200 || err != nil {
			t.Fatal(round.name, status, body)
		}
		stolen := []string{old.ServiceRole}
		if old.ServiceRoleToken != "" {
			stolen = append(stolen, old.ServiceRoleToken)
		}
		for _, e := range endpoints {
			for _, token := range stolen {
				if status := get(e.path, old.Publishable, token); status != 200 {
					t.Errorf("%s, before: %s %d", round.name, e.path, status)
				}
			}
		}
		if set, err = round.how(old, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := set.Save(KeysFile(data)); err != nil {
			t.Fatal(err)
		}
		if err := Command(t.Context(), data, "/keys/reload", &struct{}{}); err != nil {
			t.Fatal(err)
		}
		for _, e := range endpoints {
			for _, token := range stolen {
				if status := get(e.path, set.Publishable, token); status != e.rejected {
					t.Errorf("%s: a stolen key with the new publishable key opens %s: %d", round.name, e.path, status)
				}
			}
		}
		if status := get("/auth/v1/user", set.Publishable, session.Token); status != round.session {
			t.Errorf("%s: the session from before: %d", round.name, status)
		}
		forged := resigned(t, session.Token, keys.Secret("", old.JWTSecret))
		for path, rejected := range map[string]int{"/auth/v1/user": 403, "/rest/v1/notes?select=id": 401, "/storage/v1/bucket": 400, "/functions/v1/hello": 401} {
			if status := get(path, set.Publishable, forged); status != rejected {
				t.Errorf("%s: a session forged with the old secret opens %s: %d", round.name, path, status)
			}
		}
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
				t.Errorf("%s: %s: %d", round.name, tt.name, status)
			}
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
