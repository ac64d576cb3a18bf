// Package testserver makes databases for tests of functions. A test binary starts it as a process
// of its own, so that tests need no code of Postgres and the server ends with the test.
// supabase/edgetest is its client.
package testserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"

	"github.com/jackc/pgx/v5"
)

// Options configure Serve.
type Options struct {
	Source  fs.FS // the Postgres package
	Project fs.FS // the content of the folder supabase/
	In      io.Reader
	Out     io.Writer
}

// template is the database that is copied.
const template = "template_functions"

// database is the reply to a line "new": the URLs of a database by role, or an error.
type database struct {
	Name  string            `json:"name"`
	URLs  map[string]string `json:"urls"`
	Error string            `json:"error,omitempty"`
}

// Serve starts a Postgres in a temporary folder and prepares a database with the platform's schema
// and the project's migrations. For each line "new" of Out it makes a copy and writes its URLs as a
// line of JSON; a line "drop NAME" drops it. It ends with the input.
func Serve(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp(fastDir(), "functions-db-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	pg, err := server.Start(ctx, server.Options{
		Source: o.Source, Data: filepath.Join(dir, "data"), Volatile: true, Prepared: migrate.PlatformKey(),
		Settings: map[string]string{"max_connections": "100", "autovacuum": "off", "shared_buffers": "32MB"},
		Log:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, pg.Stop(ctx))
	}()
	admin, err := pgx.Connect(ctx, pg.DatabaseURL(server.Superuser, "template1")) // postgres is copied
	if err != nil {
		return err
	}
	defer admin.Close(context.WithoutCancel(ctx))
	failure := fill(ctx, pg, admin, o.Project)
	lines := bufio.NewScanner(o.In)
	for n := 1; lines.Scan(); n++ {
		command, name, _ := strings.Cut(lines.Text(), " ")
		if command == "drop" {
			if _, err := admin.Exec(ctx,
				fmt.Sprintf("drop database if exists %s with (force)", pgx.Identifier{name}.Sanitize())); err != nil {
				return err
			}
			continue
		}
		reply := database{Name: fmt.Sprintf("test_%d", n)}
		if err := errors.Join(failure, copyDatabase(ctx, admin, reply.Name, template)); err != nil {
			reply.Error = err.Error()
		}
		reply.URLs = map[string]string{}
		for _, role := range []string{"postgres", server.Superuser} {
			reply.URLs[role] = pg.DatabaseURL(role, reply.Name)
		}
		if err := json.NewEncoder(o.Out).Encode(reply); err != nil {
			return err
		}
	}
	return lines.Err()
}

// copyDatabase makes a database as a copy of another, with the settings of the platform.
func copyDatabase(ctx context.Context, admin *pgx.Conn, name, from string) error {
	_, err := admin.Exec(ctx,
		fmt.Sprintf("create database %s template %s owner postgres strategy wal_log", name, from))
	if err == nil {
		_, err = admin.Exec(ctx, fmt.Sprintf(`alter database %s set search_path = "$user", public, extensions`, name))
	}
	if err == nil {
		err = allowCron(ctx, admin, name)
	}
	return err
}

// allowCron lets a database have pg_cron, which only the database of cron.database_name can have.
// No scheduler reads the jobs: tests run what they test.
func allowCron(ctx context.Context, admin *pgx.Conn, name string) error {
	_, err := admin.Exec(ctx, fmt.Sprintf(`alter database %s set cron.database_name = %[1]s`, name))
	return err
}

// fastDir returns a folder in memory, or "" for the default temporary folder.
func fastDir() string {
	const dir = "/dev/shm"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// fill makes the template: what a start of the project creates.
func fill(ctx context.Context, pg *server.Server, admin *pgx.Conn, project fs.FS) error {
	conn, err := pgx.Connect(ctx, pg.URL(server.Superuser))
	if err != nil {
		return err
	}
	if err := errors.Join(migrate.Platform(ctx, conn), conn.Close(ctx)); err != nil {
		return err
	}
	if err := copyDatabase(ctx, admin, template, "postgres"); err != nil {
		return err
	}
	pool, err := pool.Open(ctx,
		pool.Config{URL: pg.DatabaseURL("postgres", template), MaxConns: 2, ApplicationName: "functions-db"})
	if err != nil {
		return err
	}
	defer pool.Close()
	box, err := jobs.New(jobs.Options{DB: pool, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := box.Migrate(ctx); err != nil {
		return err
	}
	own, err := pool.Pgx().Acquire(ctx)
	if err != nil {
		return err
	}
	defer own.Release()
	if err := host.Migrate(ctx, own.Conn()); err != nil {
		return err
	}
	if err := migrate.Setup(ctx, own.Conn(), project, false); err != nil {
		return err
	}
	_, err = migrate.Apply(ctx, own.Conn(), project)
	return err
}
