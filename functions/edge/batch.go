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

// Limit is Env.Limit within the batch: beyond it, Send undoes the whole and returns the *Error. The batch must run as
// Service, and for calls that change nothing Env.Limit is the cheaper one.
func (b *Batch) Limit(ctx context.Context, name string, most int, per time.Duration) {
	b.add(func(h Host) error { return h.Limit(ctx, &b.queue, b.env.client, name, most, per) })
}

// Notify is Env.Notify within the batch.
func (b *Batch) Notify(n Notice) {
	b.add(func(h Host) error { return h.Notify(&b.queue, n) })
}

// Enqueue is Env.Enqueue within the batch.
func (b *Batch) Enqueue(job string, args any) {
	b.add(func(h Host) error { return h.Enqueue(&b.queue, b.env.Function, job, args) })
}

// CleanPhoto is Env.CleanPhoto within the batch.
func (b *Batch) CleanPhoto(bucket, name string) {
	b.add(func(h Host) error { return h.CleanPhoto(&b.queue, bucket, name) })
}

func (b *Batch) add(queue func(Host) error) {
	if b.err == nil {
		b.err = queue(b.env.host)
	}
}

// Send sends the batch once and commits it when every statement succeeded. The first failure undoes all and is returned.
func (b *Batch) Send(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	return b.env.host.Batch(ctx, b.as, &b.queue)
}

// within sends what queue adds as part of a transaction that is under way.
func (e *Env) within(ctx context.Context, tx pgx.Tx, queue func(*pgx.Batch) error) error {
	var b pgx.Batch
	if err := queue(&b); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &b).Close()
}
