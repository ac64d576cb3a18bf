// Package pool is the only package that opens SQL connections for serving requests. It keeps a
// connection pool, runs statements with the role and the claims of a caller, and classifies
// database errors.
package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config configures a Pool.
type Config struct {
	URL      string // libpq connection string or URL; may have several hosts and target_session_attrs
	MaxConns int32  // maximum of open connections; 0 means 10
	// maximum of callers that begin statements at the same time; 0 means MaxConns, see admission
	MaxActive      int32
	MinIdleConns   int32         // minimum of idle connections; 0 means none
	AcquireTimeout time.Duration // how long a caller waits for a connection before ErrUnavailable; 0 means 5 s
	MaxIdle        time.Duration // an unused connection is closed after this; 0 means 5 min
	MaxLifetime    time.Duration // any connection is closed after this; 0 means an hour
	// Sessions use no prepared statements, for connection poolers that do not support them
	Unprepared bool
	// Callers of Console get a session that is like new. Session needs a pool without it.
	Console         bool
	ApplicationName string       // shown in pg_stat_activity
	Log             *slog.Logger // nil means slog.Default()

	Tracer pgx.QueryTracer // makes spans of statements; nil makes none
}

// Pool is a connection pool. It is safe for concurrent use.
type Pool struct {
	pgx        *pgxpool.Pool
	acquire    time.Duration
	admission  *admission // nil admits as many as there are connections
	unprepared bool
	freeze     *freezeWatch
	tracer     pgx.QueryTracer
	waiting    atomic.Int64
	timeouts   atomic.Int64
}

// ErrUnavailable means that the pool could not give a connection: the database is down, or all
// connections stayed in use. Callers reply with 503 and Retry-After.
var ErrUnavailable = errors.New("the database is not available")

// Open returns a Pool. It does not connect, so the database may still be starting.
func Open(ctx context.Context, c Config) (*Pool, error) {
	pc, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	pc.MaxConns = c.MaxConns
	pc.MaxConns = cmp.Or(pc.MaxConns, 10)
	pc.MinIdleConns = c.MinIdleConns
	pc.MaxConnIdleTime = 5 * time.Minute
	if c.MaxIdle > 0 {
		pc.MaxConnIdleTime = c.MaxIdle
	}
	if c.MaxLifetime > 0 {
		pc.MaxConnLifetime = c.MaxLifetime
	}
	if c.Unprepared {
		pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pc.AfterConnect = registerUUID
	setDialing(pc.ConnConfig)
	dropUnusedCache(pc.ConnConfig)
	pc.ConnConfig.Tracer = c.Tracer
	setHosts(pc)
	if c.Console {
		setConsole(pc)
	}
	pc.PingTimeout = pingTimeout
	if c.ApplicationName != "" {
		pc.ConnConfig.RuntimeParams["application_name"] = c.ApplicationName
	}
	log := cmp.Or(c.Log, slog.Default())
	freeze := watchFreezes(pc, log)
	p, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		freeze.close()
		return nil, fmt.Errorf("database pool: %w", err)
	}
	acquire := cmp.Or(c.AcquireTimeout, 5*time.Second)
	pool := &Pool{pgx: p, acquire: acquire, unprepared: c.Unprepared, freeze: freeze, tracer: c.Tracer}
	if c.MaxActive > 0 && c.MaxActive < pc.MaxConns {
		pool.admission = newAdmission(int(c.MaxActive), int(pc.MaxConns))
	}
	return pool, nil
}

// Close waits until all connections are released and closes them.
func (p *Pool) Close() {
	p.pgx.Close()
	p.freeze.close()
}

// Pgx returns the underlying pool, for libraries that need one (River). Its statements run as the
// login role.
func (p *Pool) Pgx() *pgxpool.Pool { return p.pgx }

// ConnectPrimary opens a connection outside of the pool, for LISTEN, which a standby refuses. Of
// several hosts in the URL it takes the primary.
func (p *Pool) ConnectPrimary(ctx context.Context) (*pgx.Conn, error) {
	c := p.pgx.Config().ConnConfig
	c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	return pgx.ConnectConfig(ctx, c)
}

// Waiting returns the number of callers that wait for a connection.
func (p *Pool) Waiting() int64 { return p.waiting.Load() }

