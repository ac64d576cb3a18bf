package auth

import (
	"math"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// TestRoundTrips counts the round trips to the database that frequent requests make on a connection
// that knows their statements: begin, two reads, the writes and commit for a refresh; begin, one
// read and rollback for an unknown token.
func TestRoundTrips(t *testing.T) {
	w := newWorld(t)
	var sent atomic.Int64
	url := testdb.Relay(t, w.db.TCPURL("supabase_auth_admin"), func([]byte) { sent.Add(1) },
		func([]byte) bool { return false })
	pool, err := pool.Open(t.Context(), pool.Config{URL: url, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.restart(func(o *Options) { o.DB = pool })
	session := w.signUp("a@example.org")
	for _, c := range []struct {
		name string
		want int64
		send func()
	}{
		{"a refresh", 5, func() { session = w.refresh(session.text("refresh_token")).want(200) }},
		{"an unknown token", 3, func() { w.refresh("abcdefghijkl").want(400, "refresh_token_not_found") }},
		{"GET /user", 1, func() { w.do("GET", "/user", session.text("access_token"), nil).want(200) }},
	} {
		least := int64(math.MaxInt64)
		for range 5 { // the first prepares the statements; the pool pings a connection that was not used for a second
			before := sent.Load()
			c.send()
			least = min(least, sent.Load()-before)
		}
		if least != c.want {
			t.Errorf("%s took %d round trips, want %d", c.name, least, c.want)
		}
		before := sent.Load()
		session = w.refresh(session.text("refresh_token")).want(200)
		if got := sent.Load() - before; c.want == 3 && got > 6 { // 5 and a ping
			t.Errorf("the refresh after %s took %d round trips, as if its statements were forgotten", c.name, got)
		}
	}
}

// TestRefreshFailsInTheMiddle checks that a refresh whose last writes fail changes nothing, and
// that the connection then works.
func TestRefreshFailsInTheMiddle(t *testing.T) {
	for name, signed := range map[string]bool{"stored": false, "signed": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *Options) { o.Config.SignedRefreshTokens = signed })
			token := w.signUp("a@example.org").text("refresh_token")
			w.db.Exec(`alter table auth.audit_log_entries add constraint refused check (payload ->> 'action' <> 'token_refreshed') not valid`)
			w.refresh(token).want(500)
			w.db.Exec(`alter table auth.audit_log_entries drop constraint refused`)
			next := w.refresh(token).want(200)
			if next.text("refresh_token") == token {
				t.Error("the token was not replaced")
			}
			w.refresh(next.text("refresh_token")).want(200)
		})
	}
}
