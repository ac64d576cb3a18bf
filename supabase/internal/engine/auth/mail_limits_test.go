package auth

import (
	"fmt"
	"testing"
	"time"
)

// counted turns on the limits of mails that a public address has.
func counted(o *Options) {
	o.Config.Limits = Limits{Header: "X-Forwarded-For", EmailPerHour: 30,
		Mail: MailLimits{Gap: time.Minute, PerAddress: 3, PerNetwork: 2}}
	o.Config.DisableSignup, o.Config.HideAccounts = true, true
}

// TestMailBomb checks that a stranger cannot fill a mailbox: one mail a minute, a few an hour, and
// a limit for his network. Requests for an address without an account count in the same way.
func TestMailBomb(t *testing.T) {
	w := newWorld(t, counted)
	w.do("POST", "/admin/users", w.admin(), m{"email": "member@example.org", "email_confirm": true}).want(200)
	ask := func(address, from string) int {
		return w.do("POST", "/otp", "", m{"email": address, "create_user": false}, "X-Forwarded-For", from).status
	}
	for _, address := range []string{"member@example.org", "unknown@example.org"} {
		seen := map[int]int{}
		for i := range 40 { // from another home each time, one a second
			seen[ask(address, fmt.Sprintf("2001:db8:%x::1", i))]++
			w.wait(time.Second)
		}
		if seen[200] != 1 || seen[429] != 39 {
			t.Errorf("40 requests for %s in 40 seconds: %v", address, seen)
		}
		for i := range 3 { // the third is one too many for an hour
			w.wait(time.Minute)
			if got := ask(address, fmt.Sprintf("2001:db9:%x::1", i)); (got == 200) != (i < 2) {
				t.Errorf("request %d of the hour for %s: %d", i+2, address, got)
			}
		}
	}
	if len(w.mails) != 3 {
		t.Errorf("%d mails", len(w.mails))
	}
	for i := range 10 { // one home line, a /56: four clients' share
		if got := ask(fmt.Sprintf("a%d@example.org", i), fmt.Sprintf("2001:dba:0:%x::1", i)); (got == 200) != (i < 8) {
			t.Errorf("request %d of a home line: %d", i, got)
		}
	}
}

// TestMailRequestsAlike checks that requests for mails get the same status and body for known and
// unknown addresses, and no reply before the step of time that both wait for.
func TestMailRequestsAlike(t *testing.T) {
	w := newWorld(t, counted, func(o *Options) { o.Config.Limits.EmailPerHour = 2 })
	for i := range 5 {
		w.do("POST", "/admin/users", w.admin(),
			m{"email": fmt.Sprintf("known%d@example.org", i), "email_confirm": i > 0}).want(200)
	}
	for i, c := range []struct {
		path string
		body m
	}{
		{"/resend", m{"type": "signup"}}, {"/otp", m{"create_user": false}}, {"/otp", m{}}, {"/magiclink", m{}},
		{"/recover", m{}}, // beyond the limit of all mails together
	} {
		replies := map[string]bool{}
		for _, who := range []string{"known", "unknown"} {
			c.body["email"] = fmt.Sprintf("%s%d@example.org", who, i)
			begun := time.Now()
			got := w.do("POST", c.path, "", c.body, "X-Forwarded-For", fmt.Sprintf("2001:db8:%x::1", i))
			if took := time.Since(begun); took < 250*time.Millisecond {
				t.Errorf("%s replies for a %s address after %s", c.path, who, took)
			}
			replies[fmt.Sprint(got.status, " ", got.raw)] = true
		}
		if len(replies) != 1 {
			t.Errorf("%s tells which address is known: %v", c.path, replies)
		}
	}
	if len(w.mails) != 2 {
		t.Errorf("%d mails", len(w.mails))
	}
}
