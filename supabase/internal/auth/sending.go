package auth

import (
	"context"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/store"
)

// A queue bounds how many transactions wait for a service of others at once: each holds a connection, and sign-ins need
// the others. A request that waits in the queue holds no connection. A nil queue does not bound.
type queue chan struct{}

func newQueue(connections int32) queue { return make(queue, max(1, connections/3)) }

// messageTx is a transaction that may send messages.
type messageTx struct {
	pgx.Tx
	tally *ratelimit.Tally
}

// queued runs fn in a transaction once the queue has room. Afterwards it counts the messages that fn sent.
func queued[T any](ctx context.Context, e *Engine, q queue, fn func(messageTx) (T, error)) (T, error) {
	t := e.limiter.NewTally()
	defer t.Flush(ctx)
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
	if h := e.hooks.SendSMS; h.Enabled() && h.InDatabase() || !h.Enabled() && e.sms == nil {
		return nil
	}
	return e.texts
}

// mailLine is for what sends a mail; an outbox does not keep anybody waiting.
func (e *Engine) mailQueue() queue {
	if h := e.hooks.SendEmail; h.Enabled() && h.InDatabase() || !h.Enabled() && !e.mailsAtOnce {
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
