package auth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// TestTOTP enrols, verifies and removes a TOTP factor. Verification raises the session to aal2 and
// ends weaker sessions.
func TestTOTP(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	weaker := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp", "friendly_name": "phone"}).want(200)
	if !strings.HasPrefix(f.text("totp.qr_code"), "<svg") ||
		!strings.HasPrefix(f.text("totp.uri"), "otpauth://totp/example.org:") {
		t.Errorf("%s", f.raw)
	}
	w.do("POST", "/factors", token, m{"factor_type": "totp", "friendly_name": "phone"}).want(422,
		"mfa_factor_name_conflict")
	path := "/factors/" + f.text("id")
	c := w.do("POST", path+"/challenge", token, nil).want(200)
	w.do("POST", path+"/verify", token, m{"challenge_id": c.text("id"), "code": "000000"}).want(422,
		"mfa_verification_failed")
	code := func() string {
		t.Helper()
		code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	s := w.do("POST", path+"/verify", token, m{"challenge_id": c.text("id"), "code": code()}).want(200)
	if claims := payload(t, s.text("access_token")); claims["aal"] != "aal2" || len(claims["amr"].([]any)) != 2 {
		t.Errorf("claims %v", claims)
	}
	w.do("GET", "/user", weaker, nil).want(403, "session_not_found")
	// A challenge works once.
	w.do("POST", path+"/verify", token, m{"challenge_id": c.text("id"), "code": code()}).want(422,
		"mfa_ip_address_mismatch")
	// A session at aal1 may not remove the factor, change the password or add a factor.
	low := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	w.do("DELETE", path, low, nil).want(422, "insufficient_aal")
	w.do("PUT", "/user", low, m{"password": "password-2"}).want(401, "insufficient_aal")
	w.do("POST", "/factors", low, m{"factor_type": "totp", "friendly_name": "other"}).want(403, "insufficient_aal")
	// A challenge expires.
	late := w.do("POST", path+"/challenge", low, nil).want(200)
	w.wait(6 * time.Minute)
	w.do("POST", path+"/verify", low, m{"challenge_id": late.text("id"), "code": code()}).want(422,
		"mfa_challenge_expired")
	w.do("DELETE", path, s.text("access_token"), nil).want(200)
	after := w.refresh(s.text("refresh_token")).want(200)
	if payload(t, after.text("access_token"))["aal"] != "aal1" {
		t.Error("the session is still aal2 without its factor")
	}
}

// TestChallengesAtOnce checks that challenges of several factors at the same time are all stored,
// although the column of the time is unique in the whole table.
func TestChallengesAtOnce(t *testing.T) {
	w := newWorld(t)
	paths, tokens := make(chan string, 12), map[string]string{}
	for i := range 3 {
		token := w.signUp(fmt.Sprintf("a%d@example.org", i)).text("access_token")
		f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
		path := "/factors/" + f.text("id") + "/challenge"
		tokens[path] = token
		for range 4 {
			paths <- path
		}
	}
	got := w.together(cap(paths), func() reply {
		path := <-paths
		return w.do("POST", path, tokens[path], nil)
	})
	if got[200] != cap(paths) {
		t.Errorf("replies to challenges at one time: %v", got)
	}
	if n := w.count(`select count(*) from auth.mfa_factors where abs(extract(epoch from last_challenged_at - $1)) < 0.01`,
		w.now()); n != 3 {
		t.Errorf("%d factors have about the time of their challenge", n)
	}
}

// TestTOTPOnce checks that a code works once, in any session and with any white space.
func TestTOTPOnce(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	verify := func(token, code string) reply {
		w.wait(time.Second)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": code})
	}
	code := func() string {
		code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	seen := code()
	verify(token, seen).want(200)
	thief := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	for _, text := range []string{seen, " " + seen, seen + "\n"} {
		verify(thief, text).want(422, "mfa_verification_failed")
	}
	w.wait(30 * time.Second)
	verify(thief, seen).want(422, "mfa_verification_failed")
	verify(thief, code()).want(200)
}

// TestPhoneFactor verifies a phone factor with the code of a text message.
func TestPhoneFactor(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token,
		m{"factor_type": "phone", "friendly_name": "p", "phone": "+252 61 1234567"}).want(200)
	path := "/factors/" + f.text("id")
	c := w.do("POST", path+"/challenge", token, m{"channel": "sms"}).want(200)
	if len(w.texts) != 1 || !strings.HasPrefix(w.texts[0], "252611234567 Your code is ") {
		t.Fatalf("texts %v", w.texts)
	}
	code := w.texts[0][len(w.texts[0])-6:]
	s := w.do("POST", path+"/verify", token, m{"challenge_id": c.text("id"), "code": code}).want(200)
	if payload(t, s.text("access_token"))["aal"] != "aal2" {
		t.Error("the session is not aal2")
	}
	w.do("POST", "/factors", w.post("/signup", m{}).want(200).text("access_token"), m{"factor_type": "totp"}).want(403,
		"no_authorization")
}

// TestPhoneSignIn signs up with a phone number and a code.
func TestPhoneSignIn(t *testing.T) {
	w := newWorld(t, confirming)
	w.post("/otp", m{"phone": "252611234567"}).want(200)
	code := w.texts[0][len(w.texts[0])-6:]
	w.post("/verify", m{"type": "sms", "phone": "252611234567", "token": "000000"}).want(403, "otp_expired")
	w.post("/verify", m{"type": "sms", "phone": "252611234567", "token": code}).want(200)
	w.post("/verify", m{"type": "sms", "phone": "252611234567", "token": code}).want(403, "otp_expired")
	w.post("/otp", m{"phone": "252617654321", "create_user": false}).want(422, "otp_disabled")
}

// TestFactorOfRevokedFamily checks that a second factor does not revive a session whose refresh
// tokens are revoked.
func TestFactorOfRevokedFamily(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	token := s.text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	second := w.refresh(s.text("refresh_token")).want(200).text("refresh_token")
	w.refresh(second).want(200)
	w.wait(11 * time.Second)
	w.refresh(s.text("refresh_token")).want(400, "refresh_token_already_used")
	c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
	code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
	if err != nil {
		t.Fatal(err)
	}
	w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": code}).want(403,
		"session_not_found")
}

