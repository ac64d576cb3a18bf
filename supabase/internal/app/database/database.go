// Package database starts the database of an installation, or finds it, and brings it to the schema
// of this program.
package database

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
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// database is the embedded Postgres or the server of DATABASE_URL.
type Database struct {
	installation.Installation
	embedded *server.Server // nil with DATABASE_URL
	given    *url.URL       // DATABASE_URL, of a superuser; nil for the embedded server
	password string         // of role postgres over TCP
	tlsPort  int            // the port on which the embedded server is reached with TLS; 0 without --db-tls
	name     string         // of a database that a reset builds; "" for the installation's
	guest    bool           // a server of another installation's process: its passwords are that process's
}

// Cores returns the number of processor cores that Postgres has: this machine's or its
// cgroup for the embedded one, the setting for another; 0 is unknown.
func (d *Database) Cores() int {
	if d.given != nil {
		return int(d.Config.DatabaseCores)
	}
	return runtime.GOMAXPROCS(0) // respects affinity and the CPU quota of the cgroup
}

// Options describe how a process reaches its database.
type Options struct {
	Sockets *handover.Sockets // has the port with TLS
	Attach  bool              // another process of this installation runs the embedded Postgres
	TLSPort int               // with Attach: the port with TLS, 0 for none
}

// Open starts the embedded Postgres, unless DATABASE_URL is set.
func Open(ctx context.Context, in installation.Installation, with Options) (*Database, error) {
	if in.Config.DatabaseURL != "" {
		given, err := config.PrimaryURL(in.Config)
		return &Database{Installation: in, given: given}, err
	}
	password, err := readPassword(in)
	if err != nil {
		return nil, err
	}
	if with.Attach {
		d, err := attach(in)
		if err == nil {
			d.password, d.tlsPort = password, with.TLSPort
		}
		return d, err
	}
	source, err := in.PostgresSource()
	if err != nil {
		return nil, err
	}
	o := server.Options{
		Source: source, Data: datadir.Postgres(in.Data), Port: int(in.Config.DB.Port), Log: cmp.Or(in.PostgresLog, in.Log),
		OnDown: func(err error) { in.Log.Error("Postgres is down", "error", err) },
		OnUp:   func() { in.Log.Info("Postgres is up again") }, Prepared: migrate.PlatformKey(),
	}
	if in.Config.Backup.To != "" {
		o.Archive = ArchiveDir(in.Data)
	}
	if in.Config.DBTLS {
		o.Port = 0 // the front has the configured one
	}
	s, err := server.Start(ctx, o)
	if errors.Is(err, server.ErrPortTaken) && in.MayMove("db-port") {
		o.Port = 0
		s, err = server.Start(ctx, o)
	}
	if err != nil {
		return nil, withCure(err, in.Config.Backup.To, in.Data)
	}
	in.OnClose("Postgres", s.Stop)
	d := &Database{Installation: in, embedded: s, password: password}
	if in.Config.DBTLS {
		front, err := openTLSFront(in, with.Sockets, address(s.Port()))
		if err != nil {
			return nil, err
		}
		d.tlsPort = front.port()
	}
	return d, nil
}

// Beside returns the embedded Postgres of a running server, for a command beside it.
func Beside(in installation.Installation) (*Database, error) {
	d, err := attach(in)
	if err != nil {
		return nil, err
	}
	d.guest = true
	return d, nil
}

// attach returns the embedded Postgres that another process of this installation runs.
func attach(in installation.Installation) (*Database, error) {
	source, err := in.PostgresSource()
	if err != nil {
		return nil, err
	}
	s, older, err := server.Attach(server.Options{Source: source, Data: datadir.Postgres(in.Data),
		Log: cmp.Or(in.PostgresLog, in.Log)})
	if err != nil {
		return nil, err
	}
	if older {
		in.Log.Warn("Postgres and its extensions stay at the older release until the whole server is restarted")
	}
	return &Database{Installation: in, embedded: s}, nil
}

// ArchiveDir returns the folder in which the embedded Postgres stores its log for the continuous
// backup.
func ArchiveDir(data string) string { return filepath.Join(data, "archive") }

// Embedded reports whether this is the embedded Postgres.
func (d *Database) Embedded() bool { return d.embedded != nil }

// SocketDir returns the folder of the embedded Postgres' socket.
func SocketDir(d *Database) string { return d.embedded.SocketDir() }

