package auth

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/auth/hook"
)

// TestLoginOvertaken: a login that matched the old password before it was changed begins no session and does not bring the
// old password back. The hook stands for the queue that a login may wait in.
func TestLoginOvertaken(t *testing.T) {
	var during func()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if during != nil {
			during()
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"decision":"continue"}`))
	}))
	defer service.Close()
	w := newWorld(t, func(o *Options) {
		o.Config.Hooks.PasswordVerificationAttempt = hook.Hook{URI: service.URL, Secrets: []string{"v1,whsec_c2VjcmV0"}}
	})
	s := w.signUp("a@example.org")
	change := func(to string) func() {
		return func() {
			during = nil
			w.do("PUT", "/user", s.text("access_token"), m{"password": to}).want(200)
		}
	}
	during = change("password-2")
	w.signIn("a@example.org", "password-1").want(400, "invalid_credentials")
	// Neither does one whose hash is outdated.
	w.restart(func(o *Options) { o.Config.PasswordCost = bcrypt.MinCost + 1 })
	during = change("password-3")
	w.signIn("a@example.org", "password-2").want(400, "invalid_credentials")
	w.signIn("a@example.org", "password-2").want(400, "invalid_credentials")
	// Nor one of somebody who was banned meanwhile.
	during = func() {
		during = nil
		w.do("PUT", "/admin/users/"+s.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	}
	w.signIn("a@example.org", "password-3").want(400, "user_banned")
	if n := w.count(`select count(*) from auth.sessions`); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// waiting waits until so many statements wait for a lock.
func (w *world) waiting(n int) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		var found int
		if err := w.db.Conn("postgres").QueryRow(w.t.Context(), `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).Scan(&found); err != nil {
			w.t.Fatal(err)
		}
		if found >= n {
			return
		}
	}
	w.t.Fatal("nobody waits")
}

// signedOutBehind makes a request that waits for the rows of a table, ends every session meanwhile, and returns the reply.
func (w *world) signedOutBehind(table string, request func() reply) reply {
	w.t.Helper()
	tx, err := w.pool.Pgx().Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := tx.Exec(w.t.Context(), `select from `+table+` for update`); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan reply)
	go func() { done <- request() }()
	w.waiting(1)
	if _, err := tx.Exec(w.t.Context(), `delete from auth.sessions`); err != nil {
		w.t.Fatal(err)
	}
	if err := tx.Commit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return <-done
}

// TestUpdateOvertaken: who was signed out while a change of the account waited changes nothing.
func TestUpdateOvertaken(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	w.signedOutBehind("auth.users", func() reply { return w.do("PUT", "/user", token, m{"password": "password-2"}) }).
		want(403, "session_not_found")
	w.signIn("a@example.org", "password-1").want(200)
}

// TestFactorOvertaken: who was signed out while the answer of a factor waited is told so.
func TestFactorOvertaken(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
	code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
	if err != nil {
		t.Fatal(err)
	}
	w.signedOutBehind("auth.sessions", func() reply {
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": code})
	}).want(403, "session_not_found")
	if n := w.count(`select count(*) from auth.mfa_factors where status = 'verified'`); n != 0 {
		t.Error("the factor was verified")
	}
}

// TestGrantRevokedDuringExchange: an application that exchanges its code while it is let in no longer keeps no session.
func TestGrantRevokedDuringExchange(t *testing.T) {
	for name, revoke := range map[string]func(w *world, me string, a app) reply{
		"the user": func(w *world, me string, a app) reply {
			return w.do("DELETE", "/user/oauth/grants?client_id="+a.id, me, nil)
		},
		"an administrator": func(w *world, _ string, a app) reply {
			return w.do("DELETE", "/admin/oauth/clients/"+a.id, w.admin(), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withOAuth)
			me := w.signUp("me@example.org")
			a := w.app("clinic", "none")
			a.code(me.text("access_token"), nil)
			tx, err := w.pool.Pgx().Begin(t.Context()) // an exchange
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), `select from auth.oauth_authorizations for update`); err != nil {
				t.Fatal(err)
			}
			done := make(chan reply)
			go func() { done <- revoke(w, me.text("access_token"), a) }()
			w.waiting(1)
			for _, sql := range []string{
				`insert into auth.sessions (id, user_id, oauth_client_id) select gen_random_uuid(), user_id, client_id from auth.oauth_authorizations`,
				`delete from auth.oauth_authorizations`,
			} {
				if _, err := tx.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			(<-done).want(204)
			if n := w.count(`select count(*) from auth.sessions where oauth_client_id is not null`); n != 0 {
				t.Error("the application kept its session")
			}
		})
	}
}

