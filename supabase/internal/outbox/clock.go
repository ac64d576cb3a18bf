package outbox

import (
	"context"
	"time"
)

// A machine's clock may be a year ahead and be set right again. What was written meanwhile then lies in the future: jobs
// that wait for their time, among them notices of reports, jobs that a crash cut off, and the lease of whoever leads. They
// are taken back to now. And River sleeps until the schedules' next times, however far away the clock has put them: when it
// is set, they are reckoned anew.

const (
	// farAhead is further than any job is ever put off.
	farAhead = 2 * longPause
	// wrongClock is further than the clocks of two machines are apart, and longer than the leader's lease.
	wrongClock = time.Minute
)

// moment is a reading of two clocks: of the one on the wall, which may be set, and of one that only runs on.
type moment struct {
	wall time.Time
	runs time.Duration
}

var programStart = time.Now()

func readClocks() moment {
	now := time.Now()
	return moment{wall: now.Round(0), runs: now.Sub(programStart)} // Round takes the monotonic reading out
}

// setSince says whether the clock on the wall was set, either way, since an earlier moment.
func (m moment) setSince(earlier moment) bool {
	by := m.wall.Sub(earlier.wall) - (m.runs - earlier.runs)
	return by.Abs() > wrongClock
}

// keepTime looks for such jobs and leases, at once and every minute, and at the clock, until ctx ends. The ticker does not
// follow the clock.
func (b *Outbox) keepTime(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	last := readClocks()
	for {
		if err := b.straighten(ctx); err != nil && ctx.Err() == nil {
			b.Log.WarnContext(ctx, "jobs of the future were not looked for", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		last = b.heedClock(ctx, last, readClocks())
	}
}

// heedClock reckons the schedules anew when the clock was set, and gives the moment that the next one is compared with:
// the same one, when that failed.
func (b *Outbox) heedClock(ctx context.Context, last, now moment) moment {
	if !now.setSince(last) {
		return now
	}
	b.Log.WarnContext(ctx, "the clock was set: the schedules are reckoned anew")
	// Whoever leads then, this process or another, begins with what was due last.
	if err := b.work.Notify().RequestResign(ctx); err != nil {
		b.Log.WarnContext(ctx, "the schedules could not be reckoned anew", "error", err)
		return last
	}
	return now
}

// straighten works by the database's clock, which is the one that jobs are ordered by.
func (b *Outbox) straighten(ctx context.Context) error {
	pool := b.DB.Pgx()
	if _, err := pool.Exec(ctx, `delete from river.river_leader where expires_at > now() + $1::interval`, wrongClock); err != nil {
		return err
	}
	// Whoever still works on such a job has its timeout from now on; a crashed one's is found by River like any other.
	if _, err := pool.Exec(ctx, `
		update river.river_job set attempted_at = now()
		 where state = 'running' and attempted_at > now() + $1::interval`, wrongClock); err != nil {
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
