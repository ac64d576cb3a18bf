package auth

import (
	"fmt"
	"testing"
	"time"
)

// TestBurst: with Burst a client may send so many requests at once, whatever the limit is, then as
// many as the limit allows. Anonymous sign-ups have no burst of their own. Without Burst the limit
// is the burst.
func TestBurst(t *testing.T) {
	w := newWorld(t, confirming)
	for _, c := range []struct {
		name, path  string
		body        m
		burst, want int           // want is the number of requests at once
		gap         time.Duration // until the next one
	}{
		{"token", "/token?grant_type=refresh_token", m{"refresh_token": "none"}, 30, 30, 2 * time.Second},
		{"recover", "/recover", m{"email": "a@example.org"}, 30, 30, 50 * time.Second},
		{"factor", "/factors/x/verify", m{}, 30, 30, 4 * time.Second},
		{"anonymous", "/signup", m{}, 30, 35, time.Hour / 35},
		{"token, in the stack", "/token?grant_type=refresh_token", m{"refresh_token": "none"}, 0, 150, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.restart(func(o *Options) {
				o.Config.Limits = Limits{
					Header: "X-Forwarded-For", Burst: c.burst, TokenRefreshPerFive: 150, SignInSignUpPerFive: 6,
					AnonymousPerHour: 35, ChallengePerMinute: 15,
				}
			})
			w.wait(time.Hour) // all buckets are empty
			ask := func() int { return w.do("POST", c.path, "", c.body, "X-Forwarded-For", "192.0.2.9").status }
			for i := range c.want {
				if status := ask(); status == 429 {
					t.Fatalf("request %d is refused", i+1)
				}
			}
			if status := ask(); status != 429 {
				t.Fatalf("request %d: %d", c.want+1, status)
			}
			w.wait(c.gap - time.Second)
			if status := ask(); c.gap > 2*time.Second && status != 429 {
				t.Errorf("too early: %d", status)
			}
			w.wait(time.Second + time.Millisecond)
			if status := ask(); status == 429 {
				t.Error("refused after the gap")
			}
			if status := ask(); status != 429 {
				t.Errorf("a second one after the gap: %d", status)
			}
		})
	}
}

// TestSignInsByNetwork checks that the links of one home line, a /56, share a limit, which is four
// times that of a client.
func TestSignInsByNetwork(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Config.Limits = Limits{Header: "X-Forwarded-For", TokenRefreshPerFive: 2}
	})
	try := func(from string) int {
		return w.do("POST", "/token?grant_type=password", "", m{"email": "a@example.org", "password": "wrong"},
			"X-Forwarded-For", from).status
	}
	for i := range 10 {
		if got := try(fmt.Sprintf("2001:db8:0:%x::1", i)); (got == 429) != (i >= 8) {
			t.Errorf("sign-in %d of the line: %d", i+1, got)
		}
	}
	if got := try("2001:db8:0:100::1"); got == 429 {
		t.Error("the next line is refused")
	}
}
