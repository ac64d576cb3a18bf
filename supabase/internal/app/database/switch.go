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
	"daawo/supabase/internal/base/atomicfile"
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
		err = atomicfile.WriteFile(server.VaultKeyFile(s.next), key, 0o600)
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
		return pool.WithConn(ctx, after.URL(server.Superuser), func(new *pgx.Conn) error {
			if err := s.restore(ctx, before, after, old, new); err != nil {
				return err
			}
			if err := moveSecrets(ctx, old, new); err != nil {
				return err
			}
			if err := s.compare(ctx, old, new); err != nil {
				return err
			}
			return moveMarks(ctx, old, new)
		})
	})
}

// start starts a server that changes nothing by itself: the original pg_cron runs no jobs, and
// clients cannot reach it.
func (s *switching) start(ctx context.Context, source fs.FS, data string) (*server.Server, error) {
	settings := map[string]string{"cron.launch_active_jobs": "off", "listen_addresses": ""}
	return server.Start(ctx, server.Options{Source: source, Data: data, Settings: settings,
		Log: cmp.Or(s.in.PostgresLog, s.in.Log)})
}

// check returns an error for what a dump does not carry.
func (s *switching) check(ctx context.Context, conn *pgx.Conn) error {
	var others, queues, system []string
	err := conn.QueryRow(ctx, `
		select array(select datname::text from pg_database where not datistemplate and datname <> 'postgres'),
		       array(select c.oid::regclass::text from pg_class c
		             join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
		             join pg_extension e on e.oid = d.refobjid and e.extname = 'pgmq'
		             where c.relkind in ('r', 'p') and c.relname ~ '^[qa]_'),
		       array(select name from pg_file_settings where sourcefile like '%postgresql.auto.conf')`).
		Scan(&others, &queues, &system)
	switch {
	case err != nil:
		return err
	case len(others) > 0:
		return fmt.Errorf("the server has more databases (%s), which are not moved: dump and drop them first",
			strings.Join(others, ", "))
	case len(queues) > 0:
		return fmt.Errorf("queues of pgmq are members of the extension here (%s), and a dump leaves them out: run "+
			"`alter extension pgmq drop table NAME` for each one first", strings.Join(queues, ", "))
	case len(system) > 0:
		s.progress("not moved: the settings of ALTER SYSTEM (" + strings.Join(system, ", ") + ")")
	}
	return nil
}

// restore dumps the roles and the database before, and restores them.
func (s *switching) restore(ctx context.Context, before, after *server.Server, old, new *pgx.Conn) error {
	s.progress("dumping the database")
	if err := s.dumpAll(ctx, before); err != nil {
		return err
	}
	// The new server has its superuser.
	create := "CREATE ROLE " + server.Superuser + ";"
	if err := s.edit("roles", map[string]string{create: ""}); err != nil {
		return err
	}
	extensions, err := createdByOwners(ctx, old, new)
	if err != nil {
		return err
	}
	if err := s.edit("pre-data", extensions); err != nil {
		return err
	}
	s.progress("restoring the database")
	if err := s.load(ctx, after, "roles"); err != nil {
		return err
	}
	if err := moveSettings(ctx, old, new); err != nil {
		return err
	}
	return s.load(ctx, after, sections...)
}

// dumpAll writes the dump. No client changes the database between its parts.
func (s *switching) dumpAll(ctx context.Context, before *server.Server) error {
	url := before.URL(server.Superuser)
	if err := s.run(ctx, "pg_dumpall", "--roles-only", "--file", s.dumped("roles"), "--dbname", url); err != nil {
		return err
	}
	for _, section := range sections {
		// The placeholder has other objects than the extension.
		err := s.run(ctx, "pg_dump", "--section", section, "--exclude-extension", "pgsodium", "--file",
			s.dumped(section), "--dbname", url)
		if err != nil {
			return err
		}
	}
	return nil
}

// sections are the parts of a dump, in their order.
var sections = []string{"pre-data", "data", "post-data"}

// dumped returns the file of a part of the dump.
func (s *switching) dumped(part string) string { return filepath.Join(s.dump(), part+".sql") }

