package sms

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
)

// attempt is what one sender did, as the log has it.
type attempt struct {
	Sender string `json:"sender"`
	Error  string `json:"error,omitempty"`
	Took   int64  `json:"ms"`
}

// budget bounds all attempts together: auth waits five seconds for its hook.
const budget = 4500 * time.Millisecond

// deliver sends the message by the first sender that accepts it and writes the log. A call with an
// id that is in the log sends nothing, because auth or a stranger repeats it: sent is the outcome
// of the first one.
func (s *service) deliver(ctx context.Context, env *edge.Env, id string, senders []Sender, m Message) (sent bool,
	err error) {
	known := false
	if err := env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `insert into public.sms_deliveries (id, created_at, phone) values ($1, $2, $3)
			on conflict do nothing`, id, env.Now(), mask(m.Phone))
		known = tag.RowsAffected() == 0
		return err
	}); err != nil {
		return false, err
	}
	inTime, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	if known {
		return outcome(inTime, env, id)
	}
	var attempts []attempt
	var sender, message string
	for _, by := range senders {
		a, got := s.try(inTime, env, by, m)
		attempts = append(attempts, a)
		if a.Error == "" {
			sent, sender, message = true, by.Name, got
			break
		}
		env.Log.WarnContext(ctx, "text message not sent", "sender", by.Name, "error", a.Error)
	}
	log, err := json.Marshal(attempts)
	if err != nil {
		return sent, err
	}
	status := "failed"
	if sent {
		status = "sent"
	}
	// The log is written even if auth has stopped waiting.
	return sent, env.Tx(context.WithoutCancel(ctx), edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.WithoutCancel(ctx), `
			update public.sms_deliveries
			   set status = $2, sender = nullif($3, ''), message_id = nullif($4, ''), attempts = $5 where id = $1`,
			id, status, sender, message, log)
		return err
	})
}

// pause is how long a repeated call waits before it looks again whether the first one has ended.
const pause = 50 * time.Millisecond

// outcome waits for the end of the call with an id and reports whether it sent its message.
func outcome(ctx context.Context, env *edge.Env, id string) (sent bool, err error) {
	for {
		var status string
		if err := env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, `select status from public.sms_deliveries where id = $1`, id).Scan(&status)
		}); err != nil {
			return false, err
		}
		if status != "sending" {
			return status == "sent", nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// try sends the message by one sender.
func (s *service) try(ctx context.Context, env *edge.Env, by Sender, m Message) (a attempt, id string) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	began := time.Now()
	id, err := by.Send(ctx, env, m)
	a = attempt{Sender: by.Name, Took: time.Since(began).Milliseconds()}
	if err != nil {
		a.Error = safe(err)
	}
	return a, id
}

// forget deletes old rows of the log.
func (s *service) forget(ctx context.Context, env *edge.Env) error {
	return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `delete from public.sms_deliveries where created_at < $1`, env.Now().Add(-s.Keep))
		return err
	})
}

// mask returns a number of which the first three and the last two digits are readable.
func mask(phone string) string {
	if len(phone) < 8 {
		return strings.Repeat("*", len(phone))
	}
	return "+" + phone[:3] + strings.Repeat("*", len(phone)-5) + phone[len(phone)-2:]
}

// digits are numbers and codes in an error.
var digits = regexp.MustCompile(`\+?[0-9][0-9 ().-]{2,}[0-9]`)

const longestError = 300

// safe returns the text of an error without the address of the request, which may hold secrets, and
// without numbers and codes.
func safe(err error) string {
	text := err.Error()
	var failed *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		text = "no reply in time"
	case errors.As(err, &failed):
		text = failed.Err.Error()
	}
	text = digits.ReplaceAllString(text, "***")
	return strings.ToValidUTF8(text[:min(len(text), longestError)], "")
}
