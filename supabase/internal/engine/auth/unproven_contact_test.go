package auth

import (
	"net/url"
	"strings"
	"testing"
)

// codeOfText returns the code of the last text message.
func codeOfText(w *world) string {
	w.t.Helper()
	if len(w.texts) == 0 {
		w.t.Fatal("no text was sent")
	}
	text := w.texts[len(w.texts)-1]
	return text[strings.LastIndex(text, " ")+1:]
}

// signUpByPhone makes an account with a proven number and returns its access token.
func signUpByPhone(w *world, phone string) string {
	w.t.Helper()
	w.post("/otp", m{"phone": phone}).want(200)
	return w.post("/verify", m{"type": "sms", "phone": phone, "token": codeOfText(w)}).want(200).text("access_token")
}

// linkIdentity links the identity of a provider to the account of an access token.
func linkIdentity(w *world, provider, token string) {
	w.t.Helper()
	begun := w.do("GET", "/user/identities/authorize?skip_http_redirect=true&provider="+provider, token, nil).want(200)
	at, err := url.Parse(begun.text("url"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.do("GET", "/callback?code=the-code&state="+at.Query().Get("state"), "", nil).want(302)
}

// enterings are the ways in which the owner of victim@example.org gets an access token.
var enterings = map[string]func(*world, *fakeProvider) string{
	"signup": func(w *world, _ *fakeProvider) string {
		w.post("/signup", m{"email": "victim@example.org", "password": "password-1"}).want(200)
		_, _, code := w.mail()
		return w.post("/verify", m{"type": "signup", "email": "victim@example.org",
			"token": code}).want(200).text("access_token")
	},
	"code": func(w *world, _ *fakeProvider) string {
		w.post("/otp", m{"email": "victim@example.org"}).want(200)
		_, _, code := w.mail()
		return w.post("/verify", m{"type": "email", "email": "victim@example.org",
			"token": code}).want(200).text("access_token")
	},
	"provider": func(w *world, f *fakeProvider) string {
		f.claims = m{"sub": "the-victim", "email": "victim@example.org", "email_verified": true}
		return fragment(w.t, w.through("/authorize?provider=google")).Get("access_token")
	},
	"invitation": func(w *world, _ *fakeProvider) string {
		w.do("POST", "/invite", w.admin(), m{"email": "victim@example.org"}).want(200)
		_, link, _ := w.mail()
		_, to := w.follow(link)
		return fragment(w.t, to).Get("access_token")
	},
	"change of the address": func(w *world, _ *fakeProvider) string {
		token := signUpByPhone(w, "15550009")
		w.do("PUT", "/user", token, m{"email": "victim@example.org"}).want(200)
		_, link, _ := w.mail()
		_, to := w.follow(link)
		return fragment(w.t, to).Get("access_token")
	},
}

// TestUnprovenAddressBesideNumber checks that an address that an account holds unproven, beside its
// proven number, leads its owner into another account, and is then no longer held by the first.
func TestUnprovenAddressBesideNumber(t *testing.T) {
	for way, enter := range enterings {
		t.Run(way, func(t *testing.T) {
			w, f := withProviders(t, confirming)
			mallory := signUpByPhone(w, "15550001")
			f.claims = m{"email": "victim@example.org", "email_verified": false}
			linkIdentity(w, "corp", mallory)
			before := w.do("GET", "/user", mallory, nil).want(200)
			if before.text("email") != "victim@example.org" || before.text("email_confirmed_at") != "" {
				t.Fatalf("the account does not hold the address unproven: %s", before.raw)
			}
			_, stale, _ := w.mail()
			victim := w.do("GET", "/user", enter(w, f), nil).want(200)
			if victim.text("id") == before.text("id") || victim.text("email") != "victim@example.org" ||
				victim.text("email_confirmed_at") == "" || victim.text("phone") == "15550001" {
				t.Errorf("the owner of the address is signed in to %s %s %s", victim.text("id"), victim.text("email"),
					victim.text("phone"))
			}
			after := w.do("GET", "/user", mallory, nil).want(200)
			if after.text("email") != "" || after.text("phone") != "15550001" {
				t.Errorf("the other account has %s and %s", after.text("email"), after.text("phone"))
			}
			if _, to := w.follow(stale); fragment(t, to).Get("access_token") != "" {
				t.Errorf("the link of the other account leads to %s", to)
			}
		})
	}
	t.Run("recovery", func(t *testing.T) {
		w, f := withProviders(t, confirming)
		mallory := signUpByPhone(w, "15550001")
		f.claims = m{"email": "victim@example.org", "email_verified": false}
		linkIdentity(w, "corp", mallory)
		w.mail()
		w.post("/recover", m{"email": "victim@example.org"}).want(200)
		if len(w.mails) != 0 {
			t.Error("a link to the account was sent")
		}
		w.post("/otp", m{"email": "victim@example.org", "create_user": false}).want(422, "otp_disabled")
	})
	t.Run("the account's own confirmation", func(t *testing.T) {
		w, f := withProviders(t, confirming)
		token := signUpByPhone(w, "15550001")
		f.claims = m{"email": "me@example.org", "email_verified": false}
		linkIdentity(w, "corp", token)
		w.post("/resend", m{"type": "signup", "email": "me@example.org"}).want(200)
		w.mail()
		_, _, code := w.mail()
		w.post("/verify", m{"type": "signup", "email": "me@example.org", "token": code}).want(200)
		if u := w.do("GET", "/user", token, nil).want(200); u.text("email_confirmed_at") == "" {
			t.Errorf("%s", u.raw)
		}
	})
}

// TestUnprovenNumberBesideAddress is the reverse: the owner of a number that an account holds
// unproven, beside its proven address, gets another account.
func TestUnprovenNumberBesideAddress(t *testing.T) {
	for way, body := range map[string]m{
		"code":   {"phone": "15550001"},
		"signup": {"phone": "15550001", "password": "password-2"},
	} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, confirming)
			made := w.do("POST", "/admin/users", w.admin(), m{"email": "a@example.org", "email_confirm": true,
				"phone": "15550001", "password": "password-1"}).want(200)
			path := map[string]string{"code": "/otp", "signup": "/signup"}[way]
			w.post(path, body).want(200)
			owner := w.post("/verify", m{"type": "sms", "phone": "15550001", "token": codeOfText(w)}).want(200)
			if owner.text("user.id") == made.text("id") || owner.text("user.email") != "" {
				t.Errorf("the owner of the number is signed in to the account of %s", owner.text("user.email"))
			}
			other := w.signIn("a@example.org", "password-1").want(200)
			if other.text("user.phone") != "" {
				t.Errorf("the other account still has %s", other.text("user.phone"))
			}
		})
	}
}

