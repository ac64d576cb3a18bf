package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"
)

// watchSchemasEvery is how often a running server checks that its own schemas exist.
const watchSchemasEvery = 5 * time.Second

// MigrateOwn creates the schemas and tables of this program. A project's migration may use them and
// may change default privileges, so they come first.
func (d *Database) MigrateOwn(ctx context.Context, conn *pgx.Conn) error {
	if err := host.Migrate(ctx, conn); err != nil {
		return err
	}
	if done, err := jobs.Migrated(ctx, conn); err != nil || done {
		return err
	}
	db, err := pool.Open(ctx,
		pool.Config{URL: d.URL("postgres"), MaxConns: 2, ApplicationName: "daawo-migrate", Log: d.Log})
	if err != nil {
		return err
	}
	defer db.Close()
	queue, err := jobs.New(jobs.Options{DB: db, Log: d.Log})
	if err != nil {
		return err
	}
	return queue.Migrate(ctx)
}

// WatchSchemas creates the schemas of this program again while the server runs, if another tool
// drops them, and then calls restored. It returns a check of them for /readyz. Those that are
// missing now cannot be created here: without superuser the database's owner creates the platform.
func (d *Database) WatchSchemas(ctx context.Context, db *pool.Pool, restored func()) (observe.Check, error) {
	absent, err := migrate.Dropped(ctx, db.Pgx(), ForeignSchemas(d.Config)...)
	if err != nil {
		return nil, err
	}
	check := func(ctx context.Context) error {
		dropped, err := migrate.Dropped(ctx, db.Pgx(), ForeignSchemas(d.Config)...)
		dropped = slices.DeleteFunc(dropped, func(name string) bool { return slices.Contains(absent, name) })
		if err != nil || len(dropped) == 0 {
			return err
		}
		return fmt.Errorf("%w: %s", ErrDropped, strings.Join(dropped, ", "))
	}
	d.Background("watch of the schemas", func(ctx context.Context) { d.keepSchemas(ctx, check, restored) })
	return check, nil
}

// ErrDropped means that another tool has dropped schemas of this program.
var ErrDropped = errors.New("another tool has dropped tables of this program")

// keepSchemas creates dropped schemas again until ctx ends.
func (d *Database) keepSchemas(ctx context.Context, check observe.Check, restored func()) {
	tick := time.NewTicker(watchSchemasEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		dropped := check(ctx)
		if !errors.Is(dropped, ErrDropped) {
			continue // the check "database" reports a database that does not reply
		}
		d.Log.ErrorContext(ctx, "creating dropped schemas again; their jobs and counters are lost", "error", dropped)
		err := d.restoreSchemas(ctx)
		if err == nil {
			restored()
		} else if ctx.Err() == nil {
			d.Log.ErrorContext(ctx, "the dropped schemas cannot be created", "error", err)
		}
	}
}

// restoreSchemas creates what is missing.
func (d *Database) restoreSchemas(ctx context.Context) error {
	if err := d.MigratePlatform(ctx, nil); err != nil {
		return err
	}
	return pool.WithConn(ctx, d.URL("postgres"), func(conn *pgx.Conn) error { return d.MigrateOwn(ctx, conn) })
}
