package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/tracing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// The kinds of jobs. river.river_job.args holds their JSON, so fields can be added but not renamed.
type (
	notifyByMail    struct{ edge.Notice }
	notifyByWebhook struct{ edge.Notice }
	sendMail        struct{ mail.Message }
	functionJob     struct {
		Function string          `json:"function"`
		Job      string          `json:"job"`
		Args     json.RawMessage `json:"args"`
	}
	functionSchedule struct {
		Function string    `json:"function"`
		Due      time.Time `json:"due"`
	}
)

func (notifyByMail) Kind() string     { return "notify_by_mail" }
func (notifyByWebhook) Kind() string  { return "notify_by_webhook" }
func (sendMail) Kind() string         { return "send_mail" }
func (functionJob) Kind() string      { return "function_job" }
func (functionSchedule) Kind() string { return "function_schedule" }

// Kinds in different queues do not wait for each other: a mail server that hangs delays mail only.
const (
	mailQueue     = "mail"
	webhookQueue  = "webhook"
	functionQueue = "function"
	choreQueue    = "chore"
)

// queues returns the queues that this process can work on.
func (b *Outbox) queues() []string {
	q := []string{mailQueue, webhookQueue}
	if b.functions != nil {
		q = append(q, functionQueue)
	}
	if len(b.chores) > 0 {
		q = append(q, choreQueue)
	}
	return q
}

func (notifyByMail) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: mailQueue, MaxAttempts: maxAttempts}
}

func (notifyByWebhook) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: webhookQueue, MaxAttempts: maxAttempts}
}

func (sendMail) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: mailQueue, MaxAttempts: maxAttempts}
}

func (functionJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: functionQueue, MaxAttempts: maxAttempts}
}

func (functionSchedule) InsertOpts() river.InsertOpts {
	// One job per due time, even if a second replica, a new leader and a restart insert it.
	return river.InsertOpts{Queue: functionQueue, MaxAttempts: maxAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// workers returns the workers of all kinds.
func (b *Outbox) workers() *river.Workers {
	w := river.NewWorkers()
	river.AddWorker(w, river.WorkFunc(traced(b, b.workNotifyByMail)))
	river.AddWorker(w, river.WorkFunc(traced(b, b.workNotifyByWebhook)))
	river.AddWorker(w, river.WorkFunc(traced(b, b.workSendMail)))
	river.AddWorker(w, choreWorker{chores: b.chores})
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[functionJob]) error {
		if b.functions == nil {
			return errNoFunctions
		}
		err := b.functions.RunJob(tracing.WithTraceparent(ctx, traceparent(job.Metadata)), job.Args.Function, job.Args.Job, job.Args.Args)
		if snooze, ok := errors.AsType[edge.SnoozeError](err); ok {
			return river.JobSnooze(snooze.After)
		}
		return err
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[functionSchedule]) error {
		if b.functions == nil {
			return errNoFunctions
		}
		return b.functions.RunSchedule(ctx, job.Args.Function)
	}))
	return w
}

// traced returns work in a span of the trace to which the job belongs. A job without one has no span. (A job of a function has a span
// of its host.)
func traced[T river.JobArgs](b *Outbox, work func(context.Context, *river.Job[T]) error) func(context.Context, *river.Job[T]) error {
	return func(ctx context.Context, job *river.Job[T]) error {
		parent := traceparent(job.Metadata)
		if parent == "" {
			return work(ctx, job)
		}
		ctx, end := b.Traces.Start(tracing.WithTraceparent(ctx, parent), "job "+job.Kind, tracing.Consumer)
		err := work(ctx, job)
		if _, later := errors.AsType[*river.JobSnoozeError](err); later {
			end(nil)
		} else {
			end(err)
		}
		return err
	}
}

// traceparent returns the trace context in the metadata of a job, "" without one.
func traceparent(metadata []byte) string {
	var m map[string]any
	if json.Unmarshal(metadata, &m) != nil {
		return ""
	}
	text, _ := m[traceparentKey].(string)
	return text
}

var errNoFunctions = fmt.Errorf("this process hosts no functions")

// Pauses between attempts double from 15 s to an hour and stay there. So a mail server is used within an hour after it
// recovers, and the last attempt comes after more than a week.
const (
	firstPause  = 15 * time.Second
	longPause   = time.Hour
	maxAttempts = 200
)

type retryPolicy struct{}

// NextRetry returns the time of the next attempt after a failed one.
func (retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().UTC().Add(RetryPause(job.Attempt))
}

// RetryPause returns the pause after the nth failed attempt.
func RetryPause(attempt int) time.Duration {
	if attempt > 8 { // 15 s · 2⁸ is longer than an hour
		return longPause
	}
	return min(firstPause<<max(attempt-1, 0), longPause)
}
