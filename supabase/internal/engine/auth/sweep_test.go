package auth

import (
	"testing"
	"time"
)

// TestSweep checks that expired rows are deleted and that rows which clients may still use are
// kept.
func TestSweep(t *testing.T) {
	w := newWorld(t, withOAuth, func(o *Options) { o.Config.Inactivity = 60 * 24 * time.Hour })
	in := w.signUp("a@example.org")
	second := w.refresh(in.text("refresh_token")).want(200)
	third := w.refresh(second.text("refresh_token")).want(200).text("refresh_token")
	w.do("POST", "/factors", in.text("access_token"), m{"factor_type": "totp"}).want(200)
	w.app("shop", "none").pending(in.text("access_token"), nil)
	w.post("/otp", m{"email": "a@example.org", "code_challenge": testChallenge,
		"code_challenge_method": "s256"}).want(200)
	rows := func() map[string]int {
		out := map[string]int{}
		for _, table := range []string{"refresh_tokens", "sessions", "flow_state", "oauth_authorizations",
			"mfa_factors", "users", "oauth_clients"} {
			out[table] = w.count(`select count(*) from auth.` + table)
		}
		return out
	}
	sweep := func(want map[string]int) {
		t.Helper()
		if err := w.e.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := rows()
		for table, n := range want {
			if got[table] != n {
				t.Errorf("%d rows in %s, want %d", got[table], table, n)
			}
		}
	}
	sweep(map[string]int{"refresh_tokens": 3, "sessions": 1, "flow_state": 1, "oauth_authorizations": 1,
		"mfa_factors": 1})
	w.wait(50 * time.Hour)
	sweep(map[string]int{"refresh_tokens": 2, "sessions": 1, "flow_state": 0, "oauth_authorizations": 0,
		"mfa_factors": 0, "users": 1, "oauth_clients": 1})
	// A client that was offline for two days has not received the reply with the third token.
	if got := w.refresh(second.text("refresh_token")).want(200).text("refresh_token"); got != third {
		t.Errorf("the refresh returns %q, not the third token", got)
	}
	w.refresh(in.text("refresh_token")).want(400, "refresh_token_not_found")
	w.wait(62 * 24 * time.Hour)
	sweep(map[string]int{"refresh_tokens": 0, "sessions": 0, "users": 1})
}
