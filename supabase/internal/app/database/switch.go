package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// ErrNoSwitch is the error of Switch if db.distribution already runs.
var ErrNoSwitch = errors.New("the data folder is of this distribution already")

// Switch moves the database to the distribution of db.distribution, with a dump and a restore into
// a new folder, and compares both. It returns the folder of the database before, which it keeps.
// The caller has locked the data folder. progress gets one line per step.
func Switch(ctx context.Context, in installation.Installation, progress func(string)) (kept string, err error) {
	s := switching{in: in, progress: progress, data: datadir.Postgres(in.Data)}
	s.next = s.data + ".switch"
	made, err := server.Distribution(s.data)
	if err != nil {
		return "", err
	}
	if made = cmp.Or(made, config.EmbeddedPostgres); made == in.Config.DB.Distribution {
		return "", ErrNoSwitch
	}
	if s.programs, err = in.OfficialPostgres(); err != nil {
		return "", err
	}
	embedded, err := in.EmbeddedPostgres()
	if err != nil {
		return "", err
	}
	from, to := embedded, fs.FS(s.programs)
	if made == config.SupabasePostgres {
		from, to = to, from
	}
	defer func() { err = errors.Join(err, s.clear()) }()
	if err := s.move(ctx, from, to); err != nil {
		return "", fmt.Errorf("the database stays as it was: %w", err)
	}
	return s.exchange(made)
}

// switching is one move of a database.
type switching struct {
	in         installation.Installation
	progress   func(string)
	programs   *server.Home // has pg_dump
	data, next string       // folders of the database before and of the new one
}

// clear removes what a move has left beside the database.
func (s *switching) clear() error {
	return errors.Join(os.RemoveAll(s.next), os.RemoveAll(s.dump()),
		ignoreMissing(os.Remove(server.VaultKeyFile(s.next))), ignoreMissing(os.Remove(s.next+".lock")))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// dump returns the folder of the dump. Only this user may read it.
func (s *switching) dump() string { return s.data + ".dump" }

// move builds the new database and compares it with the one before.
func (s *switching) move(ctx context.Context, from, to fs.FS) (err error) {
	if err := s.clear(); err != nil {
		return err
	}
	if err := os.Mkdir(s.dump(), 0o700); err != nil {
		return err
	}
	key, err := os.ReadFile(server.VaultKeyFile(s.data))
	if err == nil {
		err = datadir.WriteFile(server.VaultKeyFile(s.next), key, 0o600)
	}
	if ignoreMissing(err) != nil {
		return err
	}
	before, err := s.start(ctx, from, s.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, before.Stop(context.WithoutCancel(ctx))) }()
	after, err := s.start(ctx, to, s.next)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, after.Stop(context.WithoutCancel(ctx))) }()
	return pool.WithConn(ctx, before.URL(server.Superuser), func(old *pgx.Conn) error {
		if err := s.check(ctx, old); err != nil {
			return err
		}
		if err := s.restore(ctx, before, after); err != nil {
			return err
		}
		return pool.WithConn(ctx, after.URL(server.Superuser), func(new *pgx.Conn) error {
			if err := s.finish(ctx, old, new); err != nil {
				return err
			}
			return s.compare(ctx, old, new)
		})
	})
}

func (s *switching) start(ctx context.Context, source fs.FS, data string) (*server.Server, error) {
	return server.Start(ctx, server.Options{Source: source, Data: data, Log: cmp.Or(s.in.PostgresLog, s.in.Log)})
}

// check returns an error for what a dump does not carry.
func (s *switching) check(ctx context.Context, conn *pgx.Conn) error {
	var others, queues []string
	err := conn.QueryRow(ctx, `
		select array(select datname::text from pg_database where not datistemplate and datname <> 'postgres'),
		       array(select c.oid::regclass::text from pg_class c
		             join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
		             join pg_extension e on e.oid = d.refobjid and e.extname = 'pgmq'
		             where c.relkind in ('r', 'p') and c.relname ~ '^[qa]_')`).Scan(&others, &queues)
	switch {
	case err != nil:
		return err
	case len(others) > 0:
		return fmt.Errorf("the server has more databases (%s), which are not moved: dump and drop them first",
			strings.Join(others, ", "))
	case len(queues) > 0:
		return fmt.Errorf("queues of pgmq are members of the extension here (%s), and a dump leaves them out: run "+
			"`alter extension pgmq drop table NAME` for each one first", strings.Join(queues, ", "))
	}
	return nil
}

// restore dumps the roles and the database before, and restores them.
func (s *switching) restore(ctx context.Context, before, after *server.Server) error {
	roles, content := filepath.Join(s.dump(), "roles.sql"), filepath.Join(s.dump(), "postgres.sql")
	s.progress("dumping the database")
	err := s.run(ctx, "pg_dumpall", "--roles-only", "--file", roles, "--dbname", before.URL(server.Superuser))
	if err != nil {
		return err
	}
	// The placeholder has other objects than the extension.
	err = s.run(ctx, "pg_dump", "--exclude-extension", "pgsodium", "--file", content, "--dbname",
		before.URL(server.Superuser))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(roles)
	if err != nil {
		return err
	}
	// The new server has its superuser.
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "CREATE ROLE "+server.Superuser+";"
	})
	if err := os.WriteFile(roles, []byte(strings.Join(lines, "")), 0o600); err != nil {
		return err
	}
	s.progress("restoring the database")
	for _, file := range []string{roles, content} {
		err := s.run(ctx, "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--single-transaction", "--file",
			file, "--dbname", after.URL(server.Superuser))
		if err != nil {
			return err
		}
	}
	return nil
}

