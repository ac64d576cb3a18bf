package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// rolesFile is the project's file of roles, and rolesPath its name in the CLI's table of seed
// files, where Setup records that it ran.
const (
	rolesFile = "roles.sql"
	rolesPath = "supabase/" + rolesFile
)

// hideNewTables ends the default privileges of the API roles on what postgres creates in public, as
// the CLI does.
const hideNewTables = `
	alter default privileges for role postgres in schema public
		revoke select, insert, update, delete on tables from anon, authenticated, service_role;
	alter default privileges for role postgres in schema public
		revoke usage, select on sequences from anon, authenticated, service_role;
	alter default privileges for role postgres in schema public
		revoke execute on functions from anon, authenticated, service_role`

// Setup prepares a new database for the migrations of project, once: with hide it revokes the API
// roles' default privileges on new tables, then it runs roles.sql. A database that has applied a
// migration or a seed is not new.
func Setup(ctx context.Context, conn *pgx.Conn, project fs.FS, hide bool) error {
	text, err := fs.ReadFile(project, rolesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return Locked(ctx, conn, func() error {
		applied, err := recordedVersions(ctx, conn)
		if err != nil {
			return fmt.Errorf("new database: %w", err)
		}
		if len(applied) > 0 {
			return nil
		}
		seeds, err := seedLedger.seen(ctx, conn)
		if err != nil {
			return fmt.Errorf("new database: %w", err)
		}
		if len(seeds) > 0 {
			return nil
		}
		return fromScratch(ctx, conn, func(tx pgx.Tx) error {
			if hide {
				if _, err := tx.Exec(ctx, hideNewTables); err != nil {
					return fmt.Errorf("api.auto_expose_new_tables: %w", err)
				}
			}
			roles, err := withoutExisting(ctx, tx, split(string(text)))
			if err != nil {
				return err
			}
			if err := runAll(ctx, tx, string(text), roles); err != nil {
				return fmt.Errorf("%s: %w", rolesFile, err)
			}
			_, err = tx.Exec(ctx, `insert into supabase_migrations.seed_files (path, hash) values ($1, $2)`, rolesPath,
				hashOf(text))
			return err
		})
	})
}

// createRole matches CREATE ROLE and its other names.
var createRole = regexp.MustCompile(`(?i)^create\s+(?:role|user|group)\s+("(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)`)

// withoutExisting removes the statements that create roles that exist: roles belong to the server,
// and a reset or a comparison creates another database on it.
func withoutExisting(ctx context.Context, tx pgx.Tx, statements []string) ([]string, error) {
	rows, err := tx.Query(ctx, `select rolname from pg_roles`)
	if err != nil {
		return nil, err
	}
	roles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(statements, func(stmt string) bool {
		m := createRole.FindStringSubmatch(StripComments(stmt))
		return m != nil && slices.Contains(roles, unquoted(m[1]))
	}), nil
}
