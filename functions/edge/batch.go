package edge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Batch is one transaction in one round trip: the statements are collected, travel together and are committed together.
// Nothing can be decided on the way, as no reply is seen before the commit; what must undo the whole has to fail in the
// database (a constraint, a raised error). Use it where the time of a call is that of its round trips, and Tx where a
// statement depends on what an earlier one found.
type Batch struct {
	env   *Env
	as    Caller
	queue pgx.Batch
	err   error
}

// Batch begins a batch as env.Caller, as Service or as any other caller. Send sends it.
func (e *Env) Batch(as Caller) *Batch { return &Batch{env: e, as: as} }

// Queue adds a statement. What it gives is read with the result's QueryRow, Query or Exec, which take a function that
// Send calls.
func (b *Batch) Queue(sql string, args ...any) *pgx.QueuedQuery { return b.queue.Queue(sql, args...) }

// Limit is Env.Limit within the batch: beyond the limit, Send rolls everything back and returns the *Error. The batch must
// run as Service. For calls that change nothing, Env.Limit is cheaper.
func (b *Batch) Limit(ctx context.Context, name string, most int, per time.Duration) {
	if b.err == nil {
		b.err = b.env.host.Limit(ctx, &b.queue, b.env.client, name, most, per)
	}
}

// Notify is Env.Notify within the batch.
func (b *Batch) Notify(n Notice) { b.add(n) }

// Enqueue is Env.Enqueue within the batch.
func (b *Batch) Enqueue(job string, args any) {
	b.add(JobCall{Function: b.env.Function, Job: job, Args: args})
}

func (b *Batch) add(w Durable) {
	if b.err == nil {
		b.err = b.env.host.Add(&b.queue, w)
	}
}

// Send sends the batch once and commits it when every statement succeeded. The first failure undoes all and is returned.
func (b *Batch) Send(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	return b.env.host.Batch(ctx, b.as, &b.queue)
}
