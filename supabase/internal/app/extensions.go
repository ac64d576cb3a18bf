package app

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/extension/cron"
	"daawo/supabase/internal/database/extension/lead"
	"daawo/supabase/internal/database/extension/pgnet"
	"daawo/supabase/internal/database/pool"
)

// extensionWorkers lists what works for the extensions of the database. Each runs in one server at
// a time.
var extensionWorkers = []func(*services, *pool.Pool) lead.Worker{
	func(s *services, pool *pool.Pool) lead.Worker {
		return cron.New(cron.Options{DB: pool, Connect: s.db.ConnectAs, Log: s.Log.With("part", "pg_cron")})
	},
	func(s *services, pool *pool.Pool) lead.Worker {
		return pgnet.New(pgnet.Options{DB: pool, Targets: netTargets(s.Config, s.Addresses), Log: s.Log.With("part", "pg_net")})
	},
}

// openExtensions starts the workers. They need a superuser: the one of the embedded Postgres, or
// DATABASE_URL's. Other databases have these extensions in C, or do not have them.
func (s *services) openExtensions(ctx context.Context) error {
	admin, ok, err := s.db.Superuser(ctx)
	if err != nil || !ok {
		return err
	}
	db, err := s.pools.open(ctx, admin, "extensions", extensionConns)
	if err != nil {
		return err
	}
	o := lead.Options{
		Connect: func(ctx context.Context) (*pgx.Conn, error) { return pool.Connect(ctx, admin) },
		Log:     s.Log.With("part", "extensions"),
	}
	for _, open := range extensionWorkers {
		o.Workers = append(o.Workers, open(s, db))
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		lead.Run(working, o)
	}()
	s.OnClose("extensions", func(context.Context) error { cancel(); <-done; return nil })
	return nil
}

// serveHTTP answers the extension http of the embedded Postgres. Migrations may call it.
func serveHTTP(a *App, d *database.Database, at front.Addresses) error {
	if !d.Embedded() {
		return nil
	}
	s, err := pgnet.Serve(database.SocketDir(d), netTargets(a.Config, at), a.Log.With("part", "http"))
	if err != nil {
		return fmt.Errorf("extension http: %w", err)
	}
	a.OnClose("http", s.Close)
	return nil
}

// netTargets returns the addresses that pg_net and http may reach: all on loopback, where every
// client is a program of this machine, and otherwise the internet and the stack itself, unless
// PG_NET_PRIVATE says more.
func netTargets(c *config.Config, at front.Addresses) pgnet.Targets {
	private := c.NetPrivate == "allow" || c.NetPrivate == "" && c.Loopback()
	return pgnet.Targets{Public: at.Public, Inside: at.Inside, Private: private,
		Allowed: []netip.Prefix(c.NetAllowed)}
}
