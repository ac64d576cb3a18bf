package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
)

// Shadow calls work with a connection, as the role postgres, to a new database that ends with the
// call. It is one of the server of DATABASE_URL, whose extensions the project may need, or of an
// embedded server. The database has what a new installation has, and the project's migrations if
// migrations is set. It uses no data of an installation.
func Shadow(ctx context.Context, o installation.Options, migrations bool, work func(*pgx.Conn) error) (err error) {
	dir, err := os.MkdirTemp("", "daawo-shadow-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	c := *o.Config
	c.DB.Port, c.Backup.To, c.DBTLS = 0, "", false
	if c.DatabaseURL != "" {
		url, drop, e := shadowDatabase(ctx, &c)
		if e != nil {
			return fmt.Errorf("shadow database: %w", e)
		}
		defer func() { err = errors.Join(err, drop()) }()
		c.DatabaseURL = url
	}
	o.Config, o.Data = &c, dir
	return shadow(ctx, installation.New(o), migrations, work)
}

func shadow(ctx context.Context, in installation.Installation, migrations bool,
	work func(*pgx.Conn) error) (err error) {
	defer func() { err = errors.Join(err, in.CloseAll(context.WithoutCancel(ctx))) }()
	d, err := Open(ctx, in, Options{})
	if err != nil {
		return err
	}
	if err := d.MigratePlatform(ctx, nil); err != nil {
		return err
	}
	return pool.WithConn(ctx, d.URL("postgres"), func(conn *pgx.Conn) error {
		if err := d.MigrateOwn(ctx, conn); err != nil {
			return err
		}
		if err := d.storeSecrets(ctx, conn); err != nil {
			return err
		}
		if err := migrate.Setup(ctx, conn, in.Project, !in.Config.API.ExposeNewTables); err != nil {
			return err
		}
		if migrations {
			if _, err := migrate.Apply(ctx, conn, in.Project); err != nil {
				return err
			}
		}
		return work(conn)
	})
}

// shadowDatabase creates a database on the server of DATABASE_URL and returns its URL and the
// function that drops it.
func shadowDatabase(ctx context.Context, c *config.Config) (url string, drop func() error, err error) {
	u, err := config.PrimaryURL(c)
	if err != nil {
		return "", nil, err
	}
	name := "daawo_shadow_" + strings.ToLower(rand.Text())
	given := u.String()
	ask := func(ctx context.Context, sql string) error {
		return pool.WithConn(ctx, given, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, sql)
			return err
		})
	}
	if err := ask(ctx, "create database "+name); err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error { return ask(context.WithoutCancel(ctx), "drop database "+name+" with (force)") },
		nil
}
