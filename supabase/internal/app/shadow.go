package app

import (
	"context"
	"errors"
	"os"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/migrate"
)

// Shadow calls work with a connection, as the role postgres, to a new database of an embedded server that ends with the call. The
// database has what a new installation has, and the project's migrations if migrations is set. It uses no data of an installation.
func Shadow(ctx context.Context, o Options, migrations bool, work func(*pgx.Conn) error) (err error) {
	dir, err := os.MkdirTemp("", "daawo-shadow-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	c := *o.Config
	c.DatabaseURL, c.DB.Port, c.Backup.To, c.DBTLS = "", 0, "", false
	o.Config, o.Data = &c, dir
	a := New(o)
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	d, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	if err := d.migratePlatform(ctx); err != nil {
		return err
	}
	return withConn(ctx, d.url("postgres"), func(conn *pgx.Conn) error {
		if err := d.migrateOwn(ctx, conn); err != nil {
			return err
		}
		if migrations {
			if _, err := migrate.Apply(ctx, conn, o.Project); err != nil {
				return err
			}
		}
		return work(conn)
	})
}
