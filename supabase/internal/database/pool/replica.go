package pool

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Replica reads from a standby of a primary while the standby's data is fresh enough.
//
// It measures the lag itself: about every second it samples the primary's WAL position. The standby
// is as old as the newest sample that it has replayed. This works on an idle database, for a
// standby that lost its primary without noticing, and with clocks that differ.
//
// While the primary is unreachable, the standby serves reads at any age: during a failover, old
// data is better than none.
type Replica struct {
	primary, standby *Pool
	maxLag           time.Duration
	log              *slog.Logger
	useStandby       atomic.Bool

	// Used by probe only.
	samples    []sample // of the primary, oldest first
	wasStandby bool     // at the last probe
}

// sample is a WAL position of the primary at a time.
type sample struct {
	at       time.Time
	position int64
}

// NewReplica returns a Replica whose reads lag at most maxLag behind. Until Watch has probed the
// standby, it reads from the primary.
func NewReplica(primary, standby *Pool, maxLag time.Duration, log *slog.Logger) *Replica {
	return &Replica{primary: primary, standby: standby, maxLag: maxLag, log: log}
}

// Watch probes the two servers until ctx ends.
func (r *Replica) Watch(ctx context.Context) {
	ticker := time.NewTicker(min(time.Second, r.maxLag/4))
	defer ticker.Stop()
	for {
		r.probe(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// probeTimeout is how long a server may take to report its position.
const probeTimeout = time.Second

// probe compares the positions of the two servers and decides which one serves reads.
func (r *Replica) probe(ctx context.Context) {
	now := time.Now()
	written, primaryErr := r.primary.position(ctx)
	if primaryErr == nil {
		r.samples = append(r.samples, sample{now, written})
	}
	replayed, isStandby, standbyErr := r.standby.replayPosition(ctx)
	if ctx.Err() != nil {
		return
	}
	if standbyErr != nil || r.wasStandby && !isStandby {
		// The host may be unreachable or promoted to primary. New connections can reach another
		// standby, if the URL has one.
		r.standby.pgx.Reset()
	}
	r.wasStandby = isStandby
	useStandby := standbyErr == nil && (primaryErr != nil || r.isFresh(replayed, now))
	if r.useStandby.Swap(useStandby) != useStandby {
		r.log.Info("read server changed", "standby", useStandby, "primary_err", primaryErr, "standby_err", standbyErr)
	}
}

// isFresh reports whether a position reaches a sample that is at most maxLag old. It removes older
// samples.
func (r *Replica) isFresh(position int64, now time.Time) bool {
	for len(r.samples) > 0 && now.Sub(r.samples[0].at) > r.maxLag {
		r.samples = r.samples[1:]
	}
	for _, s := range r.samples {
		if s.position <= position {
			return true
		}
	}
	return false
}

// position returns the WAL position of a primary.
func (p *Pool) position(ctx context.Context) (position int64, err error) {
	err = p.queryRow(ctx, `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`, &position)
	return position, err
}

// replayPosition returns the WAL position that a standby has replayed. For a server that is not a
// standby it returns the current position.
func (p *Pool) replayPosition(ctx context.Context) (position int64, isStandby bool, err error) {
	err = p.queryRow(ctx, `
		select pg_wal_lsn_diff(
			case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, '0/0')::bigint,
		       pg_is_in_recovery()`, &position, &isStandby)
	return position, isStandby, err
}

func (p *Pool) queryRow(ctx context.Context, sql string, to ...any) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return p.Query(ctx, Caller{}, sql, nil, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, to, func() error { return nil })
		return err
	})
}

// switchAfter is how long a read waits for a connection to one server before it tries the other.
const switchAfter = 2 * time.Second

// Session lends a connection for statements that only read, to the standby if it is fresh enough.
// If a server is unavailable, fn runs again on the other one, so fn must discard what it read
// before.
func (r *Replica) Session(ctx context.Context, scope string, fn func(*Session) error) error {
	if !r.useStandby.Load() {
		return r.primary.Session(ctx, scope, fn)
	}
	for _, p := range []*Pool{r.standby, r.primary} {
		attempt, cancel := context.WithTimeout(ctx, switchAfter)
		err := p.Session(attempt, scope, fn)
		// Only the wait for a connection is limited to switchAfter. An error of the server itself,
		// such as a statement timeout, would be the same on the other server. 40001 would not:
		// recovery removed rows that the statement needed (PostgreSQL documentation, "Handling
		// Query Conflicts").
		timedOut := errors.Is(err, context.DeadlineExceeded) && attempt.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !timedOut && !IsUnavailable(err) && !IsCode(err, "40001") {
			return err
		}
	}
	// Both pools were connected to the host that failed. By now the standby's pool may have reached
	// another host.
	return r.standby.Session(ctx, scope, fn)
}
