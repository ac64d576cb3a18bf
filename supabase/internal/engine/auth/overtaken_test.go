package auth

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/engine/auth/hook"
)

// TestLoginDuringPasswordChange checks that a login which has matched the old password before a
// change creates no session and does not restore the old password. The hook delays the login, as a
// full queue of hashes would.
func TestLoginDuringPasswordChange(t *testing.T) {
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
	// The same with an outdated hash, which a login replaces.
	w.restart(func(o *Options) { o.Config.PasswordCost = bcrypt.MinCost + 1 })
	during = change("password-3")
	w.signIn("a@example.org", "password-2").want(400, "invalid_credentials")
	w.signIn("a@example.org", "password-2").want(400, "invalid_credentials")
	// The same for a user who is banned during the login.
	during = func() {
		during = nil
		w.do("PUT", "/admin/users/"+s.text("user.id"), w.admin(), m{"ban_duration": "1h"}).want(200)
	}
	w.signIn("a@example.org", "password-3").want(400, "user_banned")
	if n := w.count(`select count(*) from auth.sessions`); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// awaitLocks waits until n statements wait for a lock.
func (w *world) awaitLocks(n int) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		var found int
		if err := w.db.Conn("postgres").QueryRow(w.t.Context(),
			`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).Scan(&found); err != nil {
			w.t.Fatal(err)
		}
		if found >= n {
			return
		}
	}
	w.t.Fatal("no statement waits for a lock")
}

// signOutDuring locks the rows of a table, sends a request, deletes all sessions while the request
// waits, and returns the reply.
func (w *world) signOutDuring(table string, request func() reply) reply {
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
	w.awaitLocks(1)
	if _, err := tx.Exec(w.t.Context(), `delete from auth.sessions`); err != nil {
		w.t.Fatal(err)
	}
	if err := tx.Commit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return <-done
}

// TestUpdateDuringSignOut checks that a request to change the user fails if its session ends while
// the request waits.
func TestUpdateDuringSignOut(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	w.signOutDuring("auth.users", func() reply { return w.do("PUT", "/user", token, m{"password": "password-2"}) }).
		want(403, "session_not_found")
	w.signIn("a@example.org", "password-1").want(200)
}

// TestFactorDuringSignOut checks that the verification of a factor fails if its session ends while
// the request waits.
func TestFactorDuringSignOut(t *testing.T) {
	w := newWorld(t)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200)
	code, err := totp.GenerateCode(f.text("totp.secret"), w.now())
	if err != nil {
		t.Fatal(err)
	}
	w.signOutDuring("auth.sessions", func() reply {
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": code})
	}).want(403, "session_not_found")
	if n := w.count(`select count(*) from auth.mfa_factors where status = 'verified'`); n != 0 {
		t.Error("the factor was verified")
	}
}

// TestGrantRevokedDuringExchange checks that revoking a grant also ends a session which is created
// by a concurrent exchange.
func TestGrantRevokedDuringExchange(t *testing.T) {
	for name, revoke := range map[string]func(w *world, me string, a app) reply{
		"by the user": func(w *world, me string, a app) reply {
			return w.do("DELETE", "/user/oauth/grants?client_id="+a.id, me, nil)
		},
		"by an administrator": func(w *world, _ string, a app) reply {
			return w.do("DELETE", "/admin/oauth/clients/"+a.id, w.admin(), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withOAuth)
			me := w.signUp("me@example.org")
			a := w.app("shop", "none")
			a.code(me.text("access_token"), nil)
			tx, err := w.pool.Pgx().Begin(t.Context()) // does what an exchange does
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), `select from auth.oauth_authorizations for update`); err != nil {
				t.Fatal(err)
			}
			done := make(chan reply)
			go func() { done <- revoke(w, me.text("access_token"), a) }()
			w.awaitLocks(1)
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
				t.Error("the application still has its session")
			}
		})
	}
}

// TestCopiedTokenStaysWeak checks that refresh tokens from before the second factor stop working at
// once, and that using them does not end the session.
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
		up := w.do("POST", "/factors/"+f.text("id")+"/verify", token,
			m{"challenge_id": c.text("id"), "code": code}).want(200)
		for range 2 {
			w.refresh(older).want(400, "refresh_token_not_found")
			w.refresh(s.text("refresh_token")).want(400, "refresh_token_not_found")
			w.wait(time.Minute)
		}
		next := w.refresh(up.text("refresh_token")).want(200)
		if payload(t, next.text("access_token"))["aal"] != "aal2" {
			t.Errorf("signed %v: the session is no longer aal2", signed)
		}
	}
}

// TestFactorHookCommits checks that the rows which a hook writes for a wrong code or signature are
// committed.
func TestFactorHookCommits(t *testing.T) {
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
		w.wait(time.Second) // challenges need distinct times
		f := w.do("POST", "/factors", token, m{"factor_type": kind, "friendly_name": kind}).want(200)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, m{}).want(200)
		body := answer(c)
		body["challenge_id"] = c.text("id")
		for range 2 {
			w.do("POST", "/factors/"+f.text("id")+"/verify", token, body).want(422, "mfa_verification_failed")
		}
		if n := w.count(`select count(*) from public.attempts where kind = $1`, kind); n != 2 {
			t.Errorf("%s: %d attempts are stored", kind, n)
		}
	}
	verify("totp", func(reply) m { return m{"code": "000000"} })
	verify("webauthn", func(c reply) m {
		wrongOrigin := newAuthenticator(t, "example.org", "https://evil.example")
		return m{"webauthn": m{"type": "create",
			"credential_response": wrongOrigin.create(c.at("webauthn.credential_options.publicKey"))}}
	})
}

// TestLimitsOfNetworksAndCodes checks that an IPv6 network counts as one client, and that guesses
// of one code are limited even if each comes from another address.
func TestLimitsOfNetworksAndCodes(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", TokenRefreshPerFive: 3, VerificationPerFive: 3,
			ChallengePerMinute: 3}
	})
	login := func(from string) reply {
		return w.do("POST", "/token?grant_type=password", "", m{"email": "a@example.org", "password": "x"},
			"X-Forwarded-For", from)
	}
	for _, from := range []string{"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3"} {
		login(from).want(400)
	}
	login("2001:db8::4").want(429, "over_request_rate_limit")
	login("2001:db8:0:1::4").want(400)
	for range 20 { // refused requests do not use up the limit of the home line, a /56
		login("2001:db8::5").want(429, "over_request_rate_limit")
	}
	login("2001:db8:0:2::4").want(400)
	guess := func(from string, body m) reply { return w.do("POST", "/verify", "", body, "X-Forwarded-For", from) }
	for i := range 4 {
		want := map[bool]int{true: 403, false: 429}[i < 3]
		from := "198.51.100." + strconv.Itoa(i)
		guess(from, m{"type": "email", "email": []string{"a@example.org", "A@example.org"}[i%2],
			"token": "000000"}).want(want)
		guess(from, m{"type": "sms", "phone": "+252 61 1234567", "token": "000000"}).want(want)
	}
	guess("198.51.100.9", m{"type": "email", "email": "b@example.org", "token": "000000"}).want(403)

	w.restart(func(o *Options) { o.Config.MailerAutoconfirm = true })
	token := w.signUp("c@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	for i := range 4 {
		from := "203.0.113." + strconv.Itoa(i)
		c := w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil, "X-Forwarded-For", from).want(200)
		w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c.text("id"), "code": "000000"},
			"X-Forwarded-For", from).
			want(map[bool]int{true: 422, false: 429}[i < 3])
	}
}

// TestLimitPerEndpoint checks that, as in GoTrue, a client that has used up the limit of one
// endpoint can still use the others.
func TestLimitPerEndpoint(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", SignInSignUpPerFive: 2, ChallengePerMinute: 1,
			TokenRefreshPerFive: 2}
	})
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	for _, tt := range []struct{ method, path, token string }{
		{"POST", "/signup", ""}, {"POST", "/otp", ""}, {"POST", "/magiclink", ""}, {"POST", "/recover", ""},
		{"POST", "/resend", ""}, {"PUT", "/user", token}, {"POST", "/factors/" + f.text("id") + "/challenge", token},
		{"POST", "/factors/" + f.text("id") + "/verify", token}, {"GET", "/authorize", ""},
	} {
		for i := range 3 { // invalid requests count, too
			r := w.do(tt.method, tt.path, tt.token, m{"email": "malformed"}, "X-Forwarded-For", "198.51.100.1")
			if (r.status == 429) != (i == 2) {
				t.Errorf("%s %s, request %d: %d %s", tt.method, tt.path, i+1, r.status, r.raw)
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

// TestUnknownAccountTiming checks that an unknown address and an account without a password take as
// long as a wrong password.
func TestUnknownAccountTiming(t *testing.T) {
	w := newWorld(t)
	w.signUp("none@example.org")
	w.db.ExecAs("supabase_admin", `update auth.users set encrypted_password = null`)
	w.restart(func(o *Options) { o.Config.PasswordCost, o.Config.HashesAtOnce = 11, 1 }) // a tenth of a second
	for _, email := range []string{"unknown@example.org", "none@example.org"} {
		begin := time.Now()
		w.signIn(email, "password-1").want(400, "invalid_credentials")
		if took := time.Since(begin); took < 40*time.Millisecond {
			t.Errorf("%s: rejected after only %v", email, took)
		}
	}
}

// TestClonedAuthenticator checks that a signature counter which does not grow is rejected, as the
// key may be a copy.
func TestClonedAuthenticator(t *testing.T) {
	w := newWorld(t, withWebAuthn)
	token := w.signUp("a@example.org").text("access_token")
	key := newAuthenticator(t, "example.org", rpOrigin)
	o := w.do("POST", "/passkeys/registration/options", token, m{}).want(200)
	w.do("POST", "/passkeys/registration/verify", token,
		m{"challenge_id": o.text("challenge_id"), "credential": key.create(o.at("options"))}).want(200)
	signIn := func() reply {
		o := w.post("/passkeys/authentication/options", m{}).want(200)
		return w.post("/passkeys/authentication/verify",
			m{"challenge_id": o.text("challenge_id"), "credential": key.get(o.at("options"))})
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

// changeDuring locks the rows of auth.users, sends a request, runs sql while the request waits, and
// returns the reply.
func (w *world) changeDuring(request func() reply, sql string) reply {
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
	go func() { done <- request() }()
	w.awaitLocks(1)
	if _, err := tx.Exec(w.t.Context(), sql); err != nil {
		w.t.Fatal(err)
	}
	if err := tx.Commit(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return <-done
}

// TestConcurrentUnlink checks that of two concurrent requests which delete the last two identities,
// one fails.
func TestConcurrentUnlink(t *testing.T) {
	w := newWorld(t)
	s := w.signUp("a@example.org")
	me := s.text("user.id")
	w.db.ExecAs("supabase_admin", `
		insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
		values ('g-1', '`+me+`', '{"sub":"g-1","email":"a@example.org","email_verified":true}', 'google', now(), now())`)
	u := w.do("GET", "/user", s.text("access_token"), nil).want(200)
	first := u.at("identities").([]any)[0].(map[string]any)["identity_id"].(string)
	remove := func() reply { return w.do("DELETE", "/user/identities/"+first, s.text("access_token"), nil) }
	w.changeDuring(remove, `delete from auth.identities where id <> '`+first+`'`).want(422,
		"single_identity_not_deletable")
	if n := w.count(`select count(*) from auth.identities`); n != 1 {
		t.Errorf("%d identities left", n)
	}
}

// TestConcurrentAdminUpdate checks that an administrator's update keeps changes that were made
// while it waited.
func TestConcurrentAdminUpdate(t *testing.T) {
	w := newWorld(t)
	id := w.signUp("a@example.org").text("user.id")
	update := func() reply {
		return w.do("PUT", "/admin/users/"+id, w.admin(),
			m{"app_metadata": m{"plan": "gold"}, "user_metadata": m{"name": "A"}, "password": "password-2"})
	}
	u := w.changeDuring(update,
		`update auth.users set raw_app_meta_data = raw_app_meta_data || '{"branch":"north"}', raw_user_meta_data = '{"colour":"red"}'`).want(200)
	for _, path := range []string{"app_metadata.plan", "app_metadata.branch", "user_metadata.name",
		"user_metadata.colour"} {
		if u.at(path) == nil {
			t.Errorf("%s is missing: %s", path, u.raw)
		}
	}
	u = w.do("GET", "/admin/users/"+id, w.admin(), nil).want(200)
	if u.text("app_metadata.branch") != "north" || u.text("app_metadata.plan") != "gold" {
		t.Errorf("%s", u.raw)
	}
	changeEmail := func() reply { return w.do("PUT", "/admin/users/"+id, w.admin(), m{"email": "b@example.org"}) }
	w.changeDuring(changeEmail,
		`insert into auth.users (id, aud, email) values (gen_random_uuid(), 'authenticated', 'b@example.org')`).want(422, "email_exists")
	w.changeDuring(update, `delete from auth.users`).want(404, "user_not_found")
}
