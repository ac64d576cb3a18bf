package auth

import (
	"context"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/mail"
)

// noMailServer is where nobody listens.
type noMailServer struct{}

func (noMailServer) SendMail(ctx context.Context, _ pgx.Tx, _ mail.Message) error {
	_, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:1")
	return Undelivered{Cause: err}
}

// TestMailServerDown: a mail that cannot be sent is said to be the mail's failure, not the database's, and leaves no account
// that nobody can confirm.
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
