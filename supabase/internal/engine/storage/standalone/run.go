package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage"
	"daawo/supabase/internal/engine/storage/backend"

	"github.com/jackc/pgx/v5"
)

// Run serves until ctx is done. It calls ready with the address once it listens.
func Run(ctx context.Context, c *Config, log *slog.Logger, ready func(net.Addr)) error {
	verifying, err := c.verifyingKeys()
	if err != nil {
		return err
	}
	pool, err := pool.Open(ctx,
		pool.Config{URL: c.Database, MaxConns: c.MaxConns, ApplicationName: "daawo storage", Log: log})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := schema(ctx, pool); err != nil {
		return err
	}
	store, closer, err := c.open()
	if err != nil {
		return err
	}
	defer closer.Close()
	engine, err := storage.New(storage.Options{Config: c.Engine, Pool: pool, Backend: store,
		URLSecret: []byte(c.JWTSecret), Verifier: keys.NewVerifier(keys.Options{}, verifying...), Log: log})
	if err != nil {
		return err
	}
	engine.Claim(ctx)
	engine.SweepDaily()
	defer engine.Close(context.WithoutCancel(ctx))
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: engine, ReadHeaderTimeout: 65 * time.Second, IdleTimeout: 61 * time.Second,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	ready(listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(shutdown); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

func (c *Config) open() (backend.Backend, io.Closer, error) {
	if c.Disk != nil {
		d, err := backend.OpenDisk(*c.Disk)
		return d, d, err
	}
	s, err := backend.OpenS3(*c.S3)
	return s, io.NopCloser(nil), err
}

// schema creates the storage schema in an empty database, as storage-api does when it starts. It
// returns an error if the schema is older than the engine needs. It accepts a newer schema.
func schema(ctx context.Context, db *pool.Pool) error {
	return db.Tx(ctx, pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		// the lock that storage-api's migrations take
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(-8525285245963000605)`); err != nil {
			return err
		}
		var present bool
		if err := tx.QueryRow(ctx, `select to_regclass('storage.migrations') is not null`).Scan(&present); err != nil {
			return err
		}
		if present {
			var last *int
			if err := tx.QueryRow(ctx, `select max(id) from storage.migrations`).Scan(&last); err != nil {
				return err
			}
			if last != nil {
				if *last < requiredMigration {
					return fmt.Errorf("storage schema is at migration %d, but %d is required: run storage-api %s "+
						"once to migrate it", *last, requiredMigration, storage.Version)
				}
				return migrate.ExecPlatform(ctx, tx, "30_storage_marks.sql") // storage-api does not make it
			}
		}
		return migrate.ExecPlatform(ctx, tx, "30_storage*.sql")
	})
}

// requiredMigration is the number of the storage-api migration that the engine needs at least. The
// schema that it makes has later ones.
const requiredMigration = 63
