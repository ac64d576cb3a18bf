package app

import (
	"cmp"
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
	name     string         // of a database that a reset builds; "" for the installation's
}

// cores returns the number of processor cores that Postgres has: those of this machine or its
// cgroup for the embedded one, the setting for another; 0 is unknown.
func (d *database) cores() int {
	if d.given != nil {
		return int(d.cfg.DatabaseCores)
	}
	return runtime.GOMAXPROCS(0) // respects affinity and the CPU quota of the cgroup
}

// openDatabase starts the embedded Postgres, unless DATABASE_URL is set.
func (a *App) openDatabase(ctx context.Context) (*database, error) {
	if a.cfg.DatabaseURL != "" {
		given, err := databaseURL(a.cfg)
		return &database{App: a, given: given}, err
	}
	password, err := databasePassword(a)
	if err != nil {
		return nil, err
	}
	source, err := a.options.Postgres()
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
		Source: source, Data: postgresDir(a.data), Port: int(a.cfg.DB.Port), Log: a.log,
		OnDown: func(err error) { a.log.Error("Postgres is down", "error", err) },
		OnUp:   func() { a.log.Info("Postgres is up again") },
	}
	if a.cfg.Backup.To != "" {
		o.Archive = a.backups().archiveDir()
	}
	if a.cfg.DBTLS {
		o.Port = 0 // the front has the configured one
	}
	s, err := server.Start(ctx, o)
	if errors.Is(err, server.ErrPortTaken) && a.options.AnyPort {
		o.Port = 0
		s, err = server.Start(ctx, o)
	}
	if errors.Is(err, server.ErrPortTaken) {
		return nil, fmt.Errorf("%w; --db-port or `port` in [db] of config.toml sets it", err)
	}
	if err != nil {
		return nil, withCure(err, a.cfg.Backup.To, a.data)
	}
	a.onClose("Postgres", s.Stop)
	d := &database{App: a, embedded: s, password: password}
	if a.cfg.DBTLS {
		front, err := openDBFront(a, address(s.Port()))
		if err != nil {
			return nil, err
		}
		d.tlsPort = front.port()
	}
	return d, nil
}

func postgresDir(data string) string { return filepath.Join(data, "postgres") }

// attachDatabase returns the embedded Postgres that another process of this installation runs.
func attachDatabase(a *App, source fs.FS) (*database, error) {
	s, older, err := server.Attach(server.Options{Source: source, Data: postgresDir(a.data), Log: a.log})
	if err != nil {
		return nil, err
	}
	if older {
		a.log.Warn("Postgres and its extensions stay those of the older release until the whole server is restarted")
	}
	return &database{App: a, embedded: s}, nil
}

// databaseURL returns DATABASE_URL. If it names several hosts, the one that accepts writes is used.
func databaseURL(c *config.Config) (*url.URL, error) {
	return givenURL("DATABASE_URL", c.DatabaseURL, "read-write")
}

// givenURL parses the URL of another database server, whose host may be a socket folder in the
// parameter host. If it names several hosts and no target_session_attrs (see libpq), that parameter
// is set to session.
func givenURL(name, text, session string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.User == nil || u.Host == "" && u.Query().Get("host") == "" {
		return nil, fmt.Errorf("%s: is not a database URL; it must look like postgres://user:password@host:5432/postgres or postgres://user:password@/postgres?host=/run/postgresql", name)
	}
	q := u.Query()
	if q.Has("user") || q.Has("password") { // these would replace the role of each service
		return nil, fmt.Errorf("%s: has user or password as a parameter; write them before the @", name)
	}
	if strings.Contains(u.Host+q.Get("host"), ",") && !q.Has("target_session_attrs") {
		q.Set("target_session_attrs", session)
		u.RawQuery = q.Encode()
	}
	return u, nil
}

