package db

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Replica reads from a standby of a primary as long as what the standby says is not too old.
//
// How old it is, is measured and not asked for: the position of the primary's log is noted about every second, and the
// standby is as old as the newest noted position that it has reached. That holds on an idle database and for a standby
// that lost its primary without knowing, and needs no clocks that agree.
//
// While the primary itself cannot be reached the standby answers whatever its age: during a failover, a list as old as
// the failover is better than none.
type Replica struct {
	primary, standby *Pool
	oldest           time.Duration
	log              *slog.Logger
	use              atomic.Bool // ask the standby first
	noted            []note      // oldest first; look alone uses them
}

type note struct {
	at       time.Time
	position int64
}

// NewReplica makes a Replica whose answers may be oldest old. Until Watch has seen the standby, the primary is read.
func NewReplica(primary, standby *Pool, oldest time.Duration, log *slog.Logger) *Replica {
	return &Replica{primary: primary, standby: standby, oldest: oldest, log: log}
}

// Watch compares the two servers until ctx ends.
func (r *Replica) Watch(ctx context.Context) {
	every := time.NewTicker(min(time.Second, r.oldest/4))
	defer every.Stop()
	for {
		r.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// lookTimeout is how long a server may take to say where it is.
const lookTimeout = time.Second

func (r *Replica) look(ctx context.Context) {
	now := time.Now()
	primary, perr := r.primary.position(ctx, `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`)
	if perr == nil {
		r.noted = append(r.noted, note{now, primary})
	}
	// A server that is no standby, or no longer, is as new as can be.
	standby, serr := r.standby.position(ctx, `
		select pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, '0/0')::bigint`)
	if ctx.Err() != nil {
		return
	}
	use := serr == nil && (perr != nil || r.reached(standby, now))
	if r.use.Swap(use) != use {
		r.log.Info("reads change servers", "from_standby", use, "primary", perr, "standby", serr)
	}
}

// reached says whether the standby is past a position that was noted not too long ago, and forgets older ones.
func (r *Replica) reached(position int64, now time.Time) bool {
	for len(r.noted) > 0 && now.Sub(r.noted[0].at) > r.oldest {
		r.noted = r.noted[1:]
	}
	for _, n := range r.noted {
		if n.position <= position {
			return true
		}
	}
	return false
}

func (p *Pool) position(ctx context.Context, sql string) (at int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	err = p.Query(ctx, Caller{}, sql, nil, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&at}, func() error { return nil })
		return err
	})
	return at, err
}

// Session lends a connection for statements that only read, to the standby when that will do. fn runs a second time, on
// the primary, when the standby could not serve it: it must forget what it read before.
func (r *Replica) Session(ctx context.Context, scope string, fn func(*Session) error) error {
	if r.use.Load() {
		err := r.standby.Session(ctx, scope, fn)
		// 40001: what the statement read was removed meanwhile (PostgreSQL documentation, "Handling Query Conflicts").
		if err == nil || ctx.Err() != nil || !IsUnavailable(err) && !IsCode(err, "40001") {
			return err
		}
	}
	return r.primary.Session(ctx, scope, fn)
}
