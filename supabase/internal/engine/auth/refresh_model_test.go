package auth

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRefreshModel compares refreshes with random tokens at random times with a model of the token
// family: the replies, and which token is active.
func TestRefreshModel(t *testing.T) {
	w := newWorld(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s := w.signUp(string(rune('a'+n%26)) + time.Duration(n).String() + "@example.org")
		type row struct {
			token   string
			parent  int
			revoked bool
			at      time.Time
		}
		rows := []row{{token: s.text("refresh_token"), parent: -1, at: w.now()}}
		active := func() int {
			for i := len(rows) - 1; i >= 0; i-- {
				if !rows[i].revoked {
					return i
				}
			}
			return -1
		}
		rt.Repeat(map[string]func(*rapid.T){
			"wait": func(rt *rapid.T) {
				w.wait(time.Duration(rapid.IntRange(1, 15).Draw(rt,
					"seconds")) * time.Second)
			},
			"refresh": func(rt *rapid.T) {
				i := rapid.IntRange(0, len(rows)-1).Draw(rt, "token")
				r := w.refresh(rows[i].token)
				now, stored := w.now(), w.now().Truncate(time.Microsecond) // the precision of Postgres
				if rows[i].revoked {
					if a := active(); a >= 0 && rows[a].parent == i {
						if r.status != 200 || r.text("refresh_token") != rows[a].token {
							rt.Fatalf("the parent of the active token got %d %s", r.status, r.raw)
						}
						return
					}
					if now.After(rows[i].at.Add(10 * time.Second)) {
						if r.status != 400 || r.text("error_code") != "refresh_token_already_used" {
							rt.Fatalf("an old token got %d %s", r.status, r.raw)
						}
						for j := range rows {
							if !rows[j].revoked {
								rows[j].revoked, rows[j].at = true, stored
							}
						}
						return
					}
				}
				if r.status != 200 {
					rt.Fatalf("a good token got %d %s", r.status, r.raw)
				}
				for _, other := range rows {
					if other.token == r.text("refresh_token") {
						rt.Fatal("a token was issued twice")
					}
				}
				rows[i].revoked, rows[i].at = true, stored
				rows = append(rows, row{token: r.text("refresh_token"), parent: i, at: stored})
			},
		})
	})
}
