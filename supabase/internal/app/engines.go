package app

import (
	"context"
	"sync"
	"time"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/pgrst"
	"daawo/supabase/internal/engine/rest/token"
)

// Maximum sizes of the connection pools. With realtimeConns, the connections that listen for
// notifications and the jobs of pg_cron they are 71 at most. The embedded Postgres has 150
// connections: for two processes during an upgrade, one of which finishes, and 8 for administrators
// and backups.
const (
	restConns      = 12
	mostRESTConns  = 20 // on a Postgres with many cores
	authConns      = 6
	storageConns   = 6
	functionsConns = 8
	outboxConns    = 4
	extensionConns = 3 // a job of pg_cron has its own connection
	catalogConns   = 4 // of meta: lists and types
	consoleConns   = 4 // of meta: statements of administrators
)

// restPool returns the size of REST's pool and the number of its connections that begin a statement
// at the same time, for a Postgres with a number of cores; 0 is unknown. Four per core keep the
// cores busy while replies are on their way and inserts wait for the disk.
func restPool(cores int) (conns, active int32) {
	if cores == 0 {
		return restConns, 0
	}
	active = int32(min(4*cores, mostRESTConns))
	return min(max(restConns, active+4), mostRESTConns), active
}

// openREST opens the REST engine, which is compatible with PostgREST.
func (s *services) openREST(ctx context.Context) error {
	if s.Config.RESTURL != "" {
		return upstream(s.Installation, s.Config.RESTURL, &s.rest)
	}
	if !s.Config.API.Enabled {
		return nil
	}
	conns, active := restPool(s.db.Cores())
	pool, err := s.pools.openLimited(ctx, s.db.URL("authenticator"), "rest", conns, active)
	if err != nil {
		return err
	}
	c := rest.Default()
	c.Schemas, c.ExtraSearchPath = s.Config.API.Schemas, s.Config.API.ExtraSearchPath
	c.AnonRole, c.NoCORS, c.RefuseIDTokens = keys.RoleAnon, true, true
	c.RequireFilter, c.CancelReads = true, true
	c.ProxyURL = s.Public + "/rest/v1"
	if s.Config.API.MaxRows > 0 {
		c.MaxRows = &s.Config.API.MaxRows
	}
	// As upstream, settings of the login role (alter role authenticator set pgrst.… = …) override
	// [api].
	configure := func(ctx context.Context) (rest.Config, error) {
		keyed := c
		keyed.Keys = token.NewSet(s.keys.Trusted()...)
		return pgrst.Overlay(ctx, pool, keyed, s.Log.With("part", "rest"))
	}
	configured, err := configure(ctx)
	if err != nil {
		return err
	}
	replica, err := s.openReplica(ctx, pool)
	if err != nil {
		return err
	}
	engine, err := rest.New(rest.Options{
		Pool: pool, Config: configured, Configure: configure, Log: s.Log.With("part", "rest"), Now: s.Now,
		Replica: replica, ReplicaTables: s.Config.Replica.Tables,
	})
	if err != nil {
		return err
	}
	// other services start while it reads the schema
	started := make(chan error, 1)
	go func() { started <- engine.Start(ctx) }()
	s.restStarted = sync.OnceValue(func() error { return <-started })
	s.keys.OnChange(func(keys.Set) {
		// Wait for it: the gateway sends tokens of the new keys as soon as this returns.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if c, err := configure(ctx); err == nil {
			engine.SetConfig(c)
			return
		}
		engine.ReloadConfig()
	})
	s.OnClose("rest", engine.Close)
	s.rest = engine
	s.ready["database"] = pool.Ping
	return nil
}

// openReplica connects to the standby of DATABASE_READ_URL. It returns nil if the variable is not
// set.
func (s *services) openReplica(ctx context.Context, primary *pool.Pool) (*pool.Replica, error) {
	if s.Config.Replica.URL == "" {
		return nil, nil
	}
	given, err := config.ReplicaURL(s.Config)
	if err != nil {
		return nil, err
	}
	standby, err := s.pools.open(ctx, database.As(given, "authenticator"), "standby", restConns)
	if err != nil {
		return nil, err
	}
	replica := pool.NewReplica(primary, standby, time.Duration(s.Config.Replica.MaxLag), s.Log.With("part", "standby"))
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		replica.Watch(watching)
	}()
	s.OnClose("standby", func(context.Context) error { cancel(); <-done; return nil })
	return replica, nil
}
