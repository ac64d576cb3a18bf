package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/tracing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// jobArgs is a kind of job with its queue and number of attempts.
type jobArgs interface {
	river.JobArgs
	river.JobArgsWithInsertOpts
}

// add adds a job to a batch with River's documented SQL (riverqueue.com/docs/sql). River's client would need additional round
// trips.
func (b *Outbox) add(batch *pgx.Batch, args jobArgs) error { return b.addTraced(batch, args, "") }

// addTraced is add with the trace context of the call that adds the job, "" for none.
func (b *Outbox) addTraced(batch *pgx.Batch, args jobArgs, traceparent string) error {
	encoded, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("job %s: %w", args.Kind(), err)
	}
	o := args.InsertOpts()
	metadata := map[string]string{}
	if traceparent != "" {
		metadata[traceparentKey] = traceparent
	}
	batch.Queue(`insert into river.river_job (args, kind, max_attempts, queue, metadata) values ($1, $2, $3, $4, $5)`,
		encoded, args.Kind(), o.MaxAttempts, o.Queue, metadata)
	b.notify(batch, o)
	return nil
}

// unfinished is the bit mask of River's states that stand for a job that waits or runs (river_job_state_in_bitmask).
const unfinished = "11110001"

// addFunctionJob is add with the options of a job of a function.
func (b *Outbox) addFunctionJob(batch *pgx.Batch, w edge.JobCall) error {
	raw, err := json.Marshal(w.Args)
	if err != nil {
		return fmt.Errorf("job %s of %s: %w", w.Job, w.Function, err)
	}
	job := functionJob{w.Function, w.Job, raw}
	plain := w.Unique == "" && w.Priority == 0 && w.MaxAttempts == 0 && w.At.IsZero() && w.Traceparent == ""
	if plain {
		return b.add(batch, job)
	}
	if w.Priority < 0 || w.Priority > 4 || w.MaxAttempts < 0 {
		return fmt.Errorf("job %s of %s: a priority is 1 to 4 and a number of attempts is positive", w.Job, w.Function)
	}
	encoded, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("job %s of %s: %w", w.Job, w.Function, err)
	}
	metadata := map[string]string{}
	if w.Traceparent != "" {
		metadata[traceparentKey] = w.Traceparent
	}
	var unique []byte
	if w.Unique != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", w.Function, w.Job, w.Unique))
		unique = sum[:]
	}
	var at *time.Time
	if !w.At.IsZero() {
		at = &w.At
	}
	o := job.InsertOpts()
	const q = `
insert into river.river_job (args, kind, max_attempts, queue, priority, metadata, unique_key, unique_states, scheduled_at, state)
values ($1, $2, $3, $4, $5, $6, $7, case when $7::bytea is not null then $8::text::bit(8) end, coalesce($9, now()),
        case when $9 > now() then 'scheduled' else 'available' end::river.river_job_state)
on conflict do nothing`
	batch.Queue(q, encoded, job.Kind(), cmp.Or(w.MaxAttempts, o.MaxAttempts), o.Queue, cmp.Or(w.Priority, 1), metadata, unique, unfinished, at)
	if at == nil {
		b.notify(batch, o)
	}
	return nil
}

// traceparentKey is the key of the trace context in the metadata of a job.
const traceparentKey = "traceparent"

// notify wakes the workers of a queue if none was woken just before.
func (b *Outbox) notify(batch *pgx.Batch, o river.InsertOpts) {
	if b.wake.due(o.Queue, time.Now()) {
		batch.Queue(`select pg_notify('river.river_insert', json_build_object('queue', $1::text)::text)`, o.Queue)
	}
}

// wake decides which jobs wake the workers of their queue. Commits with a NOTIFY wait for each other, including the disk
// flush (PostgreSQL documentation, NOTIFY), so not every job does. Workers find the others by polling.
type wake struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// wakePause is the time between two notifications. River has the same (Config.FetchCooldown).
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
		if err := b.addTraced(batch, notifyByMail{w}, w.Traceparent); err != nil || b.WebhookURL == "" {
			return err
		}
		return b.addTraced(batch, notifyByWebhook{w}, w.Traceparent)
	case edge.JobCall:
		return b.addFunctionJob(batch, w)
	}
	return fmt.Errorf("outbox: unknown work %T", w)
}

// SendMail adds a mail to tx. It is sent after the commit.
func (b *Outbox) SendMail(ctx context.Context, tx pgx.Tx, m mail.Message) error {
	var batch pgx.Batch
	if err := b.addTraced(&batch, sendMail{m}, tracing.Traceparent(ctx)); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &batch).Close()
}
