package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// database is the embedded Postgres or the server of DATABASE_URL.
type database struct {
	*App
	embedded *server.Server // nil with DATABASE_URL
	given    *url.URL       // DATABASE_URL, of a superuser; nil for the embedded server
	password string         // of role postgres over TCP
	tlsPort  int            // the port on which the embedded server is reached with TLS; 0 without --db-tls
	guest    bool           // a server of another installation's process: its passwords are that process's
}

// cores returns the number of processor cores that Postgres has: those of this machine or its
// cgroup for the embedded one, the setting for another; 0 is unknown.
func (d *database) cores() int {
	if d.given != nil {
		return int(d.Config.DatabaseCores)
	}
	return runtime.GOMAXPROCS(0) // respects affinity and the CPU quota of the cgroup
}

// openDatabase starts the embedded Postgres, unless DATABASE_URL is set.
func (a *App) openDatabase(ctx context.Context) (*database, error) {
	if a.Config.DatabaseURL != "" {
		given, err := config.PrimaryURL(a.Config)
		return &database{App: a, given: given}, err
	}
	password, err := databasePassword(a)
	if err != nil {
		return nil, err
	}
	source, err := a.Postgres()
	if err != nil {
		return nil, err
	}
	if a.keeper != nil {
		d, err := attachDatabase(a, source)
		if err == nil {
			d.password, d.tlsPort = password, a.facts.DatabaseTLSPort
		}
		return d, err
	}
	o := server.Options{
		Source: source, Data: datadir.Postgres(a.Data), Port: int(a.Config.DB.Port), Log: a.Log,
		OnDown: func(err error) { a.Log.Error("Postgres is down", "error", err) },
		OnUp:   func() { a.Log.Info("Postgres is up again") },
	}
	if a.Config.Backup.To != "" {
		o.Archive = a.backups().archiveDir()
	}
	if a.Config.DBTLS {
		o.Port = 0 // the front has the configured one
	}
	s, err := server.Start(ctx, o)
	if errors.Is(err, server.ErrPortTaken) && a.AnyPort {
		o.Port = 0
		s, err = server.Start(ctx, o)
	}
	if errors.Is(err, server.ErrPortTaken) {
		return nil, fmt.Errorf("%w; --db-port or `port` in [db] of config.toml sets it", err)
	}
	if err != nil {
		return nil, withCure(err, a.Config.Backup.To, a.Data)
	}
	a.OnClose("Postgres", s.Stop)
	d := &database{App: a, embedded: s, password: password}
	if a.Config.DBTLS {
		front, err := openDBFront(a, address(s.Port()))
		if err != nil {
			return nil, err
		}
		d.tlsPort = front.port()
	}
	return d, nil
}

// attachDatabase returns the embedded Postgres that another process of this installation runs.
func attachDatabase(a *App, source fs.FS) (*database, error) {
	s, older, err := server.Attach(server.Options{Source: source, Data: datadir.Postgres(a.Data), Log: a.Log})
	if err != nil {
		return nil, err
	}
	if older {
		a.Log.Warn("Postgres and its extensions stay those of the older release until the whole server is restarted")
	}
	return &database{App: a, embedded: s}, nil
}

// databasePassword returns "postgres" on loopback, as with the official CLI, and a generated
// password otherwise. In both cases Postgres listens on loopback only.
func databasePassword(a *App) (string, error) {
	if a.Config.Loopback() {
		return "postgres", nil
	}
	name := passwordFile(a.Data)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := NewDatabasePassword(a.Data); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(name)
	return strings.TrimSpace(string(text)), err
}

func passwordFile(data string) string { return filepath.Join(data, "database-password") }

// NewDatabasePassword generates the password of the role postgres for TCP on a public installation.
// The next start uses it.
func NewDatabasePassword(data string) error {
	if err := datadir.WriteFile(passwordFile(data), []byte(rand.Text()+"\n"), 0o600); err != nil {
		return fmt.Errorf("database password: %w", err)
	}
	return nil
}

// url returns the URL with which a service connects as role. With DATABASE_URL all roles have the
// same password, as in Supabase's self-hosted setup.
func (d *database) url(role string) string {
	if d.embedded != nil {
		return d.embedded.URL(role)
	}
	u := *d.given
	u.User = url.User(role)
	if password, ok := d.given.User.Password(); ok {
		u.User = url.UserPassword(role, password)
	}
	return u.String()
}

// public returns the URL that is shown to the operator.
func (d *database) public() string {
	if d.embedded != nil {
		u := url.URL{
			Scheme: "postgresql", User: url.UserPassword("postgres", d.password),
			Host: fmt.Sprintf("127.0.0.1:%d", d.embedded.Port()), Path: "/postgres",
		}
		if d.tlsPort != 0 {
			u.Host, u.RawQuery = address(d.tlsPort), "sslmode=require"
		}
		return u.String()
	}
	return d.given.String()
}