// databasePassword returns "postgres" on loopback, as with the official CLI, and a generated
// password otherwise. In both cases Postgres listens on loopback only.
func databasePassword(a *App) (string, error) {
	if a.cfg.Loopback() {
		return "postgres", nil
	}
	name := passwordFile(a.data)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := NewDatabasePassword(a.data); err != nil {
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
	if err := writeFile(passwordFile(data), []byte(rand.Text()+"\n"), 0o600); err != nil {
		return fmt.Errorf("database password: %w", err)
	}
	return nil
}

// url returns the URL with which a service connects as role. With DATABASE_URL all roles have the
// same password, as in Supabase's self-hosted setup.
func (d *database) url(role string) string {
	if d.embedded != nil {
		return d.embedded.DatabaseURL(role, cmp.Or(d.name, "postgres"))
	}
	u := *d.given
	if d.name != "" {
		u.Path = "/" + d.name
	}
	u.User = url.User(role)
	if password, ok := d.given.User.Password(); ok {
		u.User = url.UserPassword(role, password)
	}
	return u.String()
}

// superuserURL returns the URL with which a superuser connects to a database of the server: of the
// embedded one, or the user of DATABASE_URL.
func (d *database) superuserURL(name string) string {
	if d.embedded != nil {
		return d.embedded.DatabaseURL(server.Superuser, name)
	}
	u := *d.given
	u.Path = "/" + name
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
	return withConn(ctx, d.url("postgres"), func(conn *pgx.Conn) error {
		return d.migrateProject(ctx, conn, d.cfg.DB.Seed.Enabled, nil)
	})
}

// migrateProject applies the schemas of this program, the secrets, migrations and, if seed is set,
// seeds of the project. progress, which may be nil, gets a line per file.
func (d *database) migrateProject(ctx context.Context, conn *pgx.Conn, seed bool, progress func(string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	if err := d.checkProject(ctx, conn); err != nil {
		return err
	}
	if err := d.migrateOwn(ctx, conn); err != nil {
		return err
	}
	if err := d.storeSecrets(ctx, conn); err != nil {
		return err
	}
	if d.cfg.DB.Migrations.Enabled {
		if err := d.applyMigrations(ctx, conn, progress); err != nil {
			return err
		}
	}
	if !seed {
		return nil
	}
	if unmatched := migrate.UnmatchedSeeds(d.options.Project, d.cfg.DB.Seed.SQLPaths); len(unmatched) > 0 {
		d.log.Warn("db.seed.sql_paths: no file matches; create it, or set db.seed.enabled = false", "patterns", unmatched)
	}
	seeds, err := migrate.Seed(ctx, conn, d.options.Project, d.cfg.DB.Seed.SQLPaths)
	for _, file := range seeds {
		progress("seeded " + file)
	}
	return err
}

// applyMigrations applies the project's migrations and names the files that have no effect.
func (d *database) applyMigrations(ctx context.Context, conn *pgx.Conn, progress func(string)) error {
	for _, s := range migrate.Skipped(d.options.Project, d.options.Now()) {
		d.log.Warn("migration skipped: the file name must match <timestamp>_name.sql", "file", s.File,
			"rename_to", s.RenameTo)
	}
	applied, err := migrate.Apply(ctx, conn, d.options.Project)
	for _, m := range applied {
		d.log.Info("migration applied", "version", m.Version, "name", m.Name)
		progress("applied " + m.Version + "_" + m.Name)
	}
	if err != nil {
		return err
	}
	difference, err := migrate.Compare(ctx, conn, d.options.Project)
	if err != nil {
		return err
	}
	for _, warning := range difference.Warnings() {
		d.log.Warn("migrations", "problem", warning)
	}
	if d.options.Prepare == nil {
		return nil
	}
	return d.options.Prepare(ctx, conn, !d.cfg.Loopback())
}

// migratePlatform creates what Supabase's Postgres image contains: roles, schemas, and the tables
// of the services that run in this process. If the user of DATABASE_URL is not a superuser, the
// database already is such an image, and the upstream services migrate their tables. before, which
// may be nil, is called first for the embedded Postgres only: a database of DATABASE_URL is backed
// up where it runs.
func (d *database) migratePlatform(ctx context.Context,
	before func(context.Context, *database, *pgx.Conn) error) error {
	if d.embedded != nil {
		return withConn(ctx, d.url(server.Superuser), func(conn *pgx.Conn) error {
			if before != nil {
				if err := before(ctx, d, conn); err != nil {
					return err
				}
			}
			return migrate.Platform(ctx, conn, d.foreignSchemas()...)
		})
	}
	return withConn(ctx, d.superuserURL(cmp.Or(d.name, d.databaseName())), func(conn *pgx.Conn) error {
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
	if a.cfg.AuthURL != "" {
		skip = append(skip, "20")
	}
	if a.cfg.StorageURL != "" {
		skip = append(skip, "30")
	}
	if a.cfg.RealtimeURL != "" {
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

// withConn calls fn with a connection and closes it.
func withConn(ctx context.Context, url string, fn func(*pgx.Conn) error) error {
	conn, err := pool.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return errors.Join(fn(conn), conn.Close(context.WithoutCancel(ctx)))
}
