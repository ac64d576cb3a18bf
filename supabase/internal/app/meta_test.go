package app

import (
	"fmt"
	"strings"
	"testing"
)

// checkMeta checks that /pg runs statements as postgres, for the secret keys only.
func checkMeta(t *testing.T, api, anon, secret, service string) {
	t.Helper()
	const sql = `{"query":"select current_user::text as role, rolsuper from pg_roles where rolname = current_user"}`
	for key, want := range map[string]string{secret: `200 [{"role":"postgres","rolsuper":false}]`,
		service: `200 [{"role":"postgres","rolsuper":false}]`, anon: "403", "": "401"} {
		var headers []string
		if key != "" {
			headers = []string{"apikey", key}
		}
		status, body := call(t, "POST", api+"/pg/query", sql, headers...)
		if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, want) {
			t.Errorf("/pg/query: %s, want %s", got, want)
		}
	}
	if status, body := call(t, "GET", api+"/pg/tables?included_schemas=storage", "", "apikey", secret); status != 200 ||
		!strings.Contains(body, `"name":"buckets"`) {
		t.Errorf("/pg/tables: %d %s", status, body)
	}
}
