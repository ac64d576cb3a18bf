package outbox

import (
	"context"
	"time"
)

// A machine's clock may be a year ahead and be set right again. What was written meanwhile then lies in the future: jobs
// that wait for their time, among them notices of reports, and the lease of whoever leads. Both are taken back to now.

// farAhead is further than any job is ever put off.
const farAhead = 48 * time.Hour

// keepTime looks for such jobs and leases, at once and every minute, until ctx ends. The ticker does not follow the clock.
func (b *Outbox) keepTime(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		if err := b.straighten(ctx); err != nil && ctx.Err() == nil {
			b.Log.WarnContext(ctx, "jobs of the future were not looked for", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// straighten works by the database's clock, which is the one that jobs are ordered by.
func (b *Outbox) straighten(ctx context.Context) error {
	pool := b.DB.Pgx()
	if _, err := pool.Exec(ctx, `delete from river.river_leader where expires_at > now() + $1::interval`, farAhead); err != nil {
		return err
	}
	tag, err := pool.Exec(ctx, `
		update river.river_job set scheduled_at = now()
		 where state in ('available', 'scheduled', 'retryable') and scheduled_at > now() + $1::interval`, farAhead)
	if err == nil && tag.RowsAffected() > 0 {
		b.Log.WarnContext(ctx, "jobs of the future were brought back: the clock has been wrong", "jobs", tag.RowsAffected())
	}
	return err
}
