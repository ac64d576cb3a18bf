package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// The kinds of jobs. river.river_job.args holds their JSON, so fields can be added but not renamed.
// Package queue has those that functions add.
type (
	sendMail         struct{ mail.Message }
	functionSchedule struct {
		Function string    `json:"function"`
		Due      time.Time `json:"due"`
	}
)

func (sendMail) Kind() string         { return "send_mail" }
func (sendMail) Queue() string        { return queue.Mail }
func (functionSchedule) Kind() string { return "function_schedule" }

// choreQueue is the queue of chores, beside the queues of package queue.
const choreQueue = "chore"

// queues returns the queues that this process can work on.
func (b *Outbox) queues() []string {
	q := []string{queue.Mail, queue.Webhook}
	if b.functions != nil {
		q = append(q, queue.Function)
	}
	if len(b.chores) > 0 {
		q = append(q, choreQueue)
	}
	return q
}

// InsertOpts is part of river.JobArgsWithInsertOpts.
func (functionSchedule) InsertOpts() river.InsertOpts {
	// One job per due time, even if a second replica, a new leader and a restart insert it.
	return river.InsertOpts{Queue: queue.Function, MaxAttempts: queue.MaxAttempts,
		UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// workers returns the workers of all kinds.
func (b *Outbox) workers() *river.Workers {
	w := river.NewWorkers()
	river.AddWorker(w, river.WorkFunc(traced(b, b.workNotifyByMail)))
	river.AddWorker(w, river.WorkFunc(traced(b, b.workNotifyByWebhook)))
	river.AddWorker(w, river.WorkFunc(traced(b, b.workSendMail)))
	river.AddWorker(w, choreWorker{chores: b.chores})
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[queue.FunctionJob]) error {
		if b.functions == nil {
			return errNoFunctions
		}
		return snoozed(b.functions.RunJob(tracing.WithTraceparent(ctx, queue.Traceparent(job.Metadata)),
			job.Args.Function, job.Args.Job, job.Args.Args))
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[functionSchedule]) error {
		if b.functions == nil {
			return errNoFunctions
		}
		return snoozed(b.functions.RunSchedule(ctx, job.Args.Function))
	}))
	return w
}

// snoozed returns River's error for edge.Snooze, and other errors as they are.
func snoozed(err error) error {
	if snooze, ok := errors.AsType[edge.SnoozeError](err); ok {
		return river.JobSnooze(snooze.After)
	}
	return err
}

// traced returns work in a span of the trace to which the job belongs. A job without one has no
// span. (A job of a function has a span of its host.)
func traced[T river.JobArgs](b *Outbox, work func(context.Context, *river.Job[T]) error) func(context.Context,
	*river.Job[T]) error {
	return func(ctx context.Context, job *river.Job[T]) error {
		parent := queue.Traceparent(job.Metadata)
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

var errNoFunctions = fmt.Errorf("this process hosts no functions")

// Pauses between attempts double from 15 s to an hour and stay there. So a mail server is used
// within an hour after it recovers, and the last of queue.MaxAttempts comes after more than a week.
const (
	firstPause = 15 * time.Second
	longPause  = time.Hour
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
