package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// againPause is the time between a job and the look for others. It is longer than the pause of
// queue.Adder between two notifications, so the look finds the jobs that were added shortly after
// one that woke the workers and did not wake them again.
const againPause = 200 * time.Millisecond

// tellWorked is a middleware of River that makes lookAgain look after each job.
func (b *Outbox) tellWorked() rivertype.Middleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, _ *rivertype.JobRow, work func(context.Context) error) error {
		select {
		case b.worked <- struct{}{}:
		default: // the look is still to come
		}
		return work(ctx)
	})
}

// lookAgain wakes the workers again while jobs wait, until ctx ends. Without it, a job that was
// added without a notification would wait for the next poll.
func (b *Outbox) lookAgain(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.worked:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(againPause):
		}
		const q = `
select pg_notify('river.river_insert', json_build_object('queue', queue)::text)
  from (select distinct queue from river.river_job where state = 'available' and queue = any ($1)) as waiting`
		if _, err := b.DB.Pgx().Exec(ctx, q, b.queues()); err != nil && ctx.Err() == nil {
			b.Log.DebugContext(ctx, "cannot look for further background work; it waits for the next poll", "error", err)
		}
	}
}
