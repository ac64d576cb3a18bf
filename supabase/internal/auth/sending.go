package auth

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/letter"
	"daawo/supabase/internal/wire"
)

// A line bounds how many transactions wait for somebody else's server at once: each holds a connection, and sign-ins need
// the others. Who waits in line holds none. A nil line lets everybody through.
type line chan struct{}

func newLine(connections int32) line { return make(line, max(1, connections/3)) }

// inLine is inTx for what may send while the transaction is open.
func inLine[T any](ctx context.Context, e *Engine, l line, fn func(pgx.Tx) (T, error)) (T, error) {
	if l != nil {
		select {
		case l <- struct{}{}:
			defer func() { <-l }()
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
	return inTx(ctx, e, fn)
}

// textLine is for what sends a text.
func (e *Engine) textLine() line {
	if h := e.config.Hooks.SendSMS; h.Enabled() && h.InDatabase() || !h.Enabled() && e.sms == nil {
		return nil
	}
	return e.texts
}

// mailLine is for what sends a mail; an outbox does not keep anybody waiting.
func (e *Engine) mailLine() line {
	if h := e.config.Hooks.SendEmail; h.Enabled() && h.InDatabase() || !h.Enabled() && !e.mailsAtOnce {
		return nil
	}
	return e.mails
}

// noticeLine is for what tells the user of a change.
func (e *Engine) noticeLine(kind string) line {
	if e.config.Mail.Notifications[notice(kind)] {
		return e.mailLine()
	}
	return nil
}

// changeLine is for a proof whose use the user is told of.
func (e *Engine) changeLine(kind string) line {
	switch kind {
	case "email_change":
		return e.noticeLine(letter.EmailChanged)
	case "phone_change":
		return e.noticeLine(letter.PhoneChanged)
	}
	return nil
}

// updateLine is for what a change of the account sends: a text where it sends both.
func (e *Engine) updateLine(u *User, p userChanges) line {
	switch {
	case p.Phone != "" && p.Phone != u.Phone && !e.config.PhoneAutoconfirm:
		return e.textLine()
	case p.Email != "" && p.Email != u.Email:
		return e.mailLine()
	case p.Password != nil:
		return e.noticeLine(letter.PasswordChanged)
	}
	return nil
}

// tally is what a request has sent. It is added to the buckets once the request has ended: those of messages are one row
// for everybody, and nobody waits for it while a message is on its way. Until then this process remembers.
type tally struct{ sent map[string]int }

type tallyKey struct{}

func withTally(r *http.Request) (*http.Request, *tally) {
	t := &tally{sent: map[string]int{}}
	return r.WithContext(context.WithValue(r.Context(), tallyKey{}, t)), t
}

// tallyOf gives the request's; handle has put it there.
func tallyOf(ctx context.Context) *tally { return ctx.Value(tallyKey{}).(*tally) }

// underWay counts messages that no bucket holds yet.
type underWay struct {
	sync.Mutex
	n map[string]int
}

// add gives how many there were before.
func (u *underWay) add(name string, n int) int {
	u.Lock()
	defer u.Unlock()
	if u.n == nil {
		u.n = map[string]int{}
	}
	before := u.n[name]
	u.n[name] += n
	return before
}

func (e *Engine) allowMail(ctx context.Context, tx pgx.Tx) error {
	return e.allowMessage(ctx, tx, e.config.MailerAutoconfirm, "email",
		wire.Errorf(http.StatusTooManyRequests, "over_email_send_rate_limit", "email rate limit exceeded"))
}

func (e *Engine) allowSMS(ctx context.Context, tx pgx.Tx) error {
	return e.allowMessage(ctx, tx, e.config.PhoneAutoconfirm, "sms",
		wire.Errorf(http.StatusTooManyRequests, "over_sms_send_rate_limit", "SMS rate limit exceeded"))
}

func (e *Engine) perHour(name string) int {
	if name == "sms" {
		return e.config.Limits.SMSPerHour
	}
	return e.config.Limits.EmailPerHour
}

// allowMessage counts one message. Where nobody has to confirm anything few are sent, and none is counted.
func (e *Engine) allowMessage(ctx context.Context, tx pgx.Tx, free bool, name string, refusal error) error {
	perHour := e.perHour(name)
	switch {
	case perHour < 0:
		return refusal
	case perHour == 0 || free:
		return nil
	}
	// What is under way is read before the bucket and leaves after it is in there: a message that ends right now may count
	// twice, so that one is refused too early, and never not at all.
	others := e.sending.add(name, 1)
	tallyOf(ctx).sent[name]++
	level, err := e.levelWith(ctx, tx, name, perHour, time.Hour)
	if err == nil && level+float64(others) > float64(perHour) {
		err = refusal
	}
	if err != nil {
		e.unsent(ctx, name)
	}
	return err
}

// unsent takes back what was counted of a message that nobody took.
func (e *Engine) unsent(ctx context.Context, name string) {
	if t := tallyOf(ctx); t.sent[name] > 0 {
		t.sent[name]--
		e.sending.add(name, -1)
	}
}

// pourSent adds to the buckets what a request has sent.
func (e *Engine) pourSent(ctx context.Context, t *tally) {
	for name, n := range t.sent {
		for range n {
			func() {
				defer e.sending.add(name, -1)
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
				defer cancel()
				if _, err := e.pour(ctx, e.db.Pgx(), name, e.perHour(name), time.Hour); err != nil {
					e.log.ErrorContext(ctx, "a message was not counted", "kind", name, "error", err)
				}
			}()
		}
	}
}