// Timeouts returns the number of callers that got no connection within AcquireTimeout.
func (p *Pool) Timeouts() int64 { return p.timeouts.Load() }

// CloseIdle closes the connections that are not in use.
func (p *Pool) CloseIdle(ctx context.Context) {
	for _, conn := range p.pgx.AcquireAllIdle(ctx) {
		_ = conn.Conn().Close(ctx) // Release removes it from the pool in any case
		conn.Release()
	}
}

// Ping returns an error if the database does not answer.
func (p *Pool) Ping(ctx context.Context) error {
	return p.with(ctx, func(c *pgxpool.Conn) error { return c.Ping(ctx) })
}

// with runs fn on a connection and releases it.
func (p *Pool) with(ctx context.Context, fn func(*pgxpool.Conn) error) error {
	actx, cancel := context.WithTimeout(ctx, p.acquire)
	defer cancel()
	conn, slot, err := p.connection(actx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			p.timeouts.Add(1)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if p.admission != nil {
		defer p.admission.release(slot)
	}
	defer conn.Release()
	return fn(conn)
}

// connection returns a connection and the slot of the admission, if there is one.
func (p *Pool) connection(ctx context.Context) (conn *pgxpool.Conn, slot int, err error) {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	if p.admission != nil {
		if slot, err = p.admission.acquire(ctx); err != nil {
			return nil, 0, err
		}
	}
	if conn, err = p.pgx.Acquire(ctx); err != nil && p.admission != nil {
		p.admission.release(slot)
	}
	return conn, slot, err
}

// Tx runs fn in one transaction as the caller and commits if fn returns nil. If fn returns an
// error, Tx rolls back and returns that error unchanged.
func (p *Pool) Tx(ctx context.Context, caller Caller, opts pgx.TxOptions, fn func(pgx.Tx) error) error {
	return p.with(ctx, func(conn *pgxpool.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, opts, func(tx pgx.Tx) error {
			if sql, args := caller.setup(); sql != "" {
				if _, err := tx.Exec(ctx, sql, args...); err != nil {
					return err
				}
			}
			return fn(tx)
		})
	})
}

// Query runs one statement as the caller in one round trip. The caller's settings and the statement
// are one pipeline, which Postgres runs as one transaction (PostgreSQL documentation, "Pipeline
// Mode"). read gets the rows, which Query then closes.
func (p *Pool) Query(ctx context.Context, caller Caller, sql string, args []any, read func(pgx.Rows) error) error {
	return p.with(ctx, func(conn *pgxpool.Conn) error {
		batch := &pgx.Batch{}
		setup, setupArgs := caller.setup()
		if setup != "" {
			batch.Queue(setup, setupArgs...)
		}
		batch.Queue(sql, args...)
		results := conn.SendBatch(ctx, batch)
		err := func() error {
			if setup != "" {
				if _, err := results.Exec(); err != nil {
					return err
				}
			}
			rows, err := results.Query()
			if err != nil {
				return err
			}
			defer rows.Close()
			if err := read(rows); err != nil {
				return err
			}
			rows.Close()
			return rows.Err()
		}()
		// Close reads the reply to Sync, where the implicit transaction commits, so it returns the
		// commit's error.
		if cerr := results.Close(); err == nil {
			err = cerr
		}
		return err
	})
}

// Batch runs the statements as the caller in one round trip and one transaction, like Query. The
// first error rolls back all of them. The batch's callbacks get the rows before the commit.
func (p *Pool) Batch(ctx context.Context, caller Caller, b *pgx.Batch) error {
	if setup, args := caller.setup(); setup != "" {
		b.QueuedQueries = slices.Insert(b.QueuedQueries, 0, &pgx.QueuedQuery{SQL: setup, Arguments: args})
	}
	return p.with(ctx, func(conn *pgxpool.Conn) error { return conn.SendBatch(ctx, b).Close() })
}

// Exec runs one statement as the caller and returns the number of affected rows.
func (p *Pool) Exec(ctx context.Context, caller Caller, sql string, args ...any) (int64, error) {
	var n int64
	err := p.Query(ctx, caller, sql, args, func(rows pgx.Rows) error {
		rows.Close()
		n = rows.CommandTag().RowsAffected()
		return nil
	})
	return n, err
}
