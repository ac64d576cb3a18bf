package pgmeta

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/meta"
)

// Sizes of the pools. postgres-meta opens a connection for each request, so it has no limit.
const (
	catalogConns = 4
	consoleConns = 16
)

// maxIdle is how long an idle connection stays open.
const maxIdle = 30 * time.Second

// Run serves until ctx is done. It calls ready with the address once it listens.
func Run(ctx context.Context, c *Config, log *slog.Logger, ready func(net.Addr)) error {
	o := c.Engine
	o.Log = log
	const name = "daawo meta"
	var err error
	o.Catalog, err = pool.Open(ctx, pool.Config{URL: c.Database, MaxConns: catalogConns, MaxIdle: maxIdle,
		AcquireTimeout: o.ConnectTimeout, ApplicationName: name, Log: log})
	if err != nil {
		return err
	}
	defer o.Catalog.Close()
	o.Console, err = pool.Open(ctx, pool.Config{URL: c.Database, MaxConns: consoleConns, MaxIdle: maxIdle,
		AcquireTimeout: o.ConnectTimeout, ApplicationName: name, Console: true, Log: log})
	if err != nil {
		return err
	}
	defer o.Console.Close()
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: meta.New(o), ReadHeaderTimeout: 65 * time.Second, IdleTimeout: 61 * time.Second,
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
