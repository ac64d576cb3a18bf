package auth

import (
	"net/url"
	"strings"
	"testing"
	"time"
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

// TestInviteOfPreRegistration checks that an invitation removes what a stranger has stored in an
// unconfirmed account of the address: a password and an identity.
func TestInviteOfPreRegistration(t *testing.T) {
	for way, invite := range map[string]func(w *world) *url.URL{
		"mail": func(w *world) *url.URL {
			w.do("POST", "/invite", w.admin(), m{"email": "victim@example.org"}).want(200)
			_, link, _ := w.mail()
			return link
		},
		"generated link": func(w *world) *url.URL {
			link, err := url.Parse(w.do("POST", "/admin/generate_link", w.admin(),
				m{"type": "invite", "email": "victim@example.org"}).want(200).text("action_link"))
			if err != nil {
				w.t.Fatal(err)
			}
			return link
		},
	} {
		t.Run("password, "+way, func(t *testing.T) {
			w := newWorld(t, confirming)
			w.post("/signup", m{"email": "victim@example.org", "password": "attacker-1"}).want(200)
			w.mail()
			link := invite(w)
			w.post("/signup", m{"email": "victim@example.org", "password": "attacker-2"})
			for len(w.mails) > 0 {
				_, link, _ = w.mail()
			}
			if _, to := w.follow(link); fragment(t, to).Get("access_token") == "" {
				t.Fatalf("the invited user is not signed in: %s", to)
			}
			w.signIn("victim@example.org", "attacker-1").want(400, "invalid_credentials")
			w.signIn("victim@example.org", "attacker-2").want(400, "invalid_credentials")
		})
		t.Run("identity, "+way, func(t *testing.T) {
			w, f := withProviders(t, confirming)
			f.claims = m{"email": "victim@example.org", "email_verified": false}
			w.through("/authorize?provider=corp")
			w.mail()
			if _, to := w.follow(invite(w)); fragment(t, to).Get("access_token") == "" {
				t.Fatalf("the invited user is not signed in: %s", to)
			}
			if to := w.through("/authorize?provider=corp"); fragment(t, to).Get("access_token") != "" {
				t.Errorf("the stranger's identity signs in: %s", to)
			}
		})
	}
	t.Run("an administrator's account", func(t *testing.T) {
		w := newWorld(t) // only administrators make unconfirmed accounts
		w.do("POST", "/admin/users", w.admin(), m{"email": "a@example.org", "password": "password-1"}).want(200)
		w.do("POST", "/invite", w.admin(), m{"email": "a@example.org"}).want(200)
		_, link, _ := w.mail()
		w.follow(link)
		w.signIn("a@example.org", "password-1").want(200)
	})
}

// TestInviteByProvider checks that an invitation that is accepted by a provider works once, for no
// longer than its link, and not for a banned account.
func TestInviteByProvider(t *testing.T) {
	invited := func(t *testing.T) (*world, string) {
		w, f := withProviders(t, confirming)
		f.claims = m{"email": "a@example.org", "email_verified": true}
		w.do("POST", "/invite", w.admin(), m{"email": "a@example.org"}).want(200)
		_, link, _ := w.mail()
		return w, "/authorize?provider=corp&invite_token=" + link.Query().Get("token")
	}
	t.Run("once", func(t *testing.T) {
		w, path := invited(t)
		states := make(chan string, 6)
		for i := range cap(states) {
			r := w.do("GET", strings.Replace(path, "corp", []string{"corp", "google"}[i%2], 1), "", nil).want(302)
			at, err := url.Parse(r.header.Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			states <- at.Query().Get("state")
		}
		w.together(cap(states), func() reply { return w.do("GET", "/callback?code=the-code&state="+<-states, "", nil) })
		if n := w.count(`select count(*) from auth.sessions`); n != 1 {
			t.Errorf("one invitation began %d sessions", n)
		}
	})
	t.Run("late", func(t *testing.T) {
		w, path := invited(t)
		w.wait(25 * time.Hour)
		if to := w.through(path); to.Query().Get("error_code") != "invite_not_found" {
			t.Errorf("an expired invitation leads to %s", to)
		}
	})
	t.Run("banned", func(t *testing.T) {
		w, path := invited(t)
		id := ""
		if err := w.pool.Pgx().QueryRow(t.Context(), `select id::text from auth.users`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		w.do("PUT", "/admin/users/"+id, w.admin(), m{"ban_duration": "1h"}).want(200)
		if to := w.through(path); to.Query().Get("error_code") != "user_banned" {
			t.Errorf("the invitation of a banned user leads to %s", to)
		}
	})
}
