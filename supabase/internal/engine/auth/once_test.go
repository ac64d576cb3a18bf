package auth

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"daawo/supabase/internal/engine/auth/hook"
)

// together sends n requests at once and counts the replies by status.
func (w *world) together(n int, send func() reply) map[int]int {
	w.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	out := map[int]int{}
	for range n {
		all.Go(func() {
			r := send()
			mu.Lock()
			defer mu.Unlock()
			out[r.status]++
		})
	}
	all.Wait()
	return out
}

// TestOnce checks that only one of several concurrent requests can use a code or a link, and that
// concurrent refreshes of one token get the same new token.
func TestOnce(t *testing.T) {
	w := newWorld(t, confirming)
	w.post("/signup", m{"email": "a@example.org", "password": "password-1"}).want(200)
	_, _, code := w.mail()
	if got := w.together(6, func() reply {
		return w.post("/verify",
			m{"type": "signup", "email": "a@example.org", "token": code})
	}); got[200] != 1 || got[403] != 5 {
		t.Errorf("replies to one code: %v", got)
	}
	w.post("/recover", m{"email": "a@example.org"}).want(200)
	_, link, _ := w.mail()
	before := w.count(`select count(*) from auth.sessions`)
	w.together(6, func() reply {
		return w.do("GET", strings.TrimPrefix(link.Path, "/auth/v1")+"?"+link.RawQuery, "",
			nil)
	})
	if n := w.count(`select count(*) from auth.sessions`) - before; n != 1 {
		t.Errorf("one link created %d sessions", n)
	}
	verifier := strings.Repeat("v", 50)
	w.post("/otp", m{"email": "a@example.org", "code_challenge": verifier, "code_challenge_method": "plain"}).want(200)
	_, link, _ = w.mail()
	_, to := w.follow(link)
	if got := w.together(6, func() reply {
		return w.post("/token?grant_type=pkce", m{"auth_code": to.Query().Get("code"), "code_verifier": verifier})
	}); got[200] != 1 || got[404] != 5 {
		t.Errorf("replies to one PKCE code: %v", got)
	}
	// Several tabs of a browser may refresh at the same time.
	s := w.signIn("a@example.org", "password-1").want(200)
	var mu sync.Mutex
	next := map[string]bool{}
	if got := w.together(6, func() reply {
		r := w.refresh(s.text("refresh_token"))
		mu.Lock()
		defer mu.Unlock()
		next[r.text("refresh_token")] = true
		return r
	}); got[200] != 6 || len(next) != 1 {
		t.Errorf("one token was refreshed to %v, replies %v", next, got)
	}
}

// TestFactorHook checks that a rejection by the hook ends the sessions, even with more concurrent
// attempts than connections.
func TestFactorHook(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.Hooks.MFAVerificationAttempt = hook.Hook{URI: "pg-functions://postgres/public/attempt"}
	})
	w.db.ExecAs("supabase_admin", `
		create function public.attempt(event jsonb) returns jsonb language sql as $$
		  select case when (event ->> 'valid')::boolean then '{"decision":"continue"}'::jsonb else '{"decision":"reject","message":"enough"}' end $$;
		grant usage on schema public to supabase_auth_admin; grant execute on function public.attempt to supabase_auth_admin`)
	token := w.signUp("a@example.org").text("access_token")
	f := w.do("POST", "/factors", token, m{"factor_type": "totp"}).want(200)
	challenge := func() string {
		return w.do("POST", "/factors/"+f.text("id")+"/challenge", token, nil).want(200).text("id")
	}
	var challenges []string
	for range 12 { // the pool has eight connections
		challenges = append(challenges, challenge())
	}
	var mu sync.Mutex
	got := w.together(len(challenges), func() reply {
		mu.Lock()
		c := challenges[0]
		challenges = challenges[1:]
		mu.Unlock()
		return w.do("POST", "/factors/"+f.text("id")+"/verify", token, m{"challenge_id": c, "code": "000000"})
	})
	if got[http.StatusForbidden] != 12 {
		t.Errorf("replies %v", got)
	}
	w.do("GET", "/user", token, nil).want(403, "session_not_found")
}

// TestPasswordHook checks that the hook can reject a wrong password with its own message and end
// the sessions.
func TestPasswordHook(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.Hooks.PasswordVerificationAttempt = hook.Hook{URI: "pg-functions://postgres/public/attempt"}
	})
	w.db.ExecAs("supabase_admin", `
		create function public.attempt(event jsonb) returns jsonb language sql as $$
		  select case when (event ->> 'valid')::boolean then '{"decision":"continue"}'::jsonb
		         else '{"decision":"reject","message":"enough","should_logout_user":true}' end $$;
		grant usage on schema public to supabase_auth_admin; grant execute on function public.attempt to supabase_auth_admin`)
	token := w.signUp("a@example.org").text("access_token")
	w.signIn("a@example.org", "password-1").want(200)
	if r := w.signIn("a@example.org", "wrong").want(400, "invalid_credentials"); r.text("msg") != "enough" {
		t.Errorf("%s", r.raw)
	}
	w.do("GET", "/user", token, nil).want(403, "session_not_found")
}

// TestContactTaken checks that a change to an address or number fails if another account has taken
// it in the meantime, and that a failed link always redirects to the site.
func TestContactTaken(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) { o.Config.Mail.SingleConfirmation = true })
	id := w.do("POST", "/admin/users", w.admin(),
		m{"email": "a@example.org", "password": "password-1", "email_confirm": true}).want(200).text("id")
	token := w.signIn("a@example.org", "password-1").want(200).text("access_token")
	w.do("PUT", "/user", token, m{"email": "b@example.org", "phone": "252611234567"}).want(200)
	_, link, code := w.mail()
	text := w.lastCode()
	other := w.do("POST", "/admin/users", w.admin(),
		m{"email": "b@example.org", "phone": "252611234567"}).want(200).text("id")
	w.post("/verify", m{"type": "email_change", "email": "b@example.org", "token": code}).want(422, "email_exists")
	w.post("/verify", m{"type": "phone_change", "phone": "252611234567", "token": text}).want(422, "phone_exists")
	redirects := func(name, code string) {
		_, to := w.follow(link)
		if f := fragment(t, to); to.Host != "example.org" || f.Get("error") != name || f.Get("error_code") != code {
			t.Errorf("the link redirects to %s", to)
		}
	}
	redirects("", "email_exists")
	w.do("DELETE", "/admin/users/"+other, w.admin(), nil).want(200)
	w.db.ExecAs("supabase_admin", `alter table auth.identities rename to renamed`)
	redirects("server_error", "unexpected_failure")
	w.db.ExecAs("supabase_admin", `alter table auth.renamed rename to identities`)
	if _, to := w.follow(link); fragment(t, to).Get("access_token") == "" {
		t.Errorf("the link redirects to %s", to)
	}
	if u := w.do("GET", "/admin/users/"+id, w.admin(), nil).want(200); u.text("email") != "b@example.org" {
		t.Errorf("%s", u.raw)
	}
}
