package jobs

import (
	"context"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/base/tracing"

	"github.com/jackc/pgx/v5"
)

// Add adds durable work to a batch. A notice becomes one job per channel, so that a failing channel
// delays no other.
func (b *Outbox) Add(batch *pgx.Batch, w edge.Durable) error { return b.adder.Add(batch, w) }

// SendMail adds a mail to tx. It is sent after the commit.
func (b *Outbox) SendMail(ctx context.Context, tx pgx.Tx, m mail.Message) error {
	var batch pgx.Batch
	if err := b.adder.AddJob(&batch, sendMail{m}, tracing.Traceparent(ctx)); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &batch).Close()
}
