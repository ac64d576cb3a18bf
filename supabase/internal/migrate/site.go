package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Migration is one file of a migrations folder.
type Migration struct {
	Version, Name string // 20260901000000_reports.sql is version 20260901000000, name reports
	Statements    []string
	file          string
}

// fileName is the official CLI's form of a migration's file name.
var fileName = regexp.MustCompile(`^([0-9]+)_(.*)\.sql$`)

// Read returns the migrations in the folder migrations of project, oldest
// first. Files of other names are not migrations, as for the official CLI.
func Read(project fs.FS) ([]Migration, error) {
	files, err := fs.Glob(project, "migrations/*.sql") // sorted by name
	if err != nil {
		return nil, err
	}
	var all []Migration
	for _, file := range files {
		match := fileName.FindStringSubmatch(path.Base(file))
		if match == nil {
			continue
		}
		text, err := fs.ReadFile(project, file)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", file, err)
		}
		all = append(all, Migration{match[1], match[2], split(string(text)), file})
	}
	return all, nil
}

// Apply applies those of a project's migrations that the database does not
// have yet, oldest first, and returns them. Each is all or nothing, and is
// recorded as the official CLI records it, which then finds nothing to do.
//
// conn should belong to the role postgres, as the CLI's would. Migrations that
// the database has and the project does not are a newer release's, and left alone.
func Apply(ctx context.Context, conn *pgx.Conn, project fs.FS) (applied []Migration, err error) {
	all, err := Read(project)
	if err != nil {
		return nil, err
	}
	err = locked(ctx, conn, func() error {
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

// Pending returns the project's migrations that the database does not have.
// It changes nothing.
func Pending(ctx context.Context, conn *pgx.Conn, project fs.FS) ([]Migration, error) {
	all, err := Read(project)
	if err != nil {
		return nil, err
	}
	recorded, err := versions(ctx, conn)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" { // no such table: none was ever applied
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

// recordedVersions makes the CLI's table where it is missing, in the steps by
// which the CLI came to its present form, and reads it. A database that has
// nothing to gain is only read: it may be taking no writes.
func recordedVersions(ctx context.Context, conn *pgx.Conn) (map[string]bool, error) {
	var complete bool
	err := conn.QueryRow(ctx, `
		select count(*) = 3 from pg_attribute
		where attrelid = to_regclass('supabase_migrations.schema_migrations') and attname in ('version', 'statements', 'name')`).Scan(&complete)
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
	return afresh(ctx, conn, func(tx pgx.Tx) error {
		if err := runAll(ctx, tx, m.Statements); err != nil {
			return err
		}
		statements := m.Statements
		if statements == nil {
			statements = []string{} // as the CLI: an empty array, not null
		}
		_, err := tx.Exec(ctx, `insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)`,
			m.Version, m.Name, statements)
		return err
	})
}

// runAll runs the statements of a file in our transaction.
func runAll(ctx context.Context, tx pgx.Tx, statements []string) error {
	conn := tx.Conn().PgConn()
	for i, stmt := range statements {
		if controlsTransaction(stmt) {
			continue // the whole file is one transaction already
		}
		where := fmt.Sprintf("statement %d (%s)", i+1, firstLine(stmt))
		if _, err := conn.Exec(ctx, stmt).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", where, withLine(err, stmt))
		}
		if conn.TxStatus() != 'T' { // prepare transaction, where the server allows it
			return fmt.Errorf("%s ends the transaction that makes the file all or nothing", where)
		}
	}
	return nil
}

// control matches statements by which a file would end our transaction.
var control = regexp.MustCompile(`(?is)^(begin|start\s+transaction|commit|end|rollback|abort)(\s+(work|transaction))?(\s+and\s+(no\s+)?chain)?$`)

func controlsTransaction(stmt string) bool {
	return control.MatchString(stripComments(stmt))
}

// stripComments removes the comments before a statement.
func stripComments(stmt string) string {
	s := splitter{text: stmt}
	i := 0
	for i < len(stmt) {
		switch {
		case strings.HasPrefix(stmt[i:], "--"):
			i = s.lineComment(i)
		case strings.HasPrefix(stmt[i:], "/*"):
			i = s.blockComment(i)
		case stmt[i] <= ' ':
			i++
		default:
			return stmt[i:]
		}
	}
	return ""
}

func firstLine(stmt string) string {
	line, _, _ := strings.Cut(stripComments(stmt), "\n")
	if len(line) > 60 {
		line = strings.ToValidUTF8(line[:60], "") + "…"
	}
	return line
}
