package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

const (
	resetName    = "daawo_reset"    // the database that a reset builds
	replacedName = "daawo_replaced" // the database before, until it is dropped
)

// resetLock is the advisory lock in template1 that a reset holds.
const resetLock = 0x6461_6177_6f72

// Reset replaces the database by a new one with the project's migrations and, if seed is set, its
// seeds. It builds the new one under another name on the same server and switches in one
// transaction, so a migration or seed that fails leaves everything as it was. replaced is called
// with the URLs of both databases before the one before is dropped. progress gets one line per
// step.
//
// It needs a superuser of the server, because it creates, renames and drops databases.
func (d *Database) Reset(ctx context.Context, seed bool, progress func(string),
	replaced func(ctx context.Context, before, now string)) error {
	return reset{d, progress, replaced}.run(ctx, seed)
}

// Served reports whether another process of the installation, or one of another installation, may
// serve this database.
func (d *Database) Served() bool { return d.embedded == nil || d.guest }

// reset is one replacement of a database.
type reset struct {
	database *Database
	progress func(string)
	replaced func(ctx context.Context, before, now string)
}

func (r reset) run(ctx context.Context, seed bool) error {
	d := r.database
	return pool.WithConn(ctx, d.superuserURL("template1"), func(conn *pgx.Conn) error {
		if err := r.begin(ctx, conn); err != nil {
			return err
		}
		if err := r.build(ctx, conn, seed); err != nil {
			return errors.Join(fmt.Errorf("the database stays as it was: %w", err), drop(ctx, conn, resetName))
		}
		r.progress("switching to the new database")
		if err := r.swap(ctx, conn); err != nil {
			return errors.Join(fmt.Errorf("the database stays as it was: %w", err), drop(ctx, conn, resetName))
		}
		r.replaced(ctx, d.superuserURL(replacedName), d.superuserURL(d.databaseName()))
		return drop(ctx, conn, replacedName)
	})
}

// begin takes the lock and drops what a reset that was killed has left.
func (r reset) begin(ctx context.Context, conn *pgx.Conn) error {
	var super, locked bool
	err := conn.QueryRow(ctx, `
		select rolsuper, pg_try_advisory_lock($1) from pg_roles where rolname = current_user`, int64(resetLock)).
		Scan(&super, &locked)
	switch {
	case err != nil:
		return err
	case !super:
		return errors.New("db reset builds a second database and needs a superuser of the server")
	case !locked:
		return errors.New("another reset of this database is running")
	}
	return errors.Join(drop(ctx, conn, resetName), drop(ctx, conn, replacedName))
}

// build makes the new database with platform, migrations and seeds.
func (r reset) build(ctx context.Context, conn *pgx.Conn, seed bool) error {
	d := r.database
	if _, err := conn.Exec(ctx, `create database `+resetName+` template template0`); err != nil {
		return err
	}
	// pg_cron refuses to be created in another database than this setting names.
	_, err := conn.Exec(ctx, `alter database `+resetName+` set cron.database_name = '`+resetName+`'`)
	if err != nil {
		return err
	}
	next := *d
	next.name = resetName
	r.progress("building a new database")
	if err := next.MigratePlatform(ctx, nil); err != nil {
		return err
	}
	for _, table := range lasting {
		if err := copyTable(ctx, table, d.superuserURL(d.databaseName()), d.superuserURL(resetName)); err != nil {
			return err
		}
	}
	err = pool.WithConn(ctx, next.URL("postgres"), func(c *pgx.Conn) error {
		return next.migrateProject(ctx, c, seed, r.progress)
	})
	if err != nil {
		return err
	}
	return r.finish(ctx, conn)
}

// finish gives the new database what depends on its name, and the settings that the database before
// has: a migration may set them by the name that the new database only gets later.
func (r reset) finish(ctx context.Context, conn *pgx.Conn) error {
	name := r.database.databaseName()
	err := pool.WithConn(ctx, r.database.superuserURL(resetName), func(c *pgx.Conn) error {
		var jobs bool
		if err := c.QueryRow(ctx, `select to_regclass('cron.job') is not null`).Scan(&jobs); err != nil || !jobs {
			return err
		}
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `set local session_replication_role = replica`); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `update cron.job set database = $1 where database = $2`, name, resetName)
			return err
		})
	})
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `alter database `+resetName+` reset cron.database_name`); err != nil {
		return err
	}
	return copySettings(ctx, conn, name)
}

