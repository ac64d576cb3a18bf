package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"
)

// A running client of River wakes the processor some 30 times a second, most of all for its job
// completer. So the client runs only while there is work. Without work, the outbox listens on the
// channel that tells River of new jobs, looks for jobs as often as River's workers do, and knows
// the time of the next schedule and the next attempt. So no job waits longer than it would for a
// client that always runs.
const (
	idleAfter   = 30 * time.Second // without work, before the client stops
	idleHorizon = time.Minute      // work that is due within this time keeps the client running
	idlePoll    = 5 * time.Second  // for jobs without a notification; River's workers have the same
	longestIdle = time.Hour        // then River's maintenance runs

	// idleDrain is how long a client that stops may take before the next one may start. It takes
	// longer only for a job that it fetched after the last look; that job runs to its end.
	idleDrain = time.Second

	// waitingMany is the number of waiting jobs at which the client keeps running, so that a look
	// is cheap.
	waitingMany = 100
)

// maintenanceTimes keep the client running while River builds its indexes again, each day at
// midnight UTC.
var maintenanceTimes = []string{"59 23 * * *", "0-5 0 * * *"}

// client is a client of River.
type client struct {
	*river.Client[pgx.Tx]
	stopping atomic.Bool // its cancelled work is not logged
	added    idSet       // ids of the schedules for which River has asked for the latest due time
}

// onDemand runs the client of an outbox while there is work.
type onDemand struct{ *Outbox }

// run keeps a client running while there is work, until ctx ends. failure is why the first client
// did not start, nil if it runs.
func (b onDemand) run(ctx context.Context, failure error) {
	if failure != nil {
		b.Log.WarnContext(ctx, "database accepts no writes; background work waits", "error", failure)
		if !b.beginAgain(ctx, failure) {
			return
		}
	}
	for b.awaitIdle(ctx) {
		idle := b.stopClient(ctx)
		err := b.awaitWork(idle)
		if ctx.Err() != nil {
			return
		}
		if err != nil && idle.Err() == nil {
			b.Log.DebugContext(ctx, "cannot look for background work; starting the workers", "error", err)
		}
		if !b.beginAgain(ctx, nil) {
			return
		}
	}
}

// beginAgain starts a client, and tries again every second until it runs. It returns false if ctx
// ends before that. failure is the error of an attempt just before, nil for none.
func (b onDemand) beginAgain(ctx context.Context, failure error) bool {
	for failed := failure; ; {
		if failed != nil {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(beginPause):
			}
		}
		err := b.begin(context.WithoutCancel(ctx))
		switch {
		case err == nil:
			if failed != nil {
				b.Log.InfoContext(ctx, "background work started")
			}
			return true
		case failed == nil || !isFull(err):
			b.Log.WarnContext(ctx, "background work cannot start; retrying", "error", err)
		}
		failed = err
	}
}

// awaitIdle returns true when there was no work for idleAfter, and false if ctx ends.
func (b onDemand) awaitIdle(ctx context.Context) bool {
	tick := time.NewTicker(b.idleAfter / 3)
	defer tick.Stop()
	for busy := time.Now(); ; {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		due, err := b.untilWork(ctx, b.DB.Pgx())
		if err != nil || min(due, b.untilSchedule(time.Now())) < idleHorizon || !b.caughtUp(ctx) {
			busy = time.Now()
			continue
		}
		if time.Since(busy) >= b.idleAfter {
			return true
		}
	}
}

// caughtUp reports whether there is a leader, and if it is this process's client, whether it has
// added the jobs of the latest due times.
func (b onDemand) caughtUp(ctx context.Context) bool {
	var leader string
	if b.DB.Pgx().QueryRow(ctx,
		`select leader_id from river.river_leader where expires_at > now()`).Scan(&leader) != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if leader != b.work.ID() {
		return true
	}
	for _, c := range b.chores {
		if !b.work.added.has("chore_" + c.Name) {
			return false
		}
	}
	for name := range b.scheduled {
		if !b.work.added.has("function_" + name) {
			return false
		}
	}
	return true
}