// load runs parts of the dump in one transaction.
func (s *switching) load(ctx context.Context, into *server.Server, parts ...string) error {
	args := []string{"--no-psqlrc", "--quiet", "--output", os.DevNull, "--set", "ON_ERROR_STOP=1", "--single-transaction",
		"--dbname", into.URL(server.Superuser)}
	for _, part := range parts {
		args = append(args, "--file", s.dumped(part))
	}
	return s.run(ctx, "psql", args...)
}

// edit replaces whole lines of a part of the dump that has no rows of tables.
func (s *switching) edit(part string, replaced map[string]string) error {
	text, err := os.ReadFile(s.dumped(part))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if other, ok := replaced[line]; ok {
			lines[i] = other
		}
	}
	return os.WriteFile(s.dumped(part), []byte(strings.Join(lines, "\n")), 0o600)
}

// createdByOwners returns the lines of a dump that create extensions, and lines with which the
// owner of each one creates it, which pg_dump does not do. Only the owner may drop an extension.
// With supautils a superuser owns them all, and its privileged role may drop them: that role
// creates those of them that a role without supautils may create.
func createdByOwners(ctx context.Context, old, new *pgx.Conn) (map[string]string, error) {
	var trusted []string
	err := new.QueryRow(ctx, `
		select coalesce(array_agg(distinct name::text), '{}') from pg_available_extension_versions where trusted`).Scan(&trusted)
	if err != nil {
		return nil, err
	}
	rows, err := old.Query(ctx, `
		select format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA %I;', extname, nspname),
		       format('SET SESSION AUTHORIZATION %I;', case when rolsuper then role else rolname end)
		from pg_extension join pg_namespace n on n.oid = extnamespace join pg_roles r on r.oid = extowner,
		     current_setting('supautils.privileged_role', true) role,
		     regexp_split_to_array(current_setting('supautils.privileged_extensions', true), '\s*,\s*') privileged
		where not rolsuper or role <> '' and extname = any(privileged) and extname = any($1)`, trusted)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	var create, become string
	_, err = pgx.ForEachRow(rows, []any{&create, &become}, func() error {
		lines[create] = become + "\n" + create + "\nRESET SESSION AUTHORIZATION;"
		return nil
	})
	return lines, err
}

// shownLines is how many lines of a failed program the error has.
const shownLines = 10

// run runs a program of the archive.
func (s *switching) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, s.programs.Program(program), args...)
	cmd.Dir = s.dump()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s: %w: %s", program, err, strings.Join(lines[max(0, len(lines)-shownLines):], "\n"))
	}
	return nil
}

// moveSettings copies what pg_dump leaves out: settings, owner and privileges of the database.
func moveSettings(ctx context.Context, old, new *pgx.Conn) error {
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
	return nil
}

// moveMarks gives the stored files to the new database: their mark names the cluster before. A
// database of an older release has no marks.
func moveMarks(ctx context.Context, old, new *pgx.Conn) error {
	var system string
	var marked bool
	err := old.QueryRow(ctx, `select system_identifier::text, to_regclass('storage.file_marks') is not null
		from pg_control_system()`).Scan(&system, &marked)
	if err == nil && marked {
		_, err = new.Exec(ctx, `update storage.file_marks set moved_from = coalesce(moved_from, $1)`, system)
	}
	return err
}

// moveSecrets encrypts the secrets of the vault again: each distribution does so in another way.
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

// shownDifferences is how many differences the error of compare names.
const shownDifferences = 40

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
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now, ok := after[name]; !ok {
			differences = append(differences, name+" is missing")
		} else if now != before[name] {
			differences = append(differences, fmt.Sprintf("%s: %q before, %q after the move", name, before[name], now))
		}
	}
	if len(differences) > 0 {
		return fmt.Errorf("%d differences, such as %s", len(differences),
			strings.Join(differences[:min(len(differences), shownDifferences)], "; "))
	}
	s.progress(fmt.Sprintf("%d tables and other objects are equal", len(before)))
	return nil
}

// exchange puts the new database in the place of the one before, at once, and returns where that is
// now. The archive of the log is of the database before.
func (s *switching) exchange(made string) (kept string, err error) {
	kept = fmt.Sprintf("%s.%s-%s", s.data, made, s.in.Now().UTC().Format("20060102T150405"))
	// clear removes s.next, so the database before is never there.
	if err := os.Rename(s.next, kept); err != nil {
		return "", err
	}
	if err := exchangeFolders(s.data, kept); err != nil {
		return "", errors.Join(err, os.RemoveAll(kept))
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