// TestCopiedTokenStaysWeak: a refresh token of before the second factor never reaches aal2, however soon it is tried, and
// trying it does not sign the person out.
func TestCopiedTokenStaysWeak(t *testing.T) {
	for _, signed := range []bool{false, true} {
		w := newWorld(t, func(o *Options) { o.Config.SignedRefreshTokens = signed })
		s := w.signUp("a@example.org")
		older := s.text("refresh_token")
		s = w.refresh(older).want(200)
		token := s.text("access_token")
		f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
		code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
		if err != nil {
			t.Fatal(err)
		}
		up := w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": code}).want(200)
		for range 2 {
			w.refresh(older).want(400, "refresh_token_not_found")
			w.refresh(s.text("refresh_token")).want(400, "refresh_token_not_found")
			w.wait(time.Minute)
		}
		next := w.refresh(up.text("refresh_token")).want(200)
		if payload(t, next.text("access_token"))["aal"] != "aal2" {
			t.Errorf("signed %v: the session fell back", signed)
		}
	}
}

// TestFactorHookRemembers: what a hook writes of a wrong answer stays, for codes and for keys.
func TestFactorHookRemembers(t *testing.T) {
	w := newWorld(t, withWebAuthn, func(o *Options) {
		o.Config.Hooks.MFAVerificationAttempt = hook.Hook{URI: "pg-functions://postgres/public/attempt"}
	})
	w.db.ExecAs("supabase_admin", `
		create table public.attempts (kind text);
		create function public.attempt(event jsonb) returns jsonb language plpgsql as $$ begin
		  if not (event ->> 'valid')::boolean then insert into public.attempts values (event ->> 'factor_type'); end if;
		  return '{"decision":"continue"}'::jsonb; end $$;
		grant usage on schema public to supabase_auth_admin; grant all on public.attempts to supabase_auth_admin;
		grant execute on function public.attempt to supabase_auth_admin`)
	token := w.signUp("a@example.org").text("access_token")
	verify := func(kind string, answer func(challenge reply) m) {
		w.wait(time.Second) // no two factors are challenged at one moment
		f := w.do("POST", "/factors", token, m{"factor_type": kind, "friendly_name": kind}).want(200)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, m{}).want(200)
		body := answer(c)
		body["challenge_id"] = c.text("id")
		for range 2 {
			w.do("POST", "/factors/"+f.text("id")+"/verify", token, body).want(422, "mfa_verification_failed")
		}
		if n := w.count(`select count(*) from public.attempts where kind = $1`, kind); n != 2 {
			t.Errorf("%s: %d attempts are remembered", kind, n)
		}
	}
	verify("totp", func(reply) m { return m{"code": "000000"} })
	verify("webauthn", func(c reply) m {
		elsewhere := newAuthenticator(t, "example.org", "https://evil.example")
		return m{"webauthn": m{"type": "create", "credential_response": elsewhere.create(c.at("webauthn.credential_options.publicKey"))}}
	})
}

