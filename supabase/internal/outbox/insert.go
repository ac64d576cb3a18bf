package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/mail"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// jobArgs is a kind of job with its queue and number of attempts.
type jobArgs interface {
	river.JobArgs
	river.JobArgsWithInsertOpts
}

// add adds a job to a batch with River's documented SQL (riverqueue.com/docs/sql) rather than its client, which takes round
// trips of its own. It cannot add unique jobs: those of the schedules are River's own business.
func (b *Outbox) add(batch *pgx.Batch, args jobArgs) error {
	encoded, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("job %s: %w", args.Kind(), err)
	}
	o := args.InsertOpts()
	batch.Queue(`insert into river.river_job (args, kind, max_attempts, queue) values ($1, $2, $3, $4)`,
		encoded, args.Kind(), o.MaxAttempts, o.Queue)
	if b.wake.due(o.Queue, time.Now()) {
		batch.Queue(`select pg_notify('river.river_insert', json_build_object('queue', $1::text)::text)`, o.Queue)
	}
	return nil
}

// wake says when to wake the workers of a queue. Not for every job: commits that notify wait for one another, disk flush
// and all (PostgreSQL documentation, NOTIFY). What comes in between is found by polling.
type wake struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// wakePause is as long as River itself keeps between two notifications (Config.FetchCooldown).
const wakePause = 100 * time.Millisecond

func (w *wake) due(queue string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.last[queue]) < wakePause {
		return false
	}
	w.last[queue] = now
	return true
}

// Add adds durable work to a batch. A notice becomes one job per channel, so that a failing channel delays no other.
func (b *Outbox) Add(batch *pgx.Batch, w edge.Durable) error {
	switch w := w.(type) {
	case edge.Notice:
		if err := b.add(batch, notifyByMail{w}); err != nil || b.WebhookURL == "" {
			return err
		}
		return b.add(batch, notifyByWebhook{w})
	case edge.JobCall:
		raw, err := json.Marshal(w.Args)
		if err != nil {
			return fmt.Errorf("job %s of %s: %w", w.Job, w.Function, err)
		}
		return b.add(batch, functionJob{w.Function, w.Job, raw})
	}
	return fmt.Errorf("outbox: unknown work %T", w)
}

// SendMail adds a mail to tx: it is sent once that commits.
func (b *Outbox) SendMail(ctx context.Context, tx pgx.Tx, m mail.Message) error {
	var batch pgx.Batch
	if err := b.add(&batch, sendMail{m}); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &batch).Close()
}
