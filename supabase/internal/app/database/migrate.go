package database

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// BeforeUpgrade is called before the migrations with a connection of a superuser.
type BeforeUpgrade func(context.Context, *Database, *pgx.Conn) error

// loginRoles are the roles of the services. They need a password to connect over TCP.
var loginRoles = []string{
	"postgres", "authenticator", "supabase_auth_admin", "supabase_storage_admin", "supabase_realtime_admin",
}

// MigrateAll applies all pending migrations and seeds: first the platform's, then the
// project. before is as for MigratePlatform.
func (d *Database) MigrateAll(ctx context.Context, before BeforeUpgrade) error {
	if err := migratePlatform(ctx, d, before, !d.guest); err != nil {
		return err
	}
	return pool.WithConn(ctx, d.URL("postgres"), func(conn *pgx.Conn) error {
		return d.migrateProject(ctx, conn, d.Config.DB.Seed.Enabled, nil)
	})
}

// migrateProject applies the schemas of this program, the secrets, migrations and, if seed is set,
// seeds of the project. progress, which may be nil, gets a line per file.
func (d *Database) migrateProject(ctx context.Context, conn *pgx.Conn, seed bool, progress func(string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	if err := d.checkProject(ctx, conn); err != nil {
		return err
	}
	if err := d.MigrateOwn(ctx, conn); err != nil {
		return err
	}
	if err := d.storeSecrets(ctx, conn); err != nil {
		return err
	}
	if err := migrate.Setup(ctx, conn, d.Project, !d.Config.API.ExposeNewTables); err != nil {
		return err
	}
	if d.Config.DB.Migrations.Enabled {
		if err := d.applyMigrations(ctx, conn, progress); err != nil {
			return err
		}
	}
	if !seed {
		return nil
	}
	if unmatched := migrate.UnmatchedSeeds(d.Project, d.Config.DB.Seed.SQLPaths); len(unmatched) > 0 {
		d.Log.Warn("db.seed.sql_paths: no file matches; create it, or set db.seed.enabled = false", "patterns",
			unmatched)
	}
	seeds, err := migrate.Seed(ctx, conn, d.Project, d.Config.DB.Seed.SQLPaths)
	for _, file := range seeds {
		progress("seeded " + file)
	}
	return err
}

// applyMigrations applies the project's migrations and names the files that have no effect.
func (d *Database) applyMigrations(ctx context.Context, conn *pgx.Conn, progress func(string)) error {
	for _, s := range migrate.Skipped(d.Project, d.Now()) {
		d.Log.Warn("migration skipped: the file name must match <timestamp>_name.sql", "file", s.File,
			"rename_to", s.RenameTo)
	}
	applied, err := migrate.Apply(ctx, conn, d.Project)
	for _, m := range applied {
		d.Log.Info("migration applied", "version", m.Version, "name", m.Name)
		progress("applied " + m.Version + "_" + m.Name)
	}
	if err != nil {
		return err
	}
	difference, err := migrate.Compare(ctx, conn, d.Project)
	if err != nil {
		return err
	}
	for _, warning := range difference.Warnings() {
		d.Log.Warn("migrations", "problem", warning)
	}
	if d.Prepare == nil {
		return nil
	}
	return d.Prepare(ctx, conn, !d.Config.Loopback())
}

// MigratePlatform creates what Supabase's Postgres image contains: roles, schemas, and the tables
// of the services that run in this process. If the user of DATABASE_URL is not a superuser, the
// database already is such an image, and the upstream services migrate their tables. before, which
// may be nil, is called first for the embedded Postgres only: a database of DATABASE_URL is backed
// up where it runs.
func (d *Database) MigratePlatform(ctx context.Context, before BeforeUpgrade) error {
	return migratePlatform(ctx, d, before, false)
}

// migratePlatform is MigratePlatform. With logins it also sets the passwords of the service roles,
// if Postgres is the embedded one.
func migratePlatform(ctx context.Context, d *Database, before BeforeUpgrade, logins bool) error {
	if d.embedded != nil {
		return pool.WithConn(ctx, d.URL(server.Superuser), func(conn *pgx.Conn) error {
			if before != nil {
				if err := before(ctx, d, conn); err != nil {
					return err
				}
			}
			if err := migrateEmbedded(ctx, d, conn); err != nil || !logins {
				return err
			}
			// As with the official CLI, all service roles have this password, so that other servers
			// can use this database.
			passwords := map[string]string{}
			for _, role := range loginRoles {
				passwords[role] = d.password
			}
			return d.embedded.SetPasswordsOver(ctx, conn, passwords)
		})
	}
	return pool.WithConn(ctx, d.superuserURL(cmp.Or(d.name, d.databaseName())), func(conn *pgx.Conn) error {
		var super bool
		if err := conn.QueryRow(ctx,
			`select rolsuper from pg_roles where rolname = current_user`).Scan(&super); err != nil || !super {
			return err
		}
		if err := migrate.Platform(ctx, conn, ForeignSchemas(d.Config)...); err != nil {
			return err
		}
		return migrate.Locked(ctx, conn, func() error { return giveLogins(ctx, conn, d) })
	})
}

// migrateEmbedded applies the platform's files to a database of the embedded Postgres.
func migrateEmbedded(ctx context.Context, d *Database, conn *pgx.Conn) error {
	// A service elsewhere can make its tables only once Postgres runs, and the project's migrations
	// need them before. A new database has them from us, with the ledger that the service
	// continues.
	applied, err := migrate.HasPlatform(ctx, conn)
	if err != nil {
		return err
	}
	if !applied {
		return migrate.Platform(ctx, conn)
	}
	return migrate.Platform(ctx, conn, ForeignSchemas(d.Config)...)
}

// ForeignSchemas returns the prefixes of the platform files for services that run elsewhere and
// migrate their own tables.
func ForeignSchemas(c *config.Config) []string {
	var skip []string
	if c.AuthURL != "" {
		skip = append(skip, "20")
	}
	if c.StorageURL != "" {
		skip = append(skip, "30")
	}
	if c.RealtimeURL != "" {
		skip = append(skip, "40")
	}
	return skip
}

// giveLogins gives the service roles the password of DATABASE_URL. It does not change roles that
// can already log in with it.
func giveLogins(ctx context.Context, conn *pgx.Conn, d *Database) error {
	password, ok := d.given.User.Password()
	if !ok {
		return nil // the server authenticates in another way
	}
	for _, role := range loginRoles {
		probe, err := pgx.Connect(ctx, d.URL(role))
		if err == nil {
			_ = probe.Close(ctx)
			continue
		}
		// alter role takes no parameters, so format quotes the password with %L.
		var sql string
		if err := conn.QueryRow(ctx, `select format('alter role %I login password %L', $1::text, $2::text)`, role,
			password).Scan(&sql); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("role %s cannot log in, and setting its password failed: %w", role, err)
		}
	}
	return nil
}