// TestLimitsOfNetworksAndCodes: an IPv6 network counts as one client, and one code has so many guesses, whoever makes them.
func TestLimitsOfNetworksAndCodes(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", TokenRefreshPerFive: 3, VerificationPerFive: 3, ChallengePerMinute: 3}
	})
	login := func(from string) reply {
		return w.do("POST", "/token?grant_type=password", "", m{"email": "a@example.org", "password": "x"}, "X-Forwarded-For", from)
	}
	for _, from := range []string{"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3"} {
		login(from).want(400)
	}
	login("2001:db8::4").want(429, "over_request_rate_limit")
	login("2001:db8:0:1::4").want(400)
	guess := func(from string, body m) reply { return w.do("POST", "/verify", "", body, "X-Forwarded-For", from) }
	for i := range 4 {
		want := map[bool]int{true: 403, false: 429}[i < 3]
		from := "198.51.100." + strconv.Itoa(i)
		guess(from, m{"type": "email", "email": []string{"a@example.org", "A@example.org"}[i%2], "token": "000000"}).want(want)
		guess(from, m{"type": "sms", "phone": "+252 61 1234567", "token": "000000"}).want(want)
	}
	guess("198.51.100.9", m{"type": "email", "email": "b@example.org", "token": "000000"}).want(403)

	w.restart(func(o *Options) { o.Config.MailerAutoconfirm = true })
	token := w.signUp("c@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	for i := range 4 {
		from := "203.0.113." + strconv.Itoa(i)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil, "X-Forwarded-For", from).want(200)
		w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": "000000"}, "X-Forwarded-For", from).
			want(map[bool]int{true: 422, false: 429}[i < 3])
	}
}

// TestEachRequestHasItsOwnLimit: whoever has used up one kind of request may still make another, as GoTrue has it; a link that
// was asked for too often does not keep anybody from a new password.
func TestEachRequestHasItsOwnLimit(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", SignInSignUpPerFive: 2, ChallengePerMinute: 1}
	})
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	for _, tt := range []struct{ method, path, token string }{
		{"POST", "/signup", ""}, {"POST", "/otp", ""}, {"POST", "/magiclink", ""}, {"POST", "/recover", ""}, {"POST", "/resend", ""}, {"PUT", "/user", token},
		{"POST", "/factors/" + f.text("id") + "/challenge", token}, {"POST", "/factors/" + f.text("id") + "/verify", token},
	} {
		for i := range 3 { // whatever else is wrong with the request
			r := w.do(tt.method, tt.path, tt.token, m{"email": "nobody"}, "X-Forwarded-For", "198.51.100.1")
			if (r.status == 429) != (i == 2) {
				t.Errorf("%s %s for the time number %d: %d %s", tt.method, tt.path, i+1, r.status, r.raw)
			}
		}
	}
	again := func() reply {
		return w.do("POST", "/factors/"+f.text("id")+"/challenge", token, m{}, "X-Forwarded-For", "198.51.100.1")
	}
	w.wait(59 * time.Second)
	again().want(429, "over_request_rate_limit")
	w.wait(2 * time.Second)
	again().want(200)
}

// TestNobodyIsComparedWith: an address without an account, and one without a password, are refused as late as a wrong password.
func TestNobodyIsComparedWith(t *testing.T) {
	w := newWorld(t)
	w.signUp("none@example.org")
	w.db.ExecAs("supabase_admin", `update auth.users set encrypted_password = null`)
	w.restart(func(o *Options) { o.Config.PasswordCost, o.Config.HashesAtOnce = 11, 1 }) // a tenth of a second
	for _, email := range []string{"nobody@example.org", "none@example.org"} {
		begin := time.Now()
		w.signIn(email, "password-1").want(400, "invalid_credentials")
		if took := time.Since(begin); took < 40*time.Millisecond {
			t.Errorf("%s: refused within %v", email, took)
		}
	}
}

