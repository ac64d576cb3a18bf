package edge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Batch is a transaction that takes one round trip: Send sends all statements together and commits
// them. The function cannot decide anything between the statements, because results arrive after
// the commit. To roll back, a statement must fail in the database, for instance by a constraint.
// Use Tx if a statement depends on the result of an earlier one.
type Batch struct {
	env   *Env
	as    Caller
	queue pgx.Batch
	err   error
}

// Batch begins a batch as a caller, such as env.Caller or Service. Send sends it.
func (e *Env) Batch(as Caller) *Batch { return &Batch{env: e, as: as} }

// Queue adds a statement. To read its result, give a function to QueryRow, Query or Exec of the
// returned value; Send calls it.
func (b *Batch) Queue(sql string, args ...any) *pgx.QueuedQuery { return b.queue.Queue(sql, args...) }

// Limit is Env.Limit as a part of the batch: above the limit, Send rolls back and returns the
// *Error. The batch must run as Service. Env.Limit is cheaper for calls that change nothing else.
func (b *Batch) Limit(ctx context.Context, name string, most int, per time.Duration) {
	if b.err == nil {
		b.err = b.env.host.Limit(ctx, &b.queue, b.env.client, name, most, per)
	}
}

// Notify is Env.Notify as a part of the batch.
func (b *Batch) Notify(n Notice) { b.add(b.env.traced(n)) }

// Enqueue is Env.Enqueue as a part of the batch.
func (b *Batch) Enqueue(job string, args any, options ...JobOption) {
	b.add(b.env.jobCall(job, args, options))
}

func (b *Batch) add(w Durable) {
	if b.err == nil {
		b.err = b.env.host.Add(&b.queue, w)
	}
}

// Send sends the batch and commits it if all statements succeed. It returns the first error, which
// rolls back the batch.
func (b *Batch) Send(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	return b.env.host.Batch(ctx, b.as, &b.queue)
}
