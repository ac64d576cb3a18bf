package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Migration is one file of a migrations folder.
type Migration struct {
	Version, Name string // 20260901000000_notes.sql has version 20260901000000 and name notes
	Statements    []string
	file, text    string
}

// fileName matches a migration's file name, as the official CLI does.
var fileName = regexp.MustCompile(`^([0-9]+)_(.*)\.sql$`)

// Read returns the migrations in the folder migrations of project, oldest
// first. It skips files with other names, as the official CLI does. Two files with one version are
// an error: the second would never be applied.
func Read(project fs.FS) ([]Migration, error) {
	files, err := fs.Glob(project, "migrations/*.sql") // sorted by name
	if err != nil {
		return nil, err
	}
	var all []Migration
	taken := map[string]string{} // file by version
	for _, file := range files {
		match := fileName.FindStringSubmatch(path.Base(file))
		if match == nil {
			continue
		}
		if other, ok := taken[match[1]]; ok {
			return nil, fmt.Errorf("%s and %s have the same version %s: give one of them a version of its own",
				other, file, match[1])
		}
		taken[match[1]] = file
		text, err := fs.ReadFile(project, file)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", file, err)
		}
		all = append(all, Migration{match[1], match[2], split(string(text)), file, string(text)})
	}
	return all, nil
}

// Apply applies the project's migrations that the database does not have,
// oldest first, and returns them. Each runs in one transaction and is recorded
// in the official CLI's form, so the CLI finds nothing to do afterwards.
//
// conn should log in as the role postgres, as the CLI does. Apply ignores
// recorded migrations that the project does not have: a newer release added
// them.
func Apply(ctx context.Context, conn *pgx.Conn, project fs.FS) (applied []Migration, err error) {
	all, err := Read(project)
	if err != nil {
		return nil, err
	}
	err = Locked(ctx, conn, func() error {
		recorded, err := recordedVersions(ctx, conn)
		if err != nil {
			return fmt.Errorf("migrations: %w", err)
		}
		for _, m := range all {
			if recorded[m.Version] {
				continue
			}
			if err := m.apply(ctx, conn); err != nil {
				return fmt.Errorf("migration %s: %w", m.file, err)
			}
			applied = append(applied, m)
		}
		return nil
	})
	return applied, err
}

// Pending returns the project's migrations that the database does not have. It
// changes nothing.
func Pending(ctx context.Context, conn *pgx.Conn, project fs.FS) ([]Migration, error) {
	all, err := Read(project)
	if err != nil {
		return nil, err
	}
	recorded, err := versions(ctx, conn)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" { // undefined_table: no migration was ever applied
		return all, nil
	} else if err != nil {
		return nil, err
	}
	var pending []Migration
	for _, m := range all {
		if !recorded[m.Version] {
			pending = append(pending, m)
		}
	}
	return pending, nil
}

// recordedVersions reads the CLI's table. If the table or a column is missing,
// it first creates them with the CLI's own steps. Otherwise it only reads: the
// database may be read-only.
func recordedVersions(ctx context.Context, conn *pgx.Conn) (map[string]bool, error) {
	var complete bool
	err := conn.QueryRow(ctx, `
		select count(*) = 3 from pg_attribute
		where attrelid = to_regclass('supabase_migrations.schema_migrations')
			and attname in ('version', 'statements', 'name')`).Scan(&complete)
	if err != nil {
		return nil, err
	}
	if !complete {
		_, err = conn.Exec(ctx, `
			set client_min_messages = warning;
			create schema if not exists supabase_migrations;
			create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
			alter table supabase_migrations.schema_migrations add column if not exists statements text[];
			alter table supabase_migrations.schema_migrations add column if not exists name text;
			reset client_min_messages`)
		if err != nil {
			return nil, err
		}
	}
	return versions(ctx, conn)
}

func versions(ctx context.Context, conn *pgx.Conn) (map[string]bool, error) {
	rows, err := conn.Query(ctx, `select version from supabase_migrations.schema_migrations`)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set, nil
}

func (m Migration) apply(ctx context.Context, conn *pgx.Conn) error {
	return fromScratch(ctx, conn, func(tx pgx.Tx) error {
		if err := runAll(ctx, tx, m.text, m.Statements); err != nil {
			return err
		}
		statements := m.Statements
		if statements == nil {
			statements = []string{} // the CLI stores an empty array, not null
		}
		_, err := tx.Exec(ctx, `
			insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)`,
			m.Version, m.Name, statements)
		return err
	})
}
