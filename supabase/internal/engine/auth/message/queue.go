package message

import (
	"context"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/store"
)

// Queue bounds how many transactions wait for another server at once: each holds a connection, and
// sign-ins need the others. A request that waits in the queue holds no connection. A nil Queue has
// no bound.
type Queue chan struct{}

func newQueue(connections int32) Queue { return make(Queue, max(1, connections/3)) }

// Tx is a transaction that may send messages.
type Tx struct {
	pgx.Tx
	tally *ratelimit.Tally
}

// Queued runs fn in a transaction once the queue has room. Afterwards it counts the messages that
// fn has sent.
func Queued[T any](ctx context.Context, s *Sender, q Queue, fn func(Tx) (T, error)) (T, error) {
	tally := s.Limiter.NewTally()
	defer tally.Flush(ctx)
	if q != nil {
		select {
		case q <- struct{}{}:
			defer func() { <-q }()
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
	return store.InTx(ctx, s.DB, func(tx pgx.Tx) (T, error) { return fn(Tx{tx, tally}) })
}

// TextQueue is the queue of transactions that send a text message.
func (s *Sender) TextQueue() Queue {
	if h := s.Hooks.SendSMS; h.Enabled() && h.InDatabase() || !h.Enabled() && s.SMS == nil {
		return nil
	}
	return s.texts
}

// MailQueue is the queue of transactions that send a mail. An outbox in the database needs none.
func (s *Sender) MailQueue() Queue {
	if h := s.Hooks.SendEmail; h.Enabled() && h.InDatabase() || !h.Enabled() && !s.DirectMail {
		return nil
	}
	return s.mails
}

// NotificationQueue is the queue of transactions that notify the user, by kind of the mail.
func (s *Sender) NotificationQueue(kind string) Queue {
	if s.Config.Mail.Notifications[notificationName(kind)] {
		return s.MailQueue()
	}
	return nil
}

// ChangeQueue is the queue of transactions that use a one-time token, by type of the link. Using it
// may notify the user.
func (s *Sender) ChangeQueue(linkType string) Queue {
	if q := s.CodeQueue(); q != nil && (linkType == "sms" || linkType == "phone_change") {
		return q
	}
	switch linkType {
	case "email_change":
		return s.NotificationQueue(template.EmailChanged)
	case "phone_change":
		return s.NotificationQueue(template.PhoneChanged)
	}
	return nil
}
