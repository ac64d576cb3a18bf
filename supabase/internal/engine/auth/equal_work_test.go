package auth

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// TestEqualWork counts what requests with an address do: round trips to the database, computed
// hashes and mails given to the queue. The numbers are the same for an address without an account,
// with a confirmed one and with an unconfirmed one, so that the time of the reply does not tell
// them apart.
func TestEqualWork(t *testing.T) {
	const times = 4
	w := newWorld(t, confirming, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", EmailPerHour: 1000}
	})
	var sent atomic.Int64
	url := testdb.Relay(t, w.db.TCPURL("supabase_auth_admin"), func([]byte) { sent.Add(1) },
		func([]byte) bool { return false })
	db, err := pool.Open(t.Context(), pool.Config{URL: url, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	w.restart(func(o *Options) { o.DB = db })
	p, err := build(w.options)
	if err != nil {
		t.Fatal(err)
	}
	w.e.routes = w.e.router(p)

	n := 0
	address := func(kind string) string {
		n++
		email := fmt.Sprintf("%s%d@example.org", kind, n)
		account := m{"email": email, "email_confirm": true, "password": "password-1"}
		switch kind {
		case "banned":
			account["ban_duration"] = "1h"
			fallthrough
		case "confirmed":
			w.do("POST", "/admin/users", w.admin(), account).want(200)
		case "unconfirmed":
			w.post("/signup", m{"email": email, "password": "password-1"}).want(200)
		}
		return email
	}
	for _, c := range []struct {
		name, path string
		body       m
		kinds      []string
		status     int
		code       string
	}{
		{"a sign-up", "/signup", m{"password": "password-2", "data": m{"name": "Ayan"}},
			[]string{"unknown", "confirmed", "unconfirmed"}, 200, ""},
		{"a sign-up with PKCE", "/signup", m{"password": "password-2", "code_challenge": testChallenge,
			"code_challenge_method": "s256"}, []string{"unknown", "confirmed", "unconfirmed"}, 200, ""},
		{"a code", "/otp", m{}, []string{"unknown", "confirmed"}, 200, ""},
		{"a magic link", "/magiclink", m{}, []string{"unknown", "confirmed"}, 200, ""},
		{"a recovery", "/recover", m{}, []string{"unknown", "confirmed"}, 200, ""},
		{"another confirmation", "/resend", m{"type": "signup"}, []string{"unknown", "confirmed", "unconfirmed"}, 200, ""},
		{"another message to a new address", "/resend", m{"type": "email_change"}, []string{"unknown", "confirmed"}, 200, ""},
		{"a wrong code", "/verify", m{"type": "recovery", "token": "000000"},
			[]string{"unknown", "confirmed", "unconfirmed", "banned"}, 403, "otp_expired"},
		{"a wrong password", "/token?grant_type=password", m{"password": "password-3"},
			[]string{"unknown", "confirmed", "unconfirmed", "banned"}, 400, "invalid_credentials"},
	} {
		type work struct{ trips, hashes, mails int64 }
		did := map[work][]string{}
		for _, kind := range c.kinds {
			least := work{trips: math.MaxInt64}
			for range times { // the pool pings a connection that was not used for a second
				c.body["email"] = address(kind)
				trips, hashes, mails := sent.Load(), p.passwords.Hashes(), w.handed.Load()
				w.do("POST", c.path, "", c.body).want(c.status, c.code)
				least = work{min(least.trips, sent.Load()-trips), p.passwords.Hashes() - hashes, w.handed.Load() - mails}
			}
			did[least] = append(did[least], kind)
		}
		if len(did) != 1 {
			t.Errorf("%s does other work by address: %v", c.name, did)
		}
	}
}

// TestSignupsAlike checks that on a public address the reply to a sign-up does not tell whether
// there is an account, and shows nothing that another person has sent. As long as the account is
// unconfirmed or confirmed, the id in the reply stays the same.
func TestSignupsAlike(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) {
		o.Config.Limits = Limits{Mail: MailLimits{Gap: time.Minute, PerAddress: 5, PerNetwork: 100}}
		o.Config.HideAccounts = true
	})
	w.do("POST", "/admin/users", w.admin(), m{"email": "confirmed@example.org", "email_confirm": true,
		"password": "password-1", "user_metadata": m{"secret": "one"}}).want(200)
	w.post("/signup", m{"email": "pending@example.org", "password": "password-1", "data": m{"secret": "two"}}).want(200)
	w.wait(time.Hour)
	first, shapes := map[string]reply{}, map[string]string{}
	names := []string{"unknown", "confirmed", "pending"}
	signUp := func(name string) reply {
		return w.post("/signup", m{"email": name + "@example.org", "password": "password-2", "data": m{"name": "Ayan"}})
	}
	for _, name := range names {
		r := signUp(name).want(200)
		first[name] = r
		signUp(name).want(429, "over_email_send_rate_limit")
		identity := r.at("identities").([]any)[0].(m)
		shape := strings.NewReplacer(r.text("id")[:14], "A", r.text("id")[15:], "B", name+"@", "EMAIL",
			fmt.Sprint(identity["identity_id"]), "C").Replace(r.raw)
		shapes[shape] = name
	}
	if len(shapes) != 1 {
		for shape, name := range shapes {
			t.Errorf("%s: %s", name, shape)
		}
	}
	w.wait(2 * time.Minute)
	for _, name := range names {
		if again := signUp(name).want(200); again.text("id") != first[name].text("id") {
			t.Errorf("%s: the id changes from one reply to the next", name)
		}
	}
}
