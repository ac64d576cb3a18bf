package ratelimit

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
)

// Tally counts the messages of one transaction. They are added to the buckets once the transaction
// has ended: the bucket of a kind is one row for all clients, which must not stay locked while a
// message is being sent. Until then the Limiter remembers them as in flight.
type Tally struct {
	l      *Limiter
	sent   map[kind]int
	spared int // mails without a recipient
}

// NewTally returns an empty Tally. The caller flushes it when the transaction has ended.
func (l *Limiter) NewTally() *Tally { return &Tally{l: l, sent: map[kind]int{}} }

// kind is a kind of message and the key of its bucket.
type kind string

const (
	email kind = "email"
	sms   kind = "sms"
)

// perHour returns the limit of a kind.
func (l *Limiter) perHour(k kind) int {
	if k == sms {
		return l.Limits.SMSPerHour
	}
	return l.Limits.EmailPerHour
}

// inFlight counts messages that no bucket holds yet.
type inFlight struct {
	mu sync.Mutex
	n  map[kind]int
}

// add changes the count and returns the one before.
func (f *inFlight) add(k kind, n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = map[kind]int{}
	}
	before := f.n[k]
	f.n[k] += n
	return before
}

// AllowMail counts one mail, or refuses it.
func (t *Tally) AllowMail(ctx context.Context, tx pgx.Tx) error {
	return t.allow(ctx, tx, t.l.FreeMail, email, errMail)
}

// AllowSMS counts one text message, or refuses it.
func (t *Tally) AllowSMS(ctx context.Context, tx pgx.Tx) error {
	return t.allow(ctx, tx, t.l.FreeSMS, sms,
		apierror.Errorf(http.StatusTooManyRequests, "over_sms_send_rate_limit", "SMS rate limit exceeded"))
}

func (t *Tally) allow(ctx context.Context, tx pgx.Tx, free bool, k kind, refusal error) error {
	perHour := t.l.perHour(k)
	switch {
	case perHour < 0:
		return refusal
	case perHour == 0 || free:
		return nil
	}
	// The messages in flight are read before the bucket, and leave after the bucket holds them: a
	// message that ends right now may count twice, so that another one is refused too early, but is
	// never missed.
	others := t.l.inFlight.add(k, 1)
	t.sent[k]++
	level, err := t.l.level(ctx, tx, string(k), bucketOf(perHour, time.Hour))
	if err == nil && level+float64(others) > float64(perHour) {
		err = refusal
	}
	if err != nil {
		t.unsent(k)
	}
	return err
}

// MailNotSent takes back the count of a mail that was not sent.
func (t *Tally) MailNotSent() { t.unsent(email) }

// SpareMail takes back the count of a mail without a recipient. Flush then reads the bucket instead
// of adding to it, so that the work is the one for a mail.
func (t *Tally) SpareMail() {
	if t.sent[email] > 0 {
		t.spared++
	}
	t.unsent(email)
}

// SMSNotSent takes back the count of a text message that was not sent.
func (t *Tally) SMSNotSent() { t.unsent(sms) }

func (t *Tally) unsent(k kind) {
	if t.sent[k] > 0 {
		t.sent[k]--
		t.l.inFlight.add(k, -1)
	}
}

// flushTimeout bounds the counting of one message.
const flushTimeout = 10 * time.Second

// Flush adds the messages to the buckets, also if ctx has ended.
func (t *Tally) Flush(ctx context.Context) {
	for range t.spared {
		if _, err := t.l.level(ctx, t.l.DB.Pgx(), string(email), bucketOf(t.l.perHour(email), time.Hour)); err != nil {
			t.l.Log.ErrorContext(ctx, "read the count of messages", "error", err)
		}
	}
	for k, n := range t.sent {
		for range n {
			t.flushOne(context.WithoutCancel(ctx), k)
		}
	}
}

func (t *Tally) flushOne(ctx context.Context, k kind) {
	defer t.l.inFlight.add(k, -1)
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if _, err := t.l.pour(ctx, drop{string(k), bucketOf(t.l.perHour(k), time.Hour)}); err != nil {
		t.l.Log.ErrorContext(ctx, "count sent message", "kind", string(k), "error", err)
	}
}
