package db

import (
	"context"
	"errors"
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
	noted            []note      // oldest first; look alone uses them and followed
	followed         bool        // the standby was one when it was last asked
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
	primary, perr := r.primary.written(ctx)
	if perr == nil {
		r.noted = append(r.noted, note{now, primary})
	}
	standby, follows, serr := r.standby.replayed(ctx)
	if ctx.Err() != nil {
		return
	}
	if serr != nil || r.followed && !follows {
		// The connections may lead to a host that is gone without a word, or that has become the primary: new ones find
		// another standby, if there is one.
		r.standby.pgx.Reset()
	}
	r.followed = follows
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

// written is the end of the primary's log.
func (p *Pool) written(ctx context.Context) (at int64, err error) {
	err = p.ask(ctx, `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`, &at)
	return at, err
}

// replayed is the position that a standby has reached. A server that follows nobody is as new as can be.
func (p *Pool) replayed(ctx context.Context) (at int64, follows bool, err error) {
	err = p.ask(ctx, `
		select pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, '0/0')::bigint,
		       pg_is_in_recovery()`, &at, &follows)
	return at, follows, err
}

func (p *Pool) ask(ctx context.Context, sql string, to ...any) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return p.Query(ctx, Caller{}, sql, nil, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, to, func() error { return nil })
		return err
	})
}

// patience is how long a read waits for a connection to one of two servers before it asks the other.
const patience = 2 * time.Second

// Session lends a connection for statements that only read, to the standby when that will do. fn runs again on the other
// server when one could not serve it: it must forget what it read before.
func (r *Replica) Session(ctx context.Context, scope string, fn func(*Session) error) error {
	if !r.use.Load() {
		return r.primary.Session(ctx, scope, fn)
	}
	for _, p := range []*Pool{r.standby, r.primary} {
		attempt, cancel := context.WithTimeout(ctx, patience)
		err := p.Session(attempt, scope, fn)
		// Only waiting for a connection ends with the attempt: what the server itself says, that the statement took too long
		// for one, it would say again. 40001 it would not: what the statement read was removed meanwhile (PostgreSQL
		// documentation, "Handling Query Conflicts").
		late := errors.Is(err, context.DeadlineExceeded) && attempt.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !late && !IsUnavailable(err) && !IsCode(err, "40001") {
			return err
		}
	}
	// Both were on the host that is gone: by now there are connections to another one.
	return r.standby.Session(ctx, scope, fn)
}
