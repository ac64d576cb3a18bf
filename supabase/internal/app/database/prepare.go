package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// PreparedFile returns the name of the cluster that Prepare makes for a package of Postgres.
func PreparedFile(pkg fs.FS) (string, error) { return server.ClusterFile(pkg, migrate.PlatformKey()) }

// Prepare writes a cluster that has the platform's schema and the tables of this program, with
// which new installations begin.
func Prepare(ctx context.Context, pkg fs.FS, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "daawo-prepare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	c, err := config.Load(config.Sources{Getenv: func(string) (string, bool) { return "", false }})
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	s, err := server.Start(ctx, server.Options{Source: pkg, Data: data, Volatile: true})
	if err != nil {
		return err
	}
	in := installation.New(installation.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	d := &Database{Installation: in, embedded: s}
	if err := errors.Join(d.fillPrepared(ctx), stop(ctx, s)); err != nil {
		return fmt.Errorf("prepare a cluster: %w", err)
	}
	return server.WriteCluster(w, data)
}

func (d *Database) fillPrepared(ctx context.Context) error {
	if err := d.MigratePlatform(ctx, nil); err != nil {
		return err
	}
	if err := pool.WithConn(ctx, d.URL("postgres"), func(conn *pgx.Conn) error {
		return d.MigrateOwn(ctx, conn)
	}); err != nil {
		return err
	}
	return d.embedded.Compact(ctx)
}

func stop(ctx context.Context, s *server.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return s.Stop(ctx)
}
