package app

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

// migrateOwn creates the schemas and tables of this program. A project's migration may use them and
// may change default privileges, so they come first.
func (d *database) migrateOwn(ctx context.Context, conn *pgx.Conn) error {
	if err := host.Migrate(ctx, conn); err != nil {
		return err
	}
	if done, err := jobs.Migrated(ctx, conn); err != nil || done {
		return err
	}
	pool, err := pool.Open(ctx,
		pool.Config{URL: d.url("postgres"), MaxConns: 2, ApplicationName: "daawo-migrate", Log: d.Log})
	if err != nil {
		return err
	}
	defer pool.Close()
	jobs, err := jobs.New(jobs.Options{DB: pool, Log: d.Log})
	if err != nil {
		return err
	}
	return jobs.Migrate(ctx)
}

// openSchemas adds the schemas of this program to /readyz and creates them again while the server
// runs, if another tool drops them. Those that are missing now cannot be created here: without
// superuser the database's owner creates the platform.
func (s *services) openSchemas(ctx context.Context, pool *pool.Pool) error {
	absent, err := migrate.Dropped(ctx, pool.Pgx(), s.foreignSchemas()...)
	if err != nil {
		return err
	}
	check := func(ctx context.Context) error {
		dropped, err := migrate.Dropped(ctx, pool.Pgx(), s.foreignSchemas()...)
		dropped = slices.DeleteFunc(dropped, func(name string) bool { return slices.Contains(absent, name) })
		if err != nil || len(dropped) == 0 {
			return err
		}
		return fmt.Errorf("%w: %s", errDropped, strings.Join(dropped, ", "))
	}
	s.ready["schemas"] = check
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watchSchemas(running, check)
	}()
	s.OnClose("watch of the schemas", func(context.Context) error { cancel(); <-done; return nil })
	return nil
}

// errDropped means that another tool has dropped schemas of this program.
var errDropped = errors.New("another tool has dropped tables of this program")

// watchSchemas creates dropped schemas again until ctx ends.
func (s *services) watchSchemas(ctx context.Context, check observe.Check) {
	tick := time.NewTicker(watchSchemasEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		dropped := check(ctx)
		if !errors.Is(dropped, errDropped) {
			continue // the check "database" reports a database that does not reply
		}
		s.Log.ErrorContext(ctx, "creating dropped schemas again; their jobs and counters are lost", "error", dropped)
		if err := s.restoreSchemas(ctx); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "the dropped schemas cannot be created", "error", err)
		}
	}
}

// restoreSchemas creates what is missing and closes idle connections, whose prepared statements
// name the dropped types.
func (s *services) restoreSchemas(ctx context.Context) error {
	if err := s.db.migratePlatform(ctx, nil); err != nil {
		return err
	}
	if err := pool.WithConn(ctx, s.db.url("postgres"),
		func(conn *pgx.Conn) error { return s.db.migrateOwn(ctx, conn) }); err != nil {
		return err
	}
	for _, pool := range s.pools.all() {
		pool.Pgx().Reset()
	}
	return nil
}

// ownSchemas checks that no other tool has dropped the schemas of this program.
func (c *checker) ownSchemas(ctx context.Context, conn *pgx.Conn) error {
	skip := c.foreignSchemas()
	var creates bool // without superuser, the owner of the database creates the platform
	if err := conn.QueryRow(ctx,
		`select rolsuper or to_regclass('daawo.platform') is not null from pg_roles where rolname = current_user`).Scan(&creates); err != nil {
		return err
	}
	if c.Config.DatabaseURL != "" && !creates {
		skip = append(skip, "07", "20")
	}
	dropped, err := migrate.Dropped(ctx, conn, skip...)
	if err == nil && len(dropped) > 0 {
		c.say("database", Bad, "%v: %s; a running server creates them again within seconds; if it does not, its log says why",
			errDropped, strings.Join(dropped, ", "))
	}
	return err
}