// copySettings copies the settings of `alter database … set` and `alter role … in database … set`
// that the new database does not have.
func copySettings(ctx context.Context, conn *pgx.Conn, from string) error {
	const q = `
with settings as (
  select d.datname, s.setrole, split_part(c.text, '=', 1) as name, substr(c.text, strpos(c.text, '=') + 1) as value
    from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) as c (text)
   where d.datname in ($1, $2)
)
select format('alter %s set %s = %s',
         case setrole when 0 then format('database %I', $2::text)
                      else format('role %I in database %I', setrole::regrole::text, $2::text) end,
         name,
         case when name in ('search_path', 'temp_tablespaces', 'session_preload_libraries', 'local_preload_libraries')
              then value else quote_literal(value) end)
  from settings s
 where datname = $1
   and not exists (select from settings o where o.datname = $2 and o.setrole = s.setrole and o.name = s.name)`
	rows, err := conn.Query(ctx, q, from, resetName)
	if err != nil {
		return err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// lasting lists the tables whose rows the new database gets: the keys that the servers share, and
// the marks by which storage knows that the stored files are of this database.
var lasting = []string{"daawo.keys", "storage.file_marks"}

func copyTable(ctx context.Context, table, from, to string) error {
	var content []byte
	err := pool.WithConn(ctx, from, func(conn *pgx.Conn) error {
		var exists bool
		err := conn.QueryRow(ctx, `select to_regclass($1) is not null`, table).Scan(&exists)
		if err != nil || !exists {
			return err
		}
		return conn.QueryRow(ctx, `select coalesce(jsonb_agg(t), '[]') from `+table+` t`).Scan(&content)
	})
	if err != nil || content == nil {
		return err
	}
	return pool.WithConn(ctx, to, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `insert into `+table+` overriding user value
			select * from jsonb_populate_recordset(null::`+table+`, $1)`, content)
		return err
	})
}

// swap gives the new database the name of the one before. The rename waits up to five seconds for
// the sessions of the database before, which a second connection ends. New sessions wait for the
// lock of the rename.
func (r reset) swap(ctx context.Context, conn *pgx.Conn) error {
	name := pgx.Identifier{r.database.databaseName()}.Sanitize()
	ending, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.endSessions(ending) }()
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, q := range []string{
			`alter database ` + name + ` rename to ` + replacedName, `alter database ` + resetName + ` rename to ` +
				name,
		} {
			if _, err := tx.Exec(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
	stop()
	if ending := <-ended; err != nil {
		return errors.Join(err, ending)
	}
	return nil // after the rename it does not matter whether the second connection did its work
}

// endSessions ends the sessions of both databases until ctx ends.
func (r reset) endSessions(ctx context.Context) error {
	conn, err := pool.Connect(ctx, r.database.superuserURL("template1"))
	if ctx.Err() != nil {
		return nil // the rename was faster than the connection
	}
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity where datname = any($1)`,
			[]string{r.database.databaseName(), resetName})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// drop drops a database of a reset, with its sessions and replication slots.
func drop(ctx context.Context, conn *pgx.Conn, name string) error {
	ctx = context.WithoutCancel(ctx)
	_, err := conn.Exec(ctx, `
		select pg_terminate_backend(active_pid, 5000) from pg_replication_slots where database = $1 and active`, name)
	if err == nil {
		_, err = conn.Exec(ctx, `
			select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = $1`, name)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `drop database if exists `+name+` with (force)`)
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", name, err)
	}
	return nil
}

// databaseName returns the name of the installation's database.
func (d *Database) databaseName() string {
	if d.given == nil {
		return "postgres"
	}
	if name := strings.TrimPrefix(d.given.Path, "/"); name != "" {
		return name
	}
	return d.given.User.Username() // as libpq
}
