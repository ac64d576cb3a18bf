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

// lockKey is the key of the advisory lock that serializes migrations of one
// database. It is the ASCII code of the product's name.
const lockKey = 0x646161776f

// Locked runs f while it holds the migration lock of the database, so servers
// that start at the same time run f one after the other. The lock belongs to
// the session: it spans transactions and ends with the connection.
func Locked(ctx context.Context, conn *pgx.Conn, f func() error) (err error) {
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, int64(lockKey)); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	defer func() {
		// Unlock even if ctx has ended. A broken connection unlocks by itself.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, e := conn.Exec(ctx, `select pg_advisory_unlock($1)`, int64(lockKey)); e != nil && !conn.IsClosed() {
			err = errors.Join(err, fmt.Errorf("release the migration lock: %w", e))
		}
	}()
	return f()
}

// withLine adds the line of text at which Postgres found an error.
func withLine(err error, text string) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Position <= 0 {
		return err
	}
	runes := []rune(text)
	at := min(int(pg.Position)-1, len(runes))
	return fmt.Errorf("line %d of it: %w", 1+strings.Count(string(runes[:at]), "\n"), err)
}
