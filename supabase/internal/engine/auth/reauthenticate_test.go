package auth

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/engine/auth/message/template"
)

// TestReauthenticate checks that an old session needs a code to change the password, and that the
// code works once and expires.
func TestReauthenticate(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.RequireReauth, o.Config.TokenExpiry, o.Config.Mail.CodeExpiry = true, 100*time.Hour, time.Hour
	})
	token := w.signUp("a@example.org").text("access_token")
	change := func(password, nonce string) reply {
		return w.do("PUT", "/user", token, m{"password": password, "nonce": nonce})
	}
	change("password-2", "").want(200) // a session of less than 24 hours needs no code
	w.wait(25 * time.Hour)
	change("password-3", "").want(400, "reauthentication_needed")
	change("password-3", "000000").want(422, "reauthentication_not_valid")
	code := func() string {
		t.Helper()
		w.do("GET", "/reauthenticate", token, nil).want(200)
		to, link, code := w.mail()
		if to != "a@example.org" || link != nil || len(code) != 6 {
			t.Fatalf("to %s, link %v, code %q", to, link, code)
		}
		return code
	}
	late := code()
	w.wait(61 * time.Minute)
	change("password-3", late).want(422, "reauthentication_not_valid")
	good := code()
	change("password-3", good).want(200)
	change("password-4", good).want(422, "reauthentication_not_valid")
	w.signIn("a@example.org", "password-3").want(200)
	w.do("GET", "/reauthenticate", "", nil).want(401, "no_authorization")
}

// TestReauthenticationGuesses checks the limit on guesses of the code: it counts per session, from
// any address, and requests without the session do not use it up.
func TestReauthenticationGuesses(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.RequireReauth, o.Config.TokenExpiry = true, 100*time.Hour
		o.Config.Limits = Limits{Header: "X-Forwarded-For", VerificationPerFive: 3}
	})
	token := w.signUp("a@example.org").text("access_token")
	w.wait(25 * time.Hour)
	w.do("GET", "/reauthenticate", token, nil).want(200)
	_, _, code := w.mail()
	wrong := map[bool]string{true: "000001", false: "000000"}[code == "000000"]
	for i := range 4 {
		w.do("POST", "/verify", "", m{"type": "email", "email": "a@example.org", "token": wrong}, "X-Forwarded-For",
			"198.51.100."+strconv.Itoa(i))
	}
	guess := func(from, nonce string) reply {
		return w.do("PUT", "/user", token, m{"password": "password-2", "nonce": nonce}, "X-Forwarded-For", from)
	}
	for i := range 3 {
		guess("203.0.113."+strconv.Itoa(i), wrong).want(422, "reauthentication_not_valid")
	}
	guess("203.0.113.9", code).want(429, "over_request_rate_limit")
	w.wait(101 * time.Second)
	guess("203.0.113.9", code).want(200)
}

// TestCurrentPassword checks that RequireCurrent makes a password change need the current password,
// except after a recovery link.
func TestCurrentPassword(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Config.RequireCurrent = true })
	token := w.signUp("a@example.org").text("access_token")
	w.do("PUT", "/user", token, m{"password": "password-2"}).want(400, "current_password_required")
	w.do("PUT", "/user", token, m{"password": "password-2", "current_password": "guess"}).want(400,
		"current_password_invalid")
	w.do("PUT", "/user", token, m{"password": "password-1", "current_password": "password-1"}).want(422,
		"same_password")
	w.do("PUT", "/user", token, m{"password": "password-2", "current_password": "password-1"}).want(200)
	w.post("/recover", m{"email": "a@example.org"}).want(200)
	_, _, code := w.mail()
	recovered := w.post("/verify",
		m{"type": "recovery", "email": "a@example.org", "token": code}).want(200).text("access_token")
	w.do("PUT", "/user", recovered, m{"password": "password-3"}).want(200)
	w.do("GET", "/user", token, nil).want(403, "session_not_found") // a new password ends the other sessions
}

// TestNotifications checks that enabled notifications are sent for every change, in the user's
// language, and disabled ones are not.
func TestNotifications(t *testing.T) {
	all := []string{"password_changed", "email_changed", "phone_changed", "identity_linked", "identity_unlinked",
		"mfa_factor_enrolled", "mfa_factor_unenrolled"}
	for _, on := range []bool{true, false} {
		w := newWorld(t, func(o *Options) {
			o.Config.Mail.Notifications = map[string]bool{}
			for _, name := range all {
				o.Config.Mail.Notifications[name] = on
			}
			o.Config.PhoneAutoconfirm = false
			o.Config.Mail.SingleConfirmation = true
			o.Config.Mail.Translations = template.Translations{"xx": {
				template.PasswordChanged:     {Subject: "xx password"},
				template.MFAFactorEnrolled:   {Subject: "xx factor added"},
				template.MFAFactorUnenrolled: {Subject: "xx factor removed"},
				template.PhoneChanged:        {Subject: "xx phone"}, template.EmailChanged: {Subject: "xx email"},
			}}
		})
		s := w.post("/signup", m{"email": "a@example.org", "password": "password-1",
			"data": m{"language": "xx"}}).want(200)
		token := s.text("access_token")
		w.do("PUT", "/user", token, m{"password": "password-2"}).want(200)

		f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
		code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
		if err != nil {
			t.Fatal(err)
		}
		token = w.do("POST", "/factors/"+f.text("id")+"/verify", token,
			m{"challenge_id": c.text("id"), "code": code}).want(200).text("access_token")
		w.do("DELETE", "/factors/"+f.text("id"), token, nil).want(200)

		// the first number is no change and sends no notification
		for _, phone := range []string{"252611111111", "252622222222"} {
			w.do("PUT", "/user", token, m{"phone": phone}).want(200)
			w.post("/verify", m{"type": "phone_change", "phone": phone, "token": w.lastCode()}).want(200)
		}

		w.do("PUT", "/user", token, m{"email": "b@example.org"}).want(200)
		var link string
		for _, mail := range w.mails {
			if found := codeForm.FindStringSubmatch(mail.HTML); found != nil {
				link = found[1]
			}
		}
		w.post("/verify", m{"type": "email_change", "email": "b@example.org", "token": link}).want(200)

		var got []string
		for _, mail := range w.mails {
			if codeForm.MatchString(mail.HTML) {
				continue
			}
			got = append(got, mail.To[0]+" "+mail.Subject)
			if !strings.Contains(mail.HTML, `lang="xx"`) {
				t.Errorf("not in the user's language: %s", mail.HTML)
			}
		}
		want := []string{
			"a@example.org xx password", "a@example.org xx factor added", "a@example.org xx factor removed",
			"a@example.org xx phone", "a@example.org xx email",
		}
		if !on {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("notifications enabled: %v; mails:\n%s\nwant\n%s", on, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
	}
}
