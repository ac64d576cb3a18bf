package auth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/message/sms"
)

// slowSender blocks each message until leave is closed.
type slowSender struct{ came, leave chan struct{} }

func newSlowSender() slowSender { return slowSender{make(chan struct{}, 100), make(chan struct{})} }

func (s slowSender) take(ctx context.Context) error {
	s.came <- struct{}{}
	select {
	case <-s.leave:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slowSender) SendSMS(ctx context.Context, _ sms.Message) (string, error) {
	return "", s.take(ctx)
}

func (s slowSender) SendMail(ctx context.Context, _ pgx.Tx, _ mail.Message) error { return s.take(ctx) }

// TestSlowSender checks that with a slow sender messages are sent concurrently, users can sign in,
// and the limits hold.
func TestSlowSender(t *testing.T) {
	phone := func(i int) m { return m{"phone": fmt.Sprintf("25261000000%d", i)} }
	email := func(i int) m { return m{"email": fmt.Sprintf("p%d@example.org", i)} }
	for name, c := range map[string]struct {
		body  func(int) m
		setup func(o *Options, s slowSender)
	}{
		"SMS":  {phone, func(o *Options, s slowSender) { o.SMS = s }},
		"mail": {email, func(o *Options, s slowSender) { o.Mailer, o.DirectMail = s, true }},
		"hook": {email, func(o *Options, s slowSender) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = s.take(r.Context())
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{}`)
			}))
			t.Cleanup(service.Close)
			o.Config.Hooks.SendEmail = hook.Hook{URI: service.URL, Secrets: []string{"v1,whsec_c2VjcmV0"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlowSender()
			w := newWorld(t, confirming, func(o *Options) {
				c.setup(o, s)
				o.Config.Limits = Limits{SMSPerHour: 5, EmailPerHour: 5}
			})
			w.do("POST", "/admin/users", w.admin(),
				m{"email": "a@example.org", "password": "password-1", "email_confirm": true}).want(200)
			done := make(chan reply, 9)
			release := sync.OnceFunc(func() { close(s.leave) })
			t.Cleanup(release)
			for i := range 9 { // more than the pool has connections
				go func() { done <- w.post("/otp", c.body(i)) }()
			}
			for range 2 {
				select {
				case <-s.came:
				case <-time.After(3 * time.Second):
					t.Fatal("messages are sent one after another")
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			for range 4 { // by now all requests have done what they can
				if err := w.pool.Ping(ctx); err != nil {
					t.Fatalf("no free connection: %v", err)
				}
			}
			w.signIn("a@example.org", "password-1").want(200)
			release()
			seen := map[int]int{}
			for range 9 {
				seen[(<-done).status]++
			}
			// The limit is 5. A request may be rejected too early, but no message too many is sent.
			if seen[200] > 5 || seen[200] < 3 || seen[200]+seen[429] != 9 {
				t.Errorf("replies %v", seen)
			}
			w.wait(time.Hour)
			w.post("/otp", c.body(0)).want(200)
		})
	}
}

// TestUnsentIsNotCounted checks that messages which could not be sent do not count towards the
// limit.
func TestUnsentIsNotCounted(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) { o.Config.Limits = Limits{SMSPerHour: 1} })
	w.sms = brokenSMS{}
	for range 2 {
		w.post("/otp", m{"phone": "252611111111"}).want(422, "sms_send_failed")
	}
	w.sms = nil
	w.post("/otp", m{"phone": "252611111111"}).want(200)
	w.post("/otp", m{"phone": "252611111112"}).want(429, "over_sms_send_rate_limit")
}

// TestSendingAfterPasswordChange checks that a new password, the user's own or one by an
// administrator, ends the wait before the next message.
func TestSendingAfterPasswordChange(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Config.Mail.MaxFrequency = time.Minute })
	session := w.signUp("a@example.org")
	recover := func() reply { return w.post("/recover", m{"email": "a@example.org"}) }
	recover().want(200)
	recover().want(429, "over_email_send_rate_limit")
	changed := w.do("PUT", "/user", session.text("access_token"), m{"password": "password-2"}).want(200)
	if sent := changed.text("recovery_sent_at"); sent != "" {
		t.Errorf("recovery_sent_at is %s after the change", sent)
	}
	recover().want(200)
	recover().want(429, "over_email_send_rate_limit")
	w.do("PUT", "/admin/users/"+session.text("user.id"), w.admin(), m{"password": "password-3"}).want(200)
	recover().want(200)
}
