package auth

import (
	"context"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/mail"
)

// noMailServer is a Mailer without a server: connections are refused.
type noMailServer struct{}

func (noMailServer) SendMail(ctx context.Context, _ pgx.Tx, _ mail.Message) error {
	_, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:1")
	return Undelivered{Cause: err}
}

// TestMailServerDown checks that a failure to send the confirmation mail is reported as such and
// leaves no unconfirmed account.
func TestMailServerDown(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) { o.Mailer = noMailServer{} })
	r := w.post("/signup", m{"email": "a@example.org", "password": "password-1"}).want(500, "unexpected_failure")
	if r.text("msg") != "Error sending confirmation email" {
		t.Error(r.raw)
	}
	if n := w.count(`select count(*) from auth.users`); n != 0 {
		t.Errorf("%d accounts", n)
	}
}
