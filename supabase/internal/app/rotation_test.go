package app

import (
	"encoding/json"
	"testing"
	"time"

	"daawo/supabase/internal/keys"
)

// rotation replaces the keys of a running server: first the local ones, then some of its own, then some that leaked. Somebody
// has each secret key before, and afterwards tries it alone and behind the publishable key, which every page knows. A session
// goes on, unless others could have signed it.
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
	doors := []struct {
		path    string
		refused int
	}{{"/rest/v1/reports?select=id", 401}, {"/storage/v1/bucket", 400}, {"/auth/v1/admin/users", 403}, {"/functions/v1/who", 401}}
	for _, round := range []struct {
		name    string
		how     Rotation
		session int // what auth says to the session from before
	}{{"the local keys, which everybody knows", keys.Set.Rotate, 403}, {"generated keys", keys.Set.Rotate, 200}, {"leaked keys", keys.Set.Replace, 403}} {
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
		for _, door := range doors {
			for _, token := range stolen {
				if status := get(door.path, old.Publishable, token); status != 200 {
					t.Errorf("%s, before: %s %d", round.name, door.path, status)
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
		for _, door := range doors {
			for _, token := range stolen {
				if status := get(door.path, set.Publishable, token); status != door.refused {
					t.Errorf("%s: a stolen key behind the new publishable one opens %s: %d", round.name, door.path, status)
				}
			}
		}
		if status := get("/auth/v1/user", set.Publishable, session.Token); status != round.session {
			t.Errorf("%s: the session from before: %d", round.name, status)
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
			if status := get("/rest/v1/resources?limit=1", tt.key, tt.token); status != tt.status {
				t.Errorf("%s: %s: %d", round.name, tt.name, status)
			}
		}
	}
}
