package gotrue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/testdb"
)

const testSecret = "super-secret-jwt-token-with-at-least-32-characters-long"

// jwtKeys returns a value of GOTRUE_JWT_KEYS: a new signing key and the secrets, which only verify.
func jwtKeys(t *testing.T, secrets ...string) (variable string, signing keys.Key) {
	t.Helper()
	signing, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	set := []keys.Key{signing}
	for i, s := range secrets {
		set = append(set, keys.Secret(fmt.Sprint("secret-", i), s).CheckOnly())
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return "GOTRUE_JWT_KEYS=" + string(text), signing
}

// TestRetiredSecret checks that GOTRUE_JWT_SECRET verifies tokens only without GOTRUE_JWT_KEYS, or
// if that lists an HS256 key, which may be another one, as with GoTrue.
func TestRetiredSecret(t *testing.T) {
	claims := fmt.Appendf(nil, `{"role":"service_role","exp":%d}`, time.Now().Add(time.Hour).Unix())
	legacy, err := keys.Secret("", testSecret).Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	asymmetric, signing := jwtKeys(t)
	current, err := signing.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	listed, _ := jwtKeys(t, testSecret)
	another, _ := jwtKeys(t, "another-secret-with-at-least-32-characters-long")
	for name, c := range map[string]struct {
		variable, token string
		status          int
		message         string
		methods         string // GOTRUE_JWT_VALID_METHODS
	}{
		"methods with HS256":       {asymmetric, legacy, 200, "", "ES256,HS256"},
		"methods without HS256":    {listed, legacy, 403, "signing method HS256 is invalid", "ES256"},
		"methods without ES256":    {asymmetric, current, 403, "signing method ES256 is invalid", "HS256"},
		"no keys":                  {"GOTRUE_JWT_KEYS=", legacy, 200, "", ""},
		"an empty list":            {"GOTRUE_JWT_KEYS=[]", legacy, 200, "", ""},
		"listed":                   {listed, legacy, 200, "", ""},
		"another secret is listed": {another, legacy, 200, "", ""},
		"asymmetric keys alone":    {asymmetric, legacy, 403, "signing method HS256 is invalid", ""},
		"asymmetric keys, ES256":   {asymmetric, current, 200, "", ""},
		"unsigned": {asymmetric, "eyJhbGciOiJub25lIn0.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.", 403,
			"signing method none is invalid", ""},
		"a method that has no name": {asymmetric, "eyJhbGciOiJYIn0.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.eA", 403, "bad_jwt",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			db := testdb.New(t)
			p := serve(t, "DATABASE_URL="+db.URL("supabase_auth_admin"), "PORT=0",
				"API_EXTERNAL_URL=http://localhost:9999", "GOTRUE_SITE_URL=http://localhost:3000", secretVariable,
				c.variable, "GOTRUE_JWT_VALID_METHODS="+c.methods)
			p.started()
			defer p.stop()
			status, _, body := p.send("GET", "/admin/users", "", "Authorization", "Bearer "+c.token)
			if status != c.status || !strings.Contains(body, c.message) {
				t.Errorf("%d %s, want %d %s", status, body, c.status, c.message)
			}
		})
	}
}

// TestOneSigningKey: two keys that sign are a mistake, as with GoTrue.
func TestOneSigningKey(t *testing.T) {
	a, _ := jwtKeys(t)
	b, _ := jwtKeys(t)
	both := strings.TrimSuffix(a, "]") + "," + strings.TrimPrefix(b, "GOTRUE_JWT_KEYS=[")
	logged := serve(t, "DATABASE_URL=postgres://localhost/none", "API_EXTERNAL_URL=http://localhost:9999",
		"GOTRUE_SITE_URL=http://localhost:3000", secretVariable, both).failed()
	if !strings.Contains(logged, "GOTRUE_JWT_KEYS") || !strings.Contains(logged, "2 keys sign") {
		t.Error(logged)
	}
}