// run runs a program of the archive.
func (s *switching) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, s.programs.Program(program), args...)
	cmd.Dir = s.dump()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s: %w: %s", program, err, strings.Join(lines[max(0, len(lines)-5):], "\n"))
	}
	return nil
}

// finish copies what pg_dump leaves out: settings, owner and privileges of the database, and the
// secrets, which each distribution encrypts in another way.
func (s *switching) finish(ctx context.Context, old, new *pgx.Conn) error {
	rows, err := old.Query(ctx, `
		select format('alter database %I owner to %I', datname, pg_get_userbyid(datdba))
		from pg_database where datname = 'postgres'
		union all
		select format('grant %s on database %I to %s%s', a.privilege_type, datname,
		       case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end,
		       case when a.is_grantable then ' with grant option' else '' end)
		from pg_database, aclexplode(datacl) a where datname = 'postgres'
		union all
		select format('alter database %I set %I to %s', datname, split_part(setting, '=', 1), case
		         when split_part(setting, '=', 1) in ('search_path', 'session_preload_libraries', 'temp_tablespaces')
		         then substr(setting, strpos(setting, '=') + 1)
		         else quote_literal(substr(setting, strpos(setting, '=') + 1)) end)
		from pg_db_role_setting r join pg_database d on d.oid = r.setdatabase and r.setrole = 0, unnest(setconfig) setting
		where datname = 'postgres'`)
	if err != nil {
		return err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := new.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return moveSecrets(ctx, old, new)
}

// moveSecrets encrypts the secrets of the vault again.
func moveSecrets(ctx context.Context, old, new *pgx.Conn) error {
	var exists bool
	err := old.QueryRow(ctx, `select to_regclass('vault.decrypted_secrets') is not null`).Scan(&exists)
	if err != nil || !exists {
		return err
	}
	rows, err := old.Query(ctx, `select id::text, decrypted_secret from vault.decrypted_secrets`)
	if err != nil {
		return err
	}
	secrets := map[string]string{}
	var id, secret string
	if _, err := pgx.ForEachRow(rows, []any{&id, &secret}, func() error { secrets[id] = secret; return nil }); err != nil {
		return err
	}
	for id, secret := range secrets {
		if _, err := new.Exec(ctx, `select vault.update_secret($1::uuid, $2)`, id, secret); err != nil {
			return fmt.Errorf("secret %s of the vault: %w", id, err)
		}
		var now string
		err := new.QueryRow(ctx, `select decrypted_secret from vault.decrypted_secrets where id = $1::uuid`, id).Scan(&now)
		if err != nil || now != secret {
			return errors.Join(fmt.Errorf("secret %s of the vault has another value after the move", id), err)
		}
	}
	return nil
}

// compare returns an error if the databases differ in rows or in objects outside of extensions.
func (s *switching) compare(ctx context.Context, old, new *pgx.Conn) error {
	s.progress("comparing both databases")
	before, err := inventory(ctx, old)
	if err != nil {
		return err
	}
	after, err := inventory(ctx, new)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			return fmt.Errorf("%s: %q before, %q after the move", name, before[name], after[name])
		}
	}
	s.progress(fmt.Sprintf("%d tables and other objects are equal", len(before)))
	return nil
}

// inventory returns the row count of each table, and the state of other objects by name. It leaves
// out members of extensions, except the tables with content.
func inventory(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	rows, err := conn.Query(ctx, `
		with own as (
		  select c.oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind from pg_class c
		  join pg_namespace n on n.oid = c.relnamespace
		  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and c.relpersistence = 'p'
		    and (not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
		         or format('%I.%I', n.nspname, c.relname) in ('cron.job', 'vault.secrets')))
		select 'table ' || name, (xpath('/row/n/text()', query_to_xml('select count(*) as n from ' || name, false, true, '')))[1]::text
		from own where relkind in ('r', 'm')
		union all select 'policy ' || format('%I on %I.%I', policyname, schemaname, tablename),
		  md5(concat_ws('|', permissive, roles, cmd, qual, with_check)) from pg_policies
		union all select 'sequence ' || format('%I.%I', schemaname, sequencename), coalesce(last_value::text, '')
		  from pg_sequences where format('%I.%I', schemaname, sequencename) in (select name from own)
		union all select 'role ' || rolname, concat_ws('|', rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin,
		  rolreplication, rolbypassrls, md5(rolpassword)) from pg_authid where rolname !~ '^pg_'
		union all select 'index ' || i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i where i.indexrelid in (select oid from own)
		union all select 'constraint ' || conname || ' of ' || conrelid::regclass, pg_get_constraintdef(oid)
		  from pg_constraint where conrelid in (select oid from own)
		union all select 'trigger ' || tgname || ' of ' || tgrelid::regclass, pg_get_triggerdef(oid)
		  from pg_trigger where not tgisinternal and tgrelid in (select oid from own)
		union all select 'function ' || p.oid::regprocedure, md5(p.prosrc || coalesce(p.proacl::text, '')) from pg_proc p
		  where p.pronamespace in (select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')
		    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	var name, state string
	_, err = pgx.ForEachRow(rows, []any{&name, &state}, func() error { found[name] = state; return nil })
	return found, err
}

// exchange puts the new database in the place of the one before, at once, and returns where that is
// now. The archive of the log is of the database before.
func (s *switching) exchange(made string) (kept string, err error) {
	kept = fmt.Sprintf("%s.%s-%s", s.data, made, s.in.Now().UTC().Format("20060102T150405"))
	if err := exchangeFolders(s.data, s.next); err != nil {
		return "", err
	}
	if err := os.Rename(s.next, kept); err != nil {
		return "", err
	}
	return kept, errors.Join(os.RemoveAll(ArchiveDir(s.in.Data)), syncFolder(filepath.Dir(s.data)))
}

// syncFolder makes renames in a folder survive a power cut.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