// TestClonedAuthenticator: a key whose counter does not grow may be a copy and opens nothing.
func TestClonedAuthenticator(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	token := w.signUp("a@example.org").text("access_token")
	key := newAuthenticator(t, "example.org", rpOrigin)
	o := w.do("POST", "/passkeys/registration/options", token, m{}).want(200)
	w.do("POST", "/passkeys/registration/verify", token, m{"challenge_id": o.text("challenge_id"), "credential": key.create(o.at("options"))}).want(200)
	signIn := func() reply {
		o := w.post("/passkeys/authentication/options", m{}).want(200)
		return w.post("/passkeys/authentication/verify", m{"challenge_id": o.text("challenge_id"), "credential": key.get(o.at("options"))})
	}
	key.count += 5
	signIn().want(200)
	key.count -= 3
	signIn().want(400, "webauthn_verification_failed")
	key.count += 3
	signIn().want(200)

	factor := newAuthenticator(t, "example.org", rpOrigin)
	f := w.do("POST", "/factors", token, m{"factor_type": "webauthn"}).want(200)
	verify := func(kind string, answer func(any) m) reply {
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, m{}).want(200)
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"),
			"webauthn": m{"type": kind, "credential_response": answer(c.at("webauthn.credential_options.publicKey"))}})
	}
	verify("create", factor.create).want(200)
	factor.count--
	verify("request", factor.get).want(422, "mfa_verification_failed")
	verify("request", factor.get).want(200)
}

// held lets do wait for the rows of auth.users, changes something meanwhile and gives the answer.
func (w *world) held(do func() reply, meanwhile string) reply {
	w.t.Helper()
	tx, err := w.db.Conn("postgres").Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(w.t.Context()) }()
	if _, err := tx.Exec(w.t.Context(), `select from auth.users for update`); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan reply)
	go func() { done <- do() }()
	w.waiting(1)
	if _, err := tx.Exec(w.t.Context(), meanwhile); err != nil {
		w.t.Fatal(err)
	}
	if err := tx.Commit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return <-done
}

// TestUnlinkOvertaken: of two requests that take the last two ways in away, one is refused.
func TestUnlinkOvertaken(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	me := s.text("user.id")
	w.db.ExecAs("supabase_admin", `
		insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
		values ('g-1', '`+me+`', '{"sub":"g-1","email":"a@example.org","email_verified":true}', 'google', now(), now())`)
	u := w.do("GET", "/user", s.text("access_token"), nil).want(200)
	first := u.at("identities").([]any)[0].(map[string]any)["identity_id"].(string)
	remove := func() reply { return w.do("DELETE", "/user/identities/"+first, s.text("access_token"), nil) }
	w.held(remove, `delete from auth.identities where id <> '`+first+`'`).want(422, "single_identity_not_deletable")
	if n := w.count(`select count(*) from auth.identities`); n != 1 {
		t.Errorf("%d identities are left", n)
	}
}

// TestAdminUpdateOvertaken: what an administrator changes leaves what was changed while the change waited.
func TestAdminUpdateOvertaken(t *testing.T) {
	w := newWorld(t)
	id := w.signUp("a@example.org").text("user.id")
	update := func() reply {
		return w.do("PUT", "/admin/users/"+id, w.admin(), m{"app_metadata": m{"plan": "gold"}, "user_metadata": m{"name": "A"}, "password": "password-2"})
	}
	u := w.held(update, `update auth.users set raw_app_meta_data = raw_app_meta_data || '{"clinic":"Burao"}', raw_user_meta_data = '{"colour":"red"}'`).want(200)
	for _, path := range []string{"app_metadata.plan", "app_metadata.clinic", "user_metadata.name", "user_metadata.colour"} {
		if u.at(path) == nil {
			t.Errorf("%s is gone: %s", path, u.raw)
		}
	}
	u = w.do("GET", "/admin/users/"+id, w.admin(), nil).want(200)
	if u.text("app_metadata.clinic") != "Burao" || u.text("app_metadata.plan") != "gold" {
		t.Errorf("%s", u.raw)
	}
	readdress := func() reply { return w.do("PUT", "/admin/users/"+id, w.admin(), m{"email": "b@example.org"}) }
	w.held(readdress, `insert into auth.users (id, aud, email) values (gen_random_uuid(), 'authenticated', 'b@example.org')`).want(422, "email_exists")
	w.held(update, `delete from auth.users`).want(404, "user_not_found")
}