// Created reports whether this process made the data folder of the embedded Postgres, which holds
// no data of users yet.
func (d *Database) Created() bool { return d.embedded != nil && d.embedded.Created() }

// TLSPort returns the port on which the embedded Postgres is reached with TLS; 0 for none.
func (d *Database) TLSPort() int { return d.tlsPort }

// readPassword returns "postgres" on loopback, as with the official CLI, and a generated
// password otherwise. In both cases Postgres listens on loopback only.
func readPassword(in installation.Installation) (string, error) {
	if in.Config.Loopback() {
		return "postgres", nil
	}
	name := PasswordFile(in.Data)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := NewPassword(in.Data); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(name)
	return strings.TrimSpace(string(text)), err
}

// PasswordFile returns the file of the password in a data folder.
func PasswordFile(data string) string { return filepath.Join(data, "database-password") }

// NewPassword generates the password of the role postgres for TCP on a public installation.
// The next start uses it.
func NewPassword(data string) error {
	if err := atomicfile.WriteFile(PasswordFile(data), []byte(rand.Text()+"\n"), 0o600); err != nil {
		return fmt.Errorf("database password: %w", err)
	}
	return nil
}

// URL returns the URL with which a service connects as role.
func (d *Database) URL(role string) string {
	if d.embedded != nil {
		return d.embedded.DatabaseURL(role, cmp.Or(d.name, "postgres"))
	}
	given := *d.given
	if d.name != "" {
		given.Path = "/" + d.name
	}
	return As(&given, role)
}

// As returns the URL of a given server for a role. All roles have the same password, as in
// Supabase's self-hosted setup.
func As(given *url.URL, role string) string {
	u := *given
	u.User = url.User(role)
	if password, ok := given.User.Password(); ok {
		u.User = url.UserPassword(role, password)
	}
	return u.String()
}

// superuserURL returns the URL with which a superuser connects to a database of the server: of the
// embedded one, or the user of DATABASE_URL.
func (d *Database) superuserURL(name string) string {
	if d.embedded != nil {
		return d.embedded.DatabaseURL(server.Superuser, name)
	}
	u := *d.given
	u.Path = "/" + name
	return u.String()
}

// Public returns the URL that is shown to the operator.
func (d *Database) Public() string {
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

// ReadOnlyUser is the role that Studio's MCP server uses with read_only=true.
const ReadOnlyUser = "supabase_read_only_user"

// AdmitReadOnly lets ReadOnlyUser sign in over TCP. Studio knows one password for its roles: that
// of postgres. On the server of DATABASE_URL its operator sets it.
func (d *Database) AdmitReadOnly(ctx context.Context) error {
	if d.embedded == nil {
		return nil
	}
	return d.embedded.SetPasswords(ctx, map[string]string{ReadOnlyUser: d.password})
}

// Superuser returns the URL of a superuser. ok is false if the user of DATABASE_URL is none.
func (d *Database) Superuser(ctx context.Context) (url string, ok bool, err error) {
	if d.embedded != nil {
		return d.URL(server.Superuser), true, nil
	}
	url = d.given.String()
	err = pool.WithConn(ctx, url, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select rolsuper from pg_roles where rolname = current_user`).Scan(&ok)
	})
	return url, ok, err
}

// jobName is the application name of the connections in which jobs of pg_cron run.
const jobName = "pg_cron"

// ConnectAs connects as a role to a database of the server, for a job.
func (d *Database) ConnectAs(ctx context.Context, role, name string) (*pgx.Conn, error) {
	u, err := url.Parse(d.URL(role))
	if err != nil {
		return nil, err
	}
	u.Path = "/" + name
	q := u.Query()
	q.Set("application_name", jobName)
	u.RawQuery = q.Encode()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return pool.Connect(ctx, u.String())
}

// RestoreCommand returns the command that restores the backup of store into the data folder.
func RestoreCommand(store, data string) string {
	return fmt.Sprintf("`daawo restore --from %s --data %s`", cmp.Or(store, "STORE"), data)
}

// withCure adds the command that restores the backup of store to the error of a damaged data
// folder.
func withCure(err error, store, data string) error {
	if errors.Is(err, server.ErrBroken) {
		return fmt.Errorf("%w: move %s away and restore a backup: %s", err, data, RestoreCommand(store, data))
	}
	return err
}
