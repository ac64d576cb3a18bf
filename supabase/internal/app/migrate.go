package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/database/pool"
)

// Migrate applies everything that is pending in the database: migrations of the platform, the
// project and the background jobs, seeds and buckets. It uses the embedded Postgres of a running
// server, or starts it.
func (a *App) Migrate(ctx context.Context) (err error) {
	if err := a.Config.CheckServices(); err != nil {
		return err
	}
	if len(a.Config.OtherSecrets) > 0 { // in the compose form nothing public starts before this has ended
		if err := a.Config.CheckSecrets(); err != nil {
			return err
		}
	}
	return a.oneShot(ctx, func(d *database.Database) error {
		if err := a.migrateAll(ctx, d); err != nil {
			return err
		}
		if a.Config.StorageURL == "" {
			return nil // the storage engine creates its buckets when it starts
		}
		key := a.Config.Keys.ServiceRole
		if key == "" {
			set, err := keyring.Load(ctx, a.Config, a.Data)
			if err != nil {
				return err
			}
			key = set.ServiceRole
		}
		var storage http.Handler
		if err := upstream(a.Installation, a.Config.StorageURL, &storage); err != nil {
			return err
		}
		return pool.WithConn(ctx, d.URL("postgres"), func(conn *pgx.Conn) error {
			return seedStorage(ctx, a.Config, a.Project, storage, key, conn)
		})
	})
}

// WithDatabase calls work with a connection as the role postgres, and applies nothing before. It
// uses the embedded Postgres of a running server, or starts it.
func (a *App) WithDatabase(ctx context.Context, work func(*pgx.Conn) error) error {
	return a.oneShot(ctx, func(d *database.Database) error { return pool.WithConn(ctx, d.URL("postgres"), work) })
}

// openDatabase starts the embedded Postgres, unless DATABASE_URL is set or the process before this
// one runs it.
func (a *App) openDatabase(ctx context.Context) (*database.Database, error) {
	if a.Config.DatabaseURL == "" {
		if err := checkCluster(a.Options); err != nil {
			return nil, err
		}
	}
	return database.Open(ctx, a.Installation,
		database.Options{Sockets: a.process.Sockets, Attach: a.process.Replaces(), TLSPort: a.process.TLSPort()})
}

// migrateAll applies all that is pending in the database. It makes a backup first if the
// installation has an older schema.
func (a *App) migrateAll(ctx context.Context, d *database.Database) error {
	if err := checkFiles(ctx, a.Options, d); err != nil {
		return err
	}
	if err := makeFilesDir(a.Options, d); err != nil {
		return err
	}
	return d.MigrateAll(ctx, a.backups.beforeUpgrade)
}

// oneShot opens the database, calls work and closes the database. The embedded Postgres may be that
// of a running server.
func (a *App) oneShot(ctx context.Context, work func(*database.Database) error) error {
	return a.startOrClose(ctx, func(ctx context.Context) error {
		if _, err := datadir.ReadServer(a.Data); a.Config.DatabaseURL == "" && err == nil && datadir.Locked(a.Data) {
			d, err := database.Beside(a.Installation)
			if err != nil {
				return err
			}
			return errors.Join(work(d), a.Close(context.WithoutCancel(ctx)))
		}
		if a.Config.DatabaseURL == "" {
			lock, err := datadir.Lock(a.Data)
			if err != nil {
				return err
			}
			a.OnClose("data folder", func(context.Context) error { return lock.Close() })
			a.Config.DB.Port = 0 // only work uses it
		}
		d, err := a.openDatabase(ctx)
		if err != nil {
			return err
		}
		if err := work(d); err != nil {
			return err
		}
		if err := a.Close(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("the command succeeded, but stopping failed: %w", err)
		}
		return nil
	})
}
