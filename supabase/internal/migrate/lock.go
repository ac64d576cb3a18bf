package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockKey is the advisory lock that migrators of one database take turns by.
// Its value is the letters of the product's name.
const lockKey = 0x646161776f

// Alone runs f while no other program migrates the database of conn: what servers that start at the same time must do
// one after the other.
func Alone(ctx context.Context, conn *pgx.Conn, f func() error) error { return locked(ctx, conn, f) }

// locked runs f while this session alone migrates the database. The lock
// belongs to the session, so that it spans transactions and dies with us.
func locked(ctx context.Context, conn *pgx.Conn, f func() error) (err error) {
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, int64(lockKey)); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	defer func() {
		// Unlock even when ctx has ended; a broken connection unlocks by itself.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, e := conn.Exec(ctx, `select pg_advisory_unlock($1)`, int64(lockKey)); e != nil && !conn.IsClosed() {
			err = errors.Join(err, fmt.Errorf("end of migrations: %w", e))
		}
	}()
	return f()
}

// withLine adds the line of the text at which Postgres found an error.
func withLine(err error, text string) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Position <= 0 {
		return err
	}
	runes := []rune(text)
	at := min(int(pg.Position)-1, len(runes))
	return fmt.Errorf("line %d: %w", 1+strings.Count(string(runes[:at]), "\n"), err)
}
