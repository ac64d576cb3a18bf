package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// TestSessionLimits checks how long a session lasts with a timebox, with an inactivity timeout, and
// without limits.
func TestSessionLimits(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*Config)
		every time.Duration // between refreshes
		last  time.Duration // refreshes work until then, and fail later; 0 means no end
	}{
		"timebox":                 {func(c *Config) { c.Timebox = 24 * time.Hour }, 7 * time.Hour, 24 * time.Hour},
		"no limit":                {func(*Config) {}, 1000 * time.Hour, 0},
		"inactivity, not reached": {func(c *Config) { c.Inactivity = 2 * time.Hour }, 119 * time.Minute, 0},
		"inactivity, reached":     {func(c *Config) { c.Inactivity = 2 * time.Hour }, 121 * time.Minute, time.Minute},
	} {
		for _, signed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, func(o *Options) {
					c.set(&o.Config)
					o.Config.SignedRefreshTokens = signed
				})
				s := w.signUp("a@example.org")
				begun := w.now()
				for range 6 {
					w.wait(c.every)
					next := w.refresh(s.text("refresh_token"))
					if c.last > 0 && w.now().Sub(begun) > c.last {
						next.want(400, "session_expired")
						return
					}
					s = next.want(200)
				}
				if c.last > 0 {
					t.Error("the session did not end")
				}
			})
		}
	}
}

// TestLowAAL checks that a user with a second factor must verify it within AllowLowAAL, and that
// tokens before that expire with the session.
func TestLowAAL(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Config.AllowLowAAL = 10 * time.Minute })
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	up := func(token string) reply {
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
		code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
		if err != nil {
			t.Fatal(err)
		}
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token,
			m{"challenge_id": c.text("id"), "code": code}).want(200)
	}
	high := up(token)
	low := w.signIn("a@example.org", "password-1").want(200)
	if low.text("expires_in") != "600" || high.text("expires_in") != "3600" {
		t.Errorf("expires in %s and %s seconds", low.text("expires_in"), high.text("expires_in"))
	}
	w.wait(11 * time.Minute)
	w.refresh(low.text("refresh_token")).want(400, "session_expired")
	w.refresh(high.text("refresh_token")).want(200)
}

// TestSinglePerUser checks that only the most recently used session of a user can refresh.
func TestSinglePerUser(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Config.SinglePerUser = true })
	first := w.signUp("a@example.org")
	w.wait(time.Second)
	second := w.signIn("a@example.org", "password-1").want(200)
	w.refresh(first.text("refresh_token")).want(400, "session_expired")
	second = w.refresh(second.text("refresh_token")).want(200)
	// A password alone does not end a session with the second factor, which ends the others.
	w.restart(func(o *Options) { o.Config.AllowLowAAL = 10 * time.Minute })
	token := second.text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
	code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
	if err != nil {
		t.Fatal(err)
	}
	second = w.do("POST", "/factors/"+f.text("id")+"/verify", token,
		m{"challenge_id": c.text("id"), "code": code}).want(200)
	w.wait(time.Second)
	weak := w.signIn("a@example.org", "password-1").want(200)
	w.wait(time.Second)
	w.refresh(second.text("refresh_token")).want(200)
	w.refresh(weak.text("refresh_token")).want(400, "session_expired")
}

// TestLogoutOfWeakSession checks that a session without the second factor ends none that has it.
func TestLogoutOfWeakSession(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
	code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
	if err != nil {
		t.Fatal(err)
	}
	strong := w.do("POST", "/factors/"+f.text("id")+"/verify", token,
		m{"challenge_id": c.text("id"), "code": code}).want(200)
	for _, scope := range []string{"others", "global"} {
		other := w.signIn("a@example.org", "password-1").want(200)
		weak := w.signIn("a@example.org", "password-1").want(200)
		w.do("POST", "/logout?scope="+scope, weak.text("access_token"), nil).want(204)
		w.refresh(other.text("refresh_token")).want(400)
		if status := w.refresh(weak.text("refresh_token")).status; (status == 200) != (scope == "others") {
			t.Errorf("%s: the session itself: %d", scope, status)
		}
		strong = w.refresh(strong.text("refresh_token")).want(200)
	}
	weak := w.signIn("a@example.org", "password-1").want(200)
	w.do("POST", "/logout", strong.text("access_token"), nil).want(204)
	w.refresh(weak.text("refresh_token")).want(400)
}

// TestSessionTags checks that one session of each tag can refresh, and that a session without a
// known tag has the first.
func TestSessionTags(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.SinglePerUser, o.Config.SessionTags = true, []string{"phone", "browser"}
	})
	first := w.signUp("a@example.org")
	w.wait(time.Second)
	second := w.signIn("a@example.org", "password-1").want(200)
	tag := func(s reply, tag string) {
		w.db.Exec(`update auth.sessions set tag = $1 where id = $2`, tag, payload(t, s.text("access_token"))["session_id"])
	}
	tag(second, "unknown")
	w.refresh(first.text("refresh_token")).want(400, "session_expired")
	tag(second, "browser")
	w.refresh(first.text("refresh_token")).want(200)
	w.refresh(second.text("refresh_token")).want(200)
}