// stopClient stops the client. It returns a context that ends with ctx or when b.wakeUp is called.
func (b *Outbox) stopClient(ctx context.Context) context.Context {
	b.mu.Lock()
	work := b.work
	b.work = nil
	idle, wakeUp := context.WithCancel(ctx)
	b.wakeUp = wakeUp
	b.mu.Unlock()
	work.stopping.Store(true)
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), idleDrain)
	defer cancel()
	if work.Stop(wait) == nil {
		return idle
	}
	work.stopping.Store(false)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draining = slices.DeleteFunc(b.draining, func(c *client) bool {
		select {
		case <-c.Stopped():
			return true
		default:
			return false
		}
	})
	b.draining = append(b.draining, work)
	return idle
}

// endIdle makes a client run soon if none does.
func (b *Outbox) endIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wakeUp != nil {
		b.wakeUp()
	}
}

// awaitWork returns when a client has to run, with an error if the database does not answer or ctx
// ends.
func (b onDemand) awaitWork(ctx context.Context) (err error) {
	conn, err := b.DB.Pgx().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	defer conn.Release() // closes a broken connection
	if _, err := conn.Exec(ctx, `listen "river.river_insert"`); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	defer unlisten(ctx, conn)
	wake := time.Now().Add(min(longestIdle, b.untilSchedule(time.Now())))
	for {
		due, err := b.untilWork(ctx, conn)
		if err != nil {
			return err
		}
		if due = min(due, time.Until(wake)); due <= 0 {
			return nil
		}
		wait, cancel := context.WithTimeout(ctx, min(due, b.idlePoll))
		_, err = conn.Conn().WaitForNotification(wait)
		expired := wait.Err() != nil
		cancel()
		if err != nil && (!expired || ctx.Err() != nil) {
			return fmt.Errorf("jobs: %w", err)
		}
	}
}

// unlisten makes a connection fit for its pool again, or closes it.
func unlisten(ctx context.Context, conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, `unlisten *`); err != nil {
		_ = conn.Conn().Close(ctx)
	}
}

// untilWork returns how long no job has to run or to be rescued, at most longestIdle. It is 0 while
// there is work.
func (b onDemand) untilWork(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (time.Duration, error) {
	const q = `
select exists (select from river.river_job where state = 'running')
       or exists (select from river.river_job where state = 'available' and queue = any ($1)),
       count(*), coalesce(extract(epoch from min(scheduled_at) - now()), 1e6)::float8
  from (select scheduled_at from river.river_job where state in ('retryable', 'scheduled') limit $2) as waiting`
	var busy bool
	var waiting int
	var seconds float64
	if err := db.QueryRow(ctx, q, b.queues(), waitingMany).Scan(&busy, &waiting, &seconds); err != nil {
		return 0, fmt.Errorf("jobs: %w", err)
	}
	if busy || waiting == waitingMany || seconds <= 0 {
		return 0, nil
	}
	return time.Duration(min(seconds, longestIdle.Seconds()) * float64(time.Second)), nil
}

// untilSchedule returns the time until the next due time of a schedule, at most longestIdle.
func (b onDemand) untilSchedule(now time.Time) time.Duration {
	expressions := slices.Clone(b.maintenance)
	for _, c := range b.chores {
		expressions = append(expressions, c.Cron)
	}
	if b.functions != nil {
		for _, expression := range b.functions.Schedules() {
			expressions = append(expressions, expression)
		}
	}
	until := longestIdle
	for _, expression := range expressions {
		s, err := cron.ParseStandard("TZ=UTC " + expression)
		if err != nil {
			continue // begin and Reschedule return the error
		}
		if next := s.Next(now); !next.IsZero() {
			until = min(until, next.Sub(now))
		}
	}
	return until
}

// stopAll stops all clients. It waits up to softStop for their jobs, or until ctx ends, and then
// interrupts them.
func (b onDemand) stopAll(ctx context.Context) error {
	b.mu.Lock()
	all := slices.Clone(b.draining)
	if b.work != nil {
		all = append(all, b.work)
	}
	b.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, softStop)
	defer cancel()
	var errs []error
	for _, c := range all {
		c.stopping.Store(true)
		err := c.Stop(wait)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			err = c.StopAndCancel(context.WithoutCancel(ctx))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
