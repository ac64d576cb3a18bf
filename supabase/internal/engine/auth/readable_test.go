package auth

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// gotrueNeeds are the columns that the schema lets be null and GoTrue's models do not: GoTrue
// replies 500 to every request that reads such a row.
var gotrueNeeds = map[string][]string{
	"users": {"aud", "role", "confirmation_token", "recovery_token", "email_change_token_current",
		"email_change_token_new", "email_change", "email_change_confirm_status", "phone_change", "phone_change_token",
		"reauthentication_token", "created_at", "updated_at", "instance_id"},
	"identities":        {"created_at", "updated_at"},
	"sessions":          {"created_at", "updated_at"},
	"refresh_tokens":    {"token", "user_id", "revoked", "created_at", "updated_at", "instance_id"},
	"mfa_factors":       {"friendly_name", "secret"},
	"mfa_challenges":    {"otp_code"},
	"flow_state":        {"provider_access_token", "provider_refresh_token", "created_at", "updated_at"},
	"oauth_clients":     {"client_secret_hash"},
	"saml_relay_states": {"redirect_to", "created_at", "updated_at"},
	"sso_providers":     {"created_at", "updated_at"},
	"saml_providers":    {"created_at", "updated_at"},
	"sso_domains":       {"created_at", "updated_at"},
}

// checkReadable fails the test if it has left a row that GoTrue cannot read.
func checkReadable(w *world) {
	var parts []string
	for table, columns := range gotrueNeeds {
		for _, column := range columns {
			parts = append(parts, fmt.Sprintf(
				`select '%s.%s' where exists (select from auth.%[1]s where %[2]s is null)`, table, column))
		}
	}
	if nulls := testdb.Value[[]string](w.db, "select array("+strings.Join(parts, " union all ")+")"); len(nulls) > 0 {
		w.t.Errorf("GoTrue cannot read rows with null: %v", nulls)
	}
}

// repair sends the repairs of rows that an earlier version wrote.
func repair(w *world) {
	w.t.Helper()
	sql, err := os.ReadFile("../../database/migrate/platform/20_auth_repair.sql")
	if err != nil {
		w.t.Fatal(err)
	}
	w.db.ExecAs("supabase_admin", string(sql))
}

// TestRepair checks that rows of an earlier version are readable after the start.
func TestRepair(t *testing.T) {
	w := newWorld(t, withOAuth)
	access := w.signUp("factor@example.org").text("access_token")
	w.do("POST", "/factors", access, m{"factor_type": "phone", "phone": "252610000009"}).want(200)
	w.app("shop", "none")
	w.db.ExecAs("supabase_admin", `update auth.mfa_factors set secret = null;
		update auth.oauth_clients set client_secret_hash = null; update auth.users set is_anonymous = true`)
	repair(w) // and newWorld checks the rows at the end
	if me := w.do("GET", "/user", access, nil).want(200); me.at("is_anonymous") != false {
		t.Errorf("%s", me.raw)
	}
}
