package auth

import (
	"strings"
	"testing"
)

// TestUnverifiedTakeover checks that an identity with an unverified address loses its account when
// the owner of the address signs up or uses a code.
func TestUnverifiedTakeover(t *testing.T) {
	for way, confirm := range map[string]func(*world){
		"signup": func(w *world) {
			w.post("/signup", m{"email": "victim@example.org", "password": "password-1"}).want(200)
			_, _, code := w.mail()
			w.post("/verify", m{"type": "signup", "email": "victim@example.org", "token": code}).want(200)
			w.signIn("victim@example.org", "password-1").want(200)
		},
		"otp": func(w *world) {
			w.post("/otp", m{"email": "victim@example.org"}).want(200)
			_, _, code := w.mail()
			w.post("/verify", m{"type": "email", "email": "victim@example.org", "token": code}).want(200)
		},
		"recover": func(w *world) {
			w.post("/recover", m{"email": "victim@example.org"}).want(200)
			_, link, _ := w.mail()
			w.follow(link)
		},
	} {
		t.Run(way, func(t *testing.T) {
			w, f := withProviders(t, confirming)
			f.claims = m{"email": "victim@example.org", "email_verified": false, "name": "Mallory"}
			w.through("/authorize?provider=corp")
			w.mail() // asks the owner to confirm the provider's user
			confirm(w)
			if to := w.through("/authorize?provider=corp"); to.Query().Get("error_code") != "provider_email_needs_verification" {
				t.Errorf("signed in with the unverified address: %s", to)
			}
			if n := w.count(`
				select count(*) from auth.users u join auth.identities i on i.user_id = u.id
				 where u.email = 'victim@example.org' and u.email_confirmed_at is not null and i.provider = 'email'
				   and u.raw_app_meta_data = '{"provider":"email","providers":["email"]}' and not u.raw_user_meta_data ? 'name'
				   and (select count(*) from auth.identities o where o.user_id = u.id) = 1`); n != 1 {
				t.Error("the account is not confirmed with only its owner's identity and metadata")
			}
		})
	}
}

// TestPreRegistration checks that a password that a stranger chose for an address opens nothing
// once the owner of the address has signed in by a code or a link that does not belong to the
// stranger's sign-up.
func TestPreRegistration(t *testing.T) {
	for way, enter := range map[string]func(w *world){
		"code": func(w *world) {
			w.post("/otp", m{"email": "victim@example.org"}).want(200)
			_, _, code := w.mail()
			w.post("/verify", m{"type": "email", "email": "victim@example.org", "token": code}).want(200)
		},
		"magic link": func(w *world) {
			w.post("/magiclink", m{"email": "victim@example.org"}).want(200)
			_, link, _ := w.mail()
			w.follow(link)
		},
		"recovery": func(w *world) {
			w.post("/recover", m{"email": "victim@example.org"}).want(200)
			_, link, _ := w.mail()
			w.follow(link)
		},
	} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, confirming)
			w.post("/signup", m{"email": "victim@example.org", "password": "attacker-1"}).want(200)
			w.mail()
			enter(w)
			if n := w.count(`select count(*) from auth.users where email_confirmed_at is not null`); n != 1 {
				t.Fatal("the owner is not signed in")
			}
			w.signIn("victim@example.org", "attacker-1").want(400, "invalid_credentials")
		})
	}
	t.Run("text message", func(t *testing.T) {
		w := newWorld(t, confirming)
		w.post("/signup", m{"phone": "15550001", "password": "attacker-1"}).want(200)
		w.post("/otp", m{"phone": "15550001"}).want(200)
		text := w.texts[len(w.texts)-1]
		w.post("/verify", m{"type": "sms", "phone": "15550001",
			"token": text[strings.LastIndex(text, " ")+1:]}).want(200)
		w.post("/token?grant_type=password", m{"phone": "15550001", "password": "attacker-1"}).want(400,
			"invalid_credentials")
	})
	t.Run("the sign-up's own link", func(t *testing.T) {
		w := newWorld(t, confirming)
		w.post("/signup", m{"email": "a@example.org", "password": "password-1"}).want(200)
		_, link, _ := w.mail()
		w.follow(link)
		w.signIn("a@example.org", "password-1").want(200)
	})
}

