package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// cancelGrace is how long a connection waits for the server's reply to a cancel request.
const cancelGrace = 2 * time.Second

// resetTimeout bounds the reset of a session.
const resetTimeout = 5 * time.Second

// setConsole makes the pool's sessions like new after each use, and the end of a caller's context
// cancel the running statement.
func setConsole(pc *pgxpool.Config) {
	cancelWithContext(pc.ConnConfig)
	pc.AfterRelease = func(conn *pgx.Conn) bool {
		ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
		defer cancel()
		_, err := conn.PgConn().Exec(ctx, "discard all").ReadAll()
		return err == nil
	}
}

// cancelWithContext makes the end of a context cancel the running statement in the server.
func cancelWithContext(c *pgx.ConnConfig) {
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelGrace}
	}
}

// Console lends a connection for statements that may change its session. The pool must have
// Config.Console: it closes a connection that fn leaves in a transaction and resets any other.
func (p *Pool) Console(ctx context.Context, fn func(*pgconn.PgConn) error) error {
	return p.with(ctx, func(c *pgxpool.Conn) error { return fn(c.Conn().PgConn()) })
}

// WithConsole calls fn with a connection outside of a pool, like Console, and closes it.
func WithConsole(ctx context.Context, c *pgx.ConnConfig, fn func(*pgconn.PgConn) error) error {
	c = c.Copy()
	setDialing(c)
	cancelWithContext(c)
	conn, err := pgconn.ConnectConfig(ctx, &c.Config)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // the result is known; the server notices a broken connection
	return fn(conn)
}

// Unprepared returns a Session of a connection outside of a pool, without prepared statements.
func Unprepared(conn *pgconn.PgConn) *Session { return &Session{conn: conn, unprepared: true} }