// loginRoles are the roles of the services. They need a password to connect over TCP.
var loginRoles = []string{
	"postgres", "authenticator", "supabase_auth_admin", "supabase_storage_admin", "supabase_realtime_admin",
}

// migrateAll applies all pending migrations and seeds: those of the platform, then those of the
// project.
func (d *database) migrateAll(ctx context.Context) error {
	if err := d.checkFiles(ctx); err != nil {
		return err
	}
	if err := d.makeFilesDir(); err != nil {
		return err
	}
	if err := d.migratePlatform(ctx, d.backups().beforeUpgrade); err != nil {
		return err
	}
	if d.embedded != nil && !d.guest {
		// As with the official CLI, all service roles have this password, so that other servers can
		// use this database.
		passwords := map[string]string{}
		for _, role := range loginRoles {
			passwords[role] = d.password
		}
		if err := d.embedded.SetPasswords(ctx, passwords); err != nil {
			return err
		}
	}
	return pool.WithConn(ctx, d.url("postgres"), func(conn *pgx.Conn) error {
		if err := d.migrateOwn(ctx, conn); err != nil {
			return err
		}
		if err := d.storeSecrets(ctx, conn); err != nil {
			return err
		}
		if d.Config.DB.Migrations.Enabled {
			for _, file := range migrate.Skipped(d.Project) {
				d.Log.Warn("migration skipped: the file name must match <timestamp>_name.sql", "file", file,
					"rename_to", migrate.Suggested(file))
			}
			applied, err := migrate.Apply(ctx, conn, d.Project)
			for _, m := range applied {
				d.Log.Info("migration applied", "version", m.Version, "name", m.Name)
			}
			if err != nil {
				return err
			}
			if d.Prepare != nil {
				if err := d.Prepare(ctx, conn, !d.Config.Loopback()); err != nil {
					return err
				}
			}
		}
		if d.Config.DB.Seed.Enabled {
			if unmatched := migrate.UnmatchedSeeds(d.Project, d.Config.DB.Seed.SQLPaths); len(unmatched) > 0 {
				d.Log.Warn("db.seed.sql_paths: no file matches; create it, or set db.seed.enabled = false", "patterns",
					unmatched)
			}
			_, err := migrate.Seed(ctx, conn, d.Project, d.Config.DB.Seed.SQLPaths)
			return err
		}
		return nil
	})
}

// migratePlatform creates what Supabase's Postgres image contains: roles, schemas, and the tables
// of the services that run in this process. If the user of DATABASE_URL is not a superuser, the
// database already is such an image, and the upstream services migrate their tables. before, which
// may be nil, is called first for the embedded Postgres only: a database of DATABASE_URL is backed
// up where it runs.
func (d *database) migratePlatform(ctx context.Context,
	before func(context.Context, *database, *pgx.Conn) error) error {
	if d.embedded != nil {
		return pool.WithConn(ctx, d.url(server.Superuser), func(conn *pgx.Conn) error {
			if before != nil {
				if err := before(ctx, d, conn); err != nil {
					return err
				}
			}
			return migrate.Platform(ctx, conn, d.foreignSchemas()...)
		})
	}
	return pool.WithConn(ctx, d.given.String(), func(conn *pgx.Conn) error {
		var super bool
		if err := conn.QueryRow(ctx,
			`select rolsuper from pg_roles where rolname = current_user`).Scan(&super); err != nil || !super {
			return err
		}
		if err := migrate.Platform(ctx, conn, d.foreignSchemas()...); err != nil {
			return err
		}
		return migrate.Locked(ctx, conn, func() error { return giveLogins(ctx, conn, d) })
	})
}

// foreignSchemas returns the prefixes of the platform files for services that run elsewhere and
// migrate their own tables.
func (a *App) foreignSchemas() []string {
	var skip []string
	if a.Config.AuthURL != "" {
		skip = append(skip, "20")
	}
	if a.Config.StorageURL != "" {
		skip = append(skip, "30")
	}
	if a.Config.RealtimeURL != "" {
		skip = append(skip, "40")
	}
	return skip
}

// giveLogins gives the service roles the password of DATABASE_URL. It does not change roles that
// can already log in with it.
func giveLogins(ctx context.Context, conn *pgx.Conn, d *database) error {
	password, ok := d.given.User.Password()
	if !ok {
		return nil // the server authenticates in another way
	}
	for _, role := range loginRoles {
		probe, err := pgx.Connect(ctx, d.url(role))
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