// TestUnverifiedSessionEnds checks that with AllowUnverifiedEmail the session of the unverified
// user ends, too.
func TestUnverifiedSessionEnds(t *testing.T) {
	w, f := withProviders(t, confirming, func(o *Options) { o.Config.AllowUnverifiedEmail = true })
	f.claims = m{"email": "victim@example.org", "email_verified": false}
	unverified := fragment(t, w.through("/authorize?provider=corp")).Get("access_token")
	w.do("PUT", "/user", unverified, m{"password": "attacker-1"}).want(200)
	w.post("/signup", m{"email": "victim@example.org", "password": "password-1"}).want(200)
	w.do("GET", "/user", unverified, nil).want(403, "session_not_found")
	w.mail()
	_, _, code := w.mail()
	w.post("/verify", m{"type": "signup", "email": "victim@example.org", "token": code}).want(200)
	w.signIn("victim@example.org", "attacker-1").want(400, "invalid_credentials")
	w.signIn("victim@example.org", "password-1").want(200)
}

// TestAnotherAddressVerified checks that a provider which verifies one address does not confirm
// another, and that an unverified address of an account does not link the owner of the address to
// it.
func TestAnotherAddressVerified(t *testing.T) {
	w, f := withProviders(t, confirming)
	f.claims = m{"email": "victim@example.org", "email_verified": false}
	w.through("/authorize?provider=corp")
	f.claims = m{"email": "mallory@example.org", "email_verified": true}
	if q := fragment(t, w.through("/authorize?provider=corp")); q.Get("access_token") != "" {
		t.Error("the verified address confirmed another one")
	}
	if n := w.count(`select count(*) from auth.users where email_confirmed_at is not null`); n != 0 {
		t.Errorf("%d users are confirmed", n)
	}
	// Mallory's provider later names the address of another user.
	f.claims = m{"sub": "person-2", "email": "mallory@example.org", "email_verified": true}
	mallory := fragment(t, w.through("/authorize?provider=corp")).Get("access_token")
	f.claims = m{"sub": "person-2", "email": "Other@example.org", "email_verified": false}
	w.through("/authorize?provider=corp")
	f.emails = []m{{"email": "other@example.org", "verified": true, "primary": true}}
	other := fragment(t, w.through("/authorize?provider=github")).Get("access_token")
	if a, b := w.do("GET", "/user", mallory, nil).want(200),
		w.do("GET", "/user", other, nil).want(200); a.text("id") == b.text("id") {
		t.Error("the owner of the address is signed in to Mallory's account")
	}
}

// TestSignupOfUnconfirmed checks that, with MailerAutoconfirm, signing up with the address of an
// unconfirmed account needs the account's password or a mailed link.
func TestSignupOfUnconfirmed(t *testing.T) {
	w := newWorld(t)
	w.do("POST", "/admin/users", w.admin(), m{"email": "a@example.org", "password": "password-1"}).want(200)
	w.do("POST", "/invite", w.admin(), m{"email": "invited@example.org"}).want(200)
	w.do("POST", "/admin/users", w.admin(),
		m{"email": "banned@example.org", "password": "password-1", "ban_duration": "1h"}).want(200)
	w.mail()
	try := func(email, password string) reply { return w.post("/signup", m{"email": email, "password": password}) }
	try("a@example.org", "another-1").want(422, "user_already_exists")
	try("invited@example.org", "another-1").want(422, "user_already_exists")
	try("banned@example.org", "password-1").want(422, "user_already_exists")
	w.post("/otp", m{"email": "a@example.org"}).want(200)
	if n := w.count(`select count(*) from auth.users where email_confirmed_at is not null`) + w.count(`select count(*) from auth.sessions`); n != 0 {
		t.Error("an account was confirmed or signed in to")
	}
	if try("a@example.org", "password-1").want(200).text("access_token") == "" {
		t.Error("the account's own password does not sign in")
	}
	_, link, _ := w.mail()
	if _, to := w.follow(link); !strings.Contains(to.Fragment, "error_code=otp_expired") {
		t.Errorf("link from before the confirmation: %s", to)
	}
	w.post("/otp", m{"email": "a@example.org"}).want(200)
	_, link, _ = w.mail()
	if _, to := w.follow(link); fragment(t, to).Get("access_token") == "" {
		t.Errorf("%s", to)
	}
}
