// Package store reads and writes the rows of auth's tables: users with their identities and
// factors, sessions, one-time tokens, flows, passkeys and the audit log.
package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// Config is the part of auth's configuration that decides which rows are written and deleted.
type Config struct {
	DefaultRole  string        // role of new users
	NoAuditTable bool          // the audit log goes to the process log only
	LinkExpiry   time.Duration // lifetime of a mailed link
	Timebox      time.Duration // sessions end after it; zero means never
	Inactivity   time.Duration // sessions end when unused for so long; zero means never
}

// Store writes rows that need the clock or the configuration. Functions of the package do the rest.
type Store struct {
	DB     *pool.Pool // as supabase_auth_admin
	Log    *slog.Logger
	Now    func() time.Time
	Config Config
}

// ErrNotFound means that no row matches.
var ErrNotFound = errors.New("not found")

// Queries is a transaction or the pool.
type Queries interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// QueueRow adds a query to b that stores the first row in *row. Without a row *row stays nil: an
// error would make pgx forget the prepared statements of the batch.
func QueueRow[T any](b *pgx.Batch, row **T, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[T])
		if len(found) > 0 {
			*row = found[0]
		}
		return err
	})
}
