package auth

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// A queue bounds how many transactions wait for a service of others at once: each holds a connection, and sign-ins need
// the others. A request that waits in the queue holds no connection. A nil queue does not bound.
type queue chan struct{}

func newQueue(connections int32) queue { return make(queue, max(1, connections/3)) }

// messageTx is a transaction that may send messages.
type messageTx struct {
	pgx.Tx
	tally *tally
}

// queued runs fn in a transaction once the queue has room. Afterwards it counts the messages that fn sent.
func queued[T any](ctx context.Context, e *Engine, q queue, fn func(messageTx) (T, error)) (T, error) {
	t := e.newTally()
	defer t.flush(ctx)
	if q != nil {
		select {
		case q <- struct{}{}:
			defer func() { <-q }()
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
	return store.InTx(ctx, e.db, func(tx pgx.Tx) (T, error) { return fn(messageTx{tx, t}) })
}

// textLine is for what sends a text.
func (e *Engine) textQueue() queue {
	if h := e.config.Hooks.SendSMS; h.Enabled() && h.InDatabase() || !h.Enabled() && e.sms == nil {
		return nil
	}
	return e.texts
}

// mailLine is for what sends a mail; an outbox does not keep anybody waiting.
func (e *Engine) mailQueue() queue {
	if h := e.config.Hooks.SendEmail; h.Enabled() && h.InDatabase() || !h.Enabled() && !e.mailsAtOnce {
		return nil
	}
	return e.mails
}

// noticeLine is for what tells the user of a change.
func (e *Engine) noticeQueue(kind string) queue {
	if e.config.Mail.Notifications[notice(kind)] {
		return e.mailQueue()
	}
	return nil
}

// changeLine is for a proof whose use the user is told of.
func (e *Engine) changeQueue(kind string) queue {
	switch kind {
	case "email_change":
		return e.noticeQueue(template.EmailChanged)
	case "phone_change":
		return e.noticeQueue(template.PhoneChanged)
	}
	return nil
}

// updateLine is for what a change of the account sends: a text where it sends both.
func (e *Engine) updateQueue(u *store.User, p userChanges) queue {
	switch {
	case p.Phone != "" && p.Phone != u.Phone && !e.config.PhoneAutoconfirm:
		return e.textQueue()
	case p.Email != "" && p.Email != u.Email:
		return e.mailQueue()
	case p.Password != nil:
		return e.noticeQueue(template.PasswordChanged)
	}
	return nil
}

// tally counts the messages of one transaction. They are added to the buckets once the transaction has ended: the bucket
// of a kind is one row for all clients, which must not stay locked while a message is being sent. Until then this process
// remembers them.
type tally struct {
	e    *Engine
	sent map[string]int
}

func (e *Engine) newTally() *tally { return &tally{e: e, sent: map[string]int{}} }

// inFlight counts messages that no bucket holds yet.
type inFlight struct {
	sync.Mutex
	n map[string]int
}

// add returns how many there were before.
func (f *inFlight) add(name string, n int) int {
	f.Lock()
	defer f.Unlock()
	if f.n == nil {
		f.n = map[string]int{}
	}
	before := f.n[name]
	f.n[name] += n
	return before
}

func (t *tally) allowMail(ctx context.Context, tx pgx.Tx) error {
	return t.allow(ctx, tx, t.e.config.MailerAutoconfirm, "email",
		wire.Errorf(http.StatusTooManyRequests, "over_email_send_rate_limit", "email rate limit exceeded"))
}

func (t *tally) allowSMS(ctx context.Context, tx pgx.Tx) error {
	return t.allow(ctx, tx, t.e.config.PhoneAutoconfirm, "sms",
		wire.Errorf(http.StatusTooManyRequests, "over_sms_send_rate_limit", "SMS rate limit exceeded"))
}

func (e *Engine) perHour(name string) int {
	if name == "sms" {
		return e.config.Limits.SMSPerHour
	}
	return e.config.Limits.EmailPerHour
}

// allow counts one message, unless messages are free: without confirmations few are sent.
func (t *tally) allow(ctx context.Context, tx pgx.Tx, free bool, name string, refusal error) error {
	perHour := t.e.perHour(name)
	switch {
	case perHour < 0:
		return refusal
	case perHour == 0 || free:
		return nil
	}
	// The messages in flight are read before the bucket, and leave after the bucket holds them: a message that ends right
	// now may count twice, so that another one is refused too early, but is never missed.
	others := t.e.inFlight.add(name, 1)
	t.sent[name]++
	level, err := t.e.levelWith(ctx, tx, name, perHour, time.Hour)
	if err == nil && level+float64(others) > float64(perHour) {
		err = refusal
	}
	if err != nil {
		t.unsent(name)
	}
	return err
}

// unsent takes back the count of a message that was not sent.
func (t *tally) unsent(name string) {
	if t.sent[name] > 0 {
		t.sent[name]--
		t.e.inFlight.add(name, -1)
	}
}

// flush adds the messages to the buckets.
func (t *tally) flush(ctx context.Context) {
	for name, n := range t.sent {
		for range n {
			func() {
				defer t.e.inFlight.add(name, -1)
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
				defer cancel()
				if _, err := t.e.pour(ctx, t.e.db.Pgx(), name, t.e.perHour(name), time.Hour); err != nil {
					t.e.log.ErrorContext(ctx, "count sent message", "kind", name, "err", err)
				}
			}()
		}
	}
}