// TestRefreshUpgrade checks that stored refresh tokens become signed ones at their next refresh, in
// the configured part of the sessions.
func TestRefreshUpgrade(t *testing.T) {
	w := newWorld(t)
	var sessions []reply
	for i := range 24 {
		sessions = append(sessions, w.signUp(string(rune('a'+i))+"@example.org"))
	}
	upgraded := func(part int) (n int) {
		w.restart(func(o *Options) { o.Config.SignedRefreshTokens, o.Config.RefreshUpgradePercentage = true, part })
		for i, s := range sessions {
			old := s.text("refresh_token")
			sessions[i] = w.refresh(old).want(200)
			if len(sessions[i].text("refresh_token")) > len(old) && len(old) == 12 {
				n++
			}
		}
		return n
	}
	if n := upgraded(0); n != 0 {
		t.Errorf("%d of 24 upgraded with 0 %%", n)
	}
	half := upgraded(50)
	if again := upgraded(50); half == 0 || half == 24 || again != 0 {
		t.Errorf("%d, then %d of 24 upgraded with 50 %%", half, again)
	}
	if n := upgraded(100); n != 24-half {
		t.Errorf("%d upgraded with 100 %%", n)
	}
}

// TestReuseAfterUpgrade: a stored token that is used again after its session got signed tokens ends
// the session, because one of the two clients that had the token stole it.
func TestReuseAfterUpgrade(t *testing.T) {
	w := newWorld(t)
	stored := w.signUp("a@example.org").text("refresh_token")
	w.restart(func(o *Options) { o.Config.SignedRefreshTokens, o.Config.RefreshUpgradePercentage = true, 100 })
	signed := w.refresh(stored).want(200).text("refresh_token")
	w.wait(time.Minute)
	w.refresh(stored).want(400, "refresh_token_already_used")
	w.refresh(signed).want(400, "refresh_token_not_found")
}

// TestLogoutScopes checks the scopes local, others and global.
func TestLogoutScopes(t *testing.T) {
	w := newWorld(t)
	w.signUp("a@example.org")
	in := func() reply { return w.signIn("a@example.org", "password-1").want(200) }
	alive := func(s reply) bool { return w.do("GET", "/user", s.text("access_token"), nil).status == 200 }
	one, two, three := in(), in(), in()
	w.do("POST", "/logout?scope=local", one.text("access_token"), nil).want(204)
	if alive(one) || !alive(two) || !alive(three) {
		t.Error("scope local ended the wrong sessions")
	}
	w.do("POST", "/logout?scope=others", two.text("access_token"), nil).want(204)
	if !alive(two) || alive(three) {
		t.Error("scope others ended the wrong sessions")
	}
	w.refresh(three.text("refresh_token")).want(400, "refresh_token_not_found")
	four := in()
	w.do("POST", "/logout", four.text("access_token"), nil).want(204)
	if alive(two) || alive(four) {
		t.Error("scope global did not end all sessions")
	}
}

// TestForgedRefreshToken checks that the reply to a forged token of a known session is the one to
// an unknown session: it names no user, and does not tell whether the session could be refreshed.
func TestForgedRefreshToken(t *testing.T) {
	w := newWorld(t, withOAuth, func(o *Options) { o.Config.SignedRefreshTokens = true })
	forged := func(session string) string {
		id := mustUUID(t, session)
		body := append(append([]byte{0}, id[:]...), 0)
		body = append(body, make([]byte, 16)...) // no signature
		sum := sha256.Sum256(body)
		return base64.RawURLEncoding.EncodeToString(append(body, sum[:4]...))
	}
	s := w.signUp("a@example.org")
	session := payload(t, s.text("access_token"))["session_id"].(string)
	a := w.app("shop", "none")
	granted := payload(t, a.exchange(a.code(s.text("access_token"), nil)).text("access_token"))["session_id"].(string)
	unknown := w.refresh(forged("00000000-0000-4000-8000-000000000001")).want(400, "refresh_token_not_found")
	check := func(state, session string) {
		t.Helper()
		r := w.refresh(forged(session))
		if r.raw != unknown.raw || r.header.Get("sb-auth-user-id")+r.header.Get("sb-auth-session-id") != "" {
			t.Errorf("%s session: %s %v", state, r.raw, r.header)
		}
	}
	check("active", session)
	check("application's", granted)
	w.do("PUT", "/admin/users/"+s.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	check("banned user's", session)
}