// TestProvenNumberVoidsCodes checks that a code for the unproven address of an account opens
// nothing once another person has proven a number of the account.
func TestProvenNumberVoidsCodes(t *testing.T) {
	w, f := withProviders(t, confirming, func(o *Options) { o.Config.AllowUnverifiedEmail = true })
	f.claims = m{"email": "victim@example.org", "email_verified": false}
	mallory := fragment(t, w.through("/authorize?provider=corp")).Get("access_token")
	w.mail()
	w.post("/recover", m{"email": "victim@example.org"}).want(200)
	_, link, code := w.mail()
	w.do("PUT", "/user", mallory, m{"phone": "15550001"}).want(200)
	w.post("/verify", m{"type": "phone_change", "phone": "15550001", "token": codeOfText(w)}).want(200)
	w.post("/verify", m{"type": "recovery", "email": "victim@example.org", "token": code}).want(403, "otp_expired")
	if _, to := w.follow(link); fragment(t, to).Get("access_token") != "" {
		t.Errorf("%s", to)
	}
}

// TestTakeoverRemovesAccess checks that the owner of an address who takes over an unconfirmed
// account ends every access of the person who made it: sessions, second factors, passkeys, a number
// and pending changes.
func TestTakeoverRemovesAccess(t *testing.T) {
	for way, enter := range enterings {
		if way == "change of the address" {
			continue // of another account
		}
		t.Run(way, func(t *testing.T) {
			w, f := withProviders(t, confirming, func(o *Options) { o.Config.AllowUnverifiedEmail = true })
			f.claims = m{"email": "victim@example.org", "email_verified": false}
			signedIn := fragment(t, w.through("/authorize?provider=corp"))
			mallory := signedIn.Get("access_token")
			w.do("POST", "/factors", mallory, m{"factor_type": "totp"}).want(200)
			w.do("PUT", "/user", mallory, m{"phone": "15550001"}).want(200)
			w.db.Exec(`update auth.mfa_factors set status = 'verified'`)
			w.db.Exec(`
				insert into auth.webauthn_credentials (user_id, credential_id, public_key, attestation_type)
				select id, '\x01', '\x02', 'none' from auth.users`)
			w.mails = nil
			w.do("GET", "/user", enter(w, f), nil).want(200)
			w.do("GET", "/user", mallory, nil).want(403, "session_not_found")
			w.refresh(signedIn.Get("refresh_token")).want(400)
			if n := w.count(`
				select (select count(*) from auth.mfa_factors) + (select count(*) from auth.webauthn_credentials)
				     + (select count(*) from auth.users where phone_change <> '')
				     + (select count(*) from auth.identities where provider = 'corp')`); n != 0 {
				t.Errorf("%d ways into the account are left", n)
			}
		})
	}
}

// TestPasswordChangeEndsChanges checks that a change of an address or number that a thief of a
// session began cannot be continued once the owner has changed the password.
func TestPasswordChangeEndsChanges(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) { o.Config.Mail.SingleConfirmation = true })
	w.do("POST", "/admin/users", w.admin(), m{"email": "a@example.org", "email_confirm": true, "phone": "15550001",
		"phone_confirm": true, "password": "password-1"}).want(200)
	thief := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	owner := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	w.do("PUT", "/user", thief, m{"email": "thief@example.org", "phone": "15550002"}).want(200)
	w.do("PUT", "/user", owner, m{"password": "password-2"}).want(200)
	w.mails, w.texts = nil, nil
	w.post("/resend", m{"type": "email_change", "email": "a@example.org"}).want(200)
	w.post("/resend", m{"type": "phone_change", "phone": "15550001"}).want(200)
	if len(w.mails)+len(w.texts) != 0 {
		t.Errorf("messages to the thief: %v %v", w.mails, w.texts)
	}
}

// TestAnonymousTakenOver checks that the account of an anonymous user is no longer anonymous once
// the owner of an address that it holds unproven has entered it.
func TestAnonymousTakenOver(t *testing.T) {
	for _, way := range []string{"signup", "code", "provider", "invitation"} {
		w, f := withProviders(t, confirming)
		anonymous := w.post("/signup", m{}).want(200)
		f.claims = m{"email": "victim@example.org", "email_verified": false}
		linkIdentity(w, "corp", anonymous.text("access_token"))
		w.mail()
		me := w.do("GET", "/user", enterings[way](w, f), nil).want(200)
		if me.text("id") != anonymous.text("user.id") || me.at("is_anonymous") != false {
			t.Errorf("%s: %s", way, me.raw)
		}
	}
}
