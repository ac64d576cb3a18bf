package auth

import "testing"

// TestMessagesAtOnce checks that concurrent requests for a message send one within the least
// interval, as one after another do.
func TestMessagesAtOnce(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) {
		o.Config.Mail.MaxFrequency, o.Config.SMS.MaxFrequency, o.Config.MFA.PhoneMaxFrequency = 0, 0, 0 // a minute each
	})
	w.do("POST", "/admin/users", w.admin(), m{"email": "a@example.org", "phone": "15550001", "password": "password-1",
		"email_confirm": true, "phone_confirm": true}).want(200)
	token := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	factor := w.do("POST", "/factors", token, m{"factor_type": "phone", "phone": "15550002"}).want(200).text("id")
	for name, send := range map[string]func() reply{
		"text to sign in":  func() reply { return w.post("/otp", m{"phone": "15550001"}) },
		"recovery":         func() reply { return w.post("/recover", m{"email": "a@example.org"}) },
		"reauthentication": func() reply { return w.do("GET", "/reauthenticate", token, nil) },
		"change of the address": func() reply {
			return w.do("PUT", "/user", token, m{"email": "b@example.org"})
		},
		"text of a factor": func() reply {
			return w.do("POST", "/factors/"+factor+"/challenge", token, m{"channel": "sms"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := w.together(8, send); got[200] != 1 || got[429] != 7 {
				t.Errorf("replies %v", got)
			}
		})
	}
}

// TestMailToFormerAddress checks that a link to the address that an account had when it was asked
// for is not stored once the address has changed.
func TestMailToFormerAddress(t *testing.T) {
	w := newWorld(t)
	id := w.signUp("a@example.org").text("user.id")
	tx, err := w.pool.Pgx().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `update auth.users set email = 'new@example.org' where id = $1`, id); err != nil {
		t.Fatal(err)
	}
	done := make(chan reply)
	go func() { done <- w.post("/recover", m{"email": "a@example.org"}) }()
	w.awaitLocks(1)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	(<-done).want(409, "conflict")
	if len(w.mails) != 0 {
		t.Errorf("mail to %s", w.mails[0].To)
	}
}