// TestNewFactorNeedsFactor checks that a factor that was enrolled before the user protected the
// account by another one cannot raise a session that has only the password.
func TestNewFactorNeedsFactor(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	thief := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	planted := w.do("POST", "/factors", thief,
		m{"factor_type": "phone", "friendly_name": "p", "phone": "15550001"}).want(200).text("id")
	early := w.do("POST", "/factors/"+planted+"/challenge", thief, m{"channel": "sms"}).want(200).text("id")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp", "friendly_name": "t"}).want(200)
	verifyTOTP := func(token string) reply {
		t.Helper()
		code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
		if err != nil {
			t.Fatal(err)
		}
		w.wait(time.Second)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": code})
	}
	owner := verifyTOTP(token).want(200).text("access_token")
	w.wait(time.Second)
	thief = w.signIn("a@example.org", "password-1").want(200).text("access_token")
	w.do("POST", "/factors/"+planted+"/challenge", thief, m{"channel": "sms"}).want(403, "insufficient_aal")
	w.do("POST", "/factors/"+planted+"/verify", thief, m{"challenge_id": early, "code": w.lastCode()}).want(403,
		"insufficient_aal")
	if n := len(w.texts); n != 1 {
		t.Errorf("%d texts", n)
	}
	// With the second factor another one can be added.
	w.wait(time.Second)
	c := w.do("POST", "/factors/"+planted+"/challenge", owner, m{"channel": "sms"}).want(200).text("id")
	w.do("POST", "/factors/"+planted+"/verify", owner, m{"challenge_id": c, "code": w.lastCode()}).want(200)
}

// TestFirstFactorsAtOnce checks that of two sessions that verify the account's first factor at the
// same time, of different kinds, one is raised and the other one refused.
func TestFirstFactorsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.signUp("a@example.org")
	for range 5 {
		w.db.ExecAs("supabase_admin", `delete from auth.mfa_factors`)
		type attempt struct{ token, path, challenge, code string }
		attempts := make(chan attempt, 2)
		for _, kind := range []string{"phone", "totp"} {
			w.wait(time.Second)
			a := attempt{token: w.signIn("a@example.org", "password-1").want(200).text("access_token")}
			f := w.do("POST", "/factors", a.token,
				m{"factor_type": kind, "friendly_name": kind, "phone": "15550001"}).want(200)
			a.path = "/factors/" + f.text("id")
			a.challenge = w.do("POST", a.path+"/challenge", a.token, m{"channel": "sms"}).want(200).text("id")
			var err error
			if a.code, err = totp.GenerateCode(f.text("totp.secret"), w.now()); err != nil {
				t.Fatal(err)
			}
			if kind == "phone" {
				a.code = w.lastCode()
			}
			attempts <- a
		}
		if got := w.together(2, func() reply {
			a := <-attempts
			return w.do("POST", a.path+"/verify", a.token, m{"challenge_id": a.challenge, "code": a.code})
		}); got[200] != 1 || got[403] != 1 {
			t.Errorf("replies %v", got)
		}
	}
}
