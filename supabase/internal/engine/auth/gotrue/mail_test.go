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

// TestNoMailServer: without GOTRUE_SMTP_HOST, requests that send a mail succeed and no mail is
// sent, as with GoTrue. A warning at the start says so.
func TestNoMailServer(t *testing.T) {
	db := testdb.New(t)
	p := serve(t, "DATABASE_URL="+db.URL("supabase_auth_admin"), "PORT=0", "API_EXTERNAL_URL=http://localhost:9999",
		"GOTRUE_SITE_URL=http://localhost:3000", secretVariable, "GOTRUE_SMTP_MAX_FREQUENCY=1ns")
	if logged := p.started(); !strings.Contains(logged, "GOTRUE_SMTP_HOST") {
		t.Errorf("no warning:\n%s", logged)
	}
	defer p.stop()
	admin, err := keys.Secret("",
		testSecret).Sign(fmt.Appendf(nil, `{"role":"service_role","exp":%d}`, time.Now().Add(time.Hour).Unix()))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ path, body string }{
		{"/signup", `{"email":"a@example.org","password":"password-1"}`},
		{"/resend", `{"type":"signup","email":"a@example.org"}`},
		{"/otp", `{"email":"b@example.org"}`},
		{"/magiclink", `{"email":"c@example.org"}`},
		{"/recover", `{"email":"a@example.org"}`},
		{"/invite", `{"email":"d@example.org"}`},
	} {
		if status, _, body := p.send("POST", r.path, r.body, "Authorization", "Bearer "+admin); status != 200 {
			t.Errorf("%s: %d %s", r.path, status, body)
		}
	}
	if n := testdb.Value[int](db,
		`select count(*) from auth.users where confirmation_token <> '' or recovery_token <> ''`); n != 4 {
		t.Errorf("%d users have a token, want 4", n)
	}
	if status, _, body := p.send("POST", "/admin/users",
		`{"email":"e@example.org","password":"password-1","email_confirm":true}`, "Authorization", "Bearer "+
			admin); status != 200 {
		t.Fatal(status, body)
	}
	_, _, body := p.send("POST", "/token?grant_type=password", `{"email":"e@example.org","password":"password-1"}`)
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil {
		t.Fatal(err)
	}
	if status, _, body := p.send("GET", "/reauthenticate", "", "Authorization", "Bearer "+
		session.Token); status != 200 {
		t.Errorf("reauthenticate: %d %s", status, body)
	}
}
