package jobs

import (
	"context"
	"time"
)

// A machine's clock may be a year ahead until it is corrected. Rows written before that have times
// in the future: jobs that wait for their time, jobs that a crash interrupted, and the lease of
// River's leader. Their times are set to now. River itself sleeps until the next times of the
// schedules, so these are computed again when the clock changes.
const (
	// maxAhead is longer than the pause before any attempt of a job.
	maxAhead = 2 * longPause

	// maxSkew is more than the difference between the clocks of two machines, and longer than the
	// leader's lease.
	maxSkew = time.Minute
)

// clockReading is a reading of two clocks: the wall clock, which can be set, and a monotonic one.
type clockReading struct {
	wall      time.Time
	monotonic time.Duration
}

var programStart = time.Now()

func readClocks() clockReading {
	now := time.Now()
	return clockReading{wall: now.Round(0), monotonic: now.Sub(programStart)} // Round removes the monotonic reading
}

// changedSince reports whether the wall clock was set, forwards or backwards, since an earlier
// reading.
func (r clockReading) changedSince(earlier clockReading) bool {
	by := r.wall.Sub(earlier.wall) - (r.monotonic - earlier.monotonic)
	return by.Abs() > maxSkew
}

// watchClock looks for jobs and leases of the future and for changes of the clock, at once and
// every minute until ctx ends. Its ticker uses the monotonic clock.
func (b *Outbox) watchClock(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	last := readClocks()
	for {
		if err := b.correctFutureTimes(ctx); err != nil && ctx.Err() == nil {
			b.Log.WarnContext(ctx, "cannot check for jobs with times in the future", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		last = b.checkClock(ctx, last, readClocks())
	}
}

// checkClock makes River compute its schedules again if the clock was set. It returns the reading
// for the next comparison: now, or last if the schedules could not be computed, so that it is tried
// again.
func (b *Outbox) checkClock(ctx context.Context, last, now clockReading) clockReading {
	if !now.changedSince(last) {
		return now
	}
	b.Log.WarnContext(ctx, "clock was set: computing the schedules again")
	work := b.running()
	if work == nil { // the next client begins with the latest due times
		b.endIdle()
		return now
	}
	// The next leader, which may be this process again, begins with the latest due times.
	if err := work.Notify().RequestResign(ctx); err != nil {
		b.Log.WarnContext(ctx, "cannot compute the schedules again", "error", err)
		return last
	}
	return now
}

// correctFutureTimes uses the clock of the database, which also orders the jobs.
func (b *Outbox) correctFutureTimes(ctx context.Context) error {
	pool := b.DB.Pgx()
	if _, err := pool.Exec(ctx, `delete from river.river_leader where expires_at > now() + $1::interval`,
		maxSkew); err != nil {
		return err
	}
	// If such a job is still running, its timeout starts now. If a crash interrupted it, River
	// finds it as any other.
	if _, err := pool.Exec(ctx, `
		update river.river_job set attempted_at = now()
		 where state = 'running' and attempted_at > now() + $1::interval`, maxSkew); err != nil {
		return err
	}
	tag, err := pool.Exec(ctx, `
		update river.river_job set scheduled_at = now()
		 where state in ('available', 'scheduled', 'retryable') and scheduled_at > now() + $1::interval`, maxAhead)
	if err == nil && tag.RowsAffected() > 0 {
		b.Log.WarnContext(ctx, "clock was ahead: rescheduled jobs with times in the future", "jobs", tag.RowsAffected())
	}
	return err
}
