package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/parts"
)

// TestStudioAccounts signs an account in at Studio's login: the expression of the program decides,
// and a second factor counts.
func TestStudioAccounts(t *testing.T) {
	a := newApp(t, dataFolder(t), nil)
	a.Site, a.Added, a.Config.Studio.Enabled = nil, &parts.Store{Lock: t.TempDir() + "/parts.lock"}, true
	a.Config.StudioUser, a.Config.StudioPassword = "supabase", "a long password"
	a.Config.Auth.MFA.TOTP.EnrollEnabled, a.Config.Auth.MFA.TOTP.VerifyEnabled = true, true
	a.StudioAccess = `auth.jwt() ->> 'aal' = 'aal2'`
	info := start(t, a)
	studio := info.Get("STUDIO_URL")
	conn, err := pgx.Connect(t.Context(), info.Get("DB_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var session struct {
		Token string `json:"access_token"`
	}
	const account = `{"email": "owner@example.org", "password": "correct horse"}`
	askAuth(t, info, "/signup", info.Get("ANON_KEY"), account, &session)
	var factor struct {
		ID   string
		TOTP struct{ Secret string }
	}
	askAuth(t, info, "/factors", session.Token, `{"factor_type": "totp"}`, &factor)
	login := func(password, code string) (int, string) {
		t.Helper()
		form := url.Values{"user": {"owner@example.org"}, "password": {password}, "code": {code}}
		r, err := http.NewRequestWithContext(t.Context(), "POST", studio+"/_login", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode, res.Header.Get("Set-Cookie")
	}
	sessions := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), `select count(*) from auth.sessions`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := sessions()
	if status, cookie := login("correct horse", ""); status != http.StatusUnauthorized || cookie != "" {
		t.Errorf("an account without the right: %d %s", status, cookie)
	}
	if _, err := conn.Exec(t.Context(), `update auth.mfa_factors set status = 'verified'`); err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(factor.TOTP.Secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][2]string{{"wrong", code}, {"correct horse", "000000"}, {"correct horse", ""}} {
		if status, cookie := login(words[0], words[1]); status != http.StatusUnauthorized || cookie != "" {
			t.Errorf("%v: %d %s", words, status, cookie)
		}
	}
	if n := sessions(); n != before {
		t.Errorf("refused logins left %d sessions", n-before)
	}
	status, cookie := login("correct horse", code)
	if status != http.StatusSeeOther || !strings.Contains(cookie, "HttpOnly") {
		t.Fatalf("with the code: %d %s", status, cookie)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	if status, _ := call(t, "GET", studio, "", "Cookie", cookie); status != http.StatusNotFound { // Studio is not added to this stack
		t.Errorf("with the session: %d", status)
	}
}

// askAuth sends a request to auth and decodes its reply.
func askAuth(t *testing.T, info Info, path, token, body string, into any) {
	t.Helper()
	status, text := call(t, "POST", info.Get("API_URL")+"/auth/v1"+path, body, "apikey", info.Get("ANON_KEY"),
		"Content-Type", "application/json", "Authorization", "Bearer "+token)
	if err := json.Unmarshal([]byte(text), into); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, text)
	}
}
