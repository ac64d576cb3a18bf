// Package queue adds durable work: it writes the rows that package jobs works on. It is apart from
// that package because a process of functions adds jobs and runs none. Without River's client
// and the mail server that process is linked and started sooner.
package queue

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// Kinds in different queues do not wait for each other: a mail server that hangs delays mail only.
const (
	Mail     = "mail"
	Webhook  = "webhook"
	Function = "function"
)

// MaxAttempts is the number of attempts of a job without a number of its own. With the pauses of
// jobs.RetryPause they take more than a week.
const MaxAttempts = 200

// Job is a job with the name of its kind. river.river_job.args holds its JSON, so fields can be
// added but not renamed.
type Job interface {
	Kind() string
	Queue() string
}

// The kinds of jobs that functions add.
type (
	MailNotice    struct{ edge.Notice } // MailNotice sends a notice by mail.
	WebhookNotice struct{ edge.Notice } // WebhookNotice sends a notice to the webhook.
	// FunctionJob is a job of a function.
	FunctionJob struct {
		Function string          `json:"function"`
		Job      string          `json:"job"`
		Args     json.RawMessage `json:"args"`
	}
)

// Kind is part of Job.
func (MailNotice) Kind() string { return "notify_by_mail" }

// Queue is part of Job.
func (MailNotice) Queue() string { return Mail }

// Kind is part of Job.
func (WebhookNotice) Kind() string { return "notify_by_webhook" }

// Queue is part of Job.
func (WebhookNotice) Queue() string { return Webhook }

// Kind is part of Job.
func (FunctionJob) Kind() string { return "function_job" }

// Queue is part of Job.
func (FunctionJob) Queue() string { return Function }

// Adder adds work. Its zero value adds no jobs for a webhook.
type Adder struct {
	ToWebhook bool // notices go to the webhook, too
	wake      wake
}

// Add adds durable work to a batch. A notice becomes one job per channel, so that a failing channel
// delays no other.
func (a *Adder) Add(batch *pgx.Batch, w edge.Durable) error {
	switch w := w.(type) {
	case edge.Notice:
		if err := a.AddJob(batch, MailNotice{w}, w.Traceparent); err != nil || !a.ToWebhook {
			return err
		}
		return a.AddJob(batch, WebhookNotice{w}, w.Traceparent)
	case edge.JobCall:
		return a.addCall(batch, w)
	}
	return fmt.Errorf("jobs: unknown work %T", w)
}

// AddJob adds a job with the trace context of the call that adds it, "" for none. It uses River's
// documented SQL (riverqueue.com/docs/sql), because River's client would need additional round
// trips.
func (a *Adder) AddJob(batch *pgx.Batch, job Job, traceparent string) error {
	encoded, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("job %s: %w", job.Kind(), err)
	}
	batch.Queue(`insert into river.river_job (args, kind, max_attempts, queue, metadata) values ($1, $2, $3, $4, $5)`,
		encoded, job.Kind(), MaxAttempts, job.Queue(), metadata(traceparent))
	a.notify(batch, job.Queue())
	return nil
}

// unfinished is the bit mask of River's states that stand for a job that waits or runs
// (river_job_state_in_bitmask).
const unfinished = "11110001"

// addCall adds a job of a function with its options.
func (a *Adder) addCall(batch *pgx.Batch, w edge.JobCall) error {
	raw, err := json.Marshal(w.Args)
	if err != nil {
		return fmt.Errorf("job %s of %s: %w", w.Job, w.Function, err)
	}
	job := FunctionJob{w.Function, w.Job, raw}
	plain := w.Unique == "" && w.Priority == 0 && w.MaxAttempts == 0 && w.At.IsZero() && w.Traceparent == ""
	if plain {
		return a.AddJob(batch, job, "")
	}
	if w.Priority < 0 || w.Priority > 4 || w.MaxAttempts < 0 {
		return fmt.Errorf("job %s of %s: a priority is 1 to 4 and a number of attempts is positive", w.Job, w.Function)
	}
	encoded, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("job %s of %s: %w", w.Job, w.Function, err)
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
	const q = `
insert into river.river_job (args, kind, max_attempts, queue, priority, metadata, unique_key, unique_states, scheduled_at, state)
values ($1, $2, $3, $4, $5, $6, $7, case when $7::bytea is not null then $8::text::bit(8) end, coalesce($9, now()),
        case when $9 > now() then 'scheduled' else 'available' end::river.river_job_state)
on conflict do nothing`
	batch.Queue(q, encoded, job.Kind(), cmp.Or(w.MaxAttempts, MaxAttempts), job.Queue(), cmp.Or(w.Priority, 1),
		metadata(w.Traceparent), unique, unfinished, at)
	if at == nil {
		a.notify(batch, job.Queue())
	}
	return nil
}

// traceparentKey is the key of the trace context in the metadata of a job.
const traceparentKey = "traceparent"

func metadata(traceparent string) map[string]string {
	if traceparent == "" {
		return map[string]string{}
	}
	return map[string]string{traceparentKey: traceparent}
}

// Traceparent returns the trace context in the metadata of a job, "" without one.
func Traceparent(metadata []byte) string {
	var m map[string]any
	if json.Unmarshal(metadata, &m) != nil {
		return ""
	}
	text, _ := m[traceparentKey].(string)
	return text
}

// notify wakes the workers of a queue if none was woken just before.
func (a *Adder) notify(batch *pgx.Batch, queue string) {
	if a.wake.due(queue, time.Now()) {
		batch.Queue(`select pg_notify('river.river_insert', json_build_object('queue', $1::text)::text)`, queue)
	}
}

// wake decides which jobs wake the workers of their queue. Commits with a NOTIFY wait for each
// other, including the disk flush (PostgreSQL documentation, NOTIFY), so not every job does.
// The workers look for the others after a job (see jobs.Outbox).
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
	if w.last == nil {
		w.last = map[string]time.Time{}
	}
	w.last[queue] = now
	return true
}
