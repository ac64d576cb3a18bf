package schemadiff

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// settings begin a dump, so that it restores in any session.
const settings = `set statement_timeout = 0;
set lock_timeout = 0;
set client_encoding = 'UTF8';
set standard_conforming_strings = on;
set check_function_bodies = false;
set client_min_messages = warning;
set row_security = off;
select pg_catalog.set_config('search_path', '', false);
`

// Write writes the statements that create the objects.
func Write(w io.Writer, objects []Object) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, settings+"\n")
	for _, o := range objects {
		if o.usual() || o.inherited() {
			continue
		}
		fmt.Fprintf(out, "%s\n\n", o.Create)
	}
	fmt.Fprintln(out, "reset all;")
	return out.Flush()
}

// DataOptions select the rows of a dump.
type DataOptions struct {
	Schemas []string
	Exclude []string // tables, as schema.table
	Copy    bool     // COPY for psql, instead of INSERT
}

// dataSchemas are the internal schemas whose rows belong to the project's users and files.
var dataSchemas = map[string][]string{
	"auth": {"users", "identities", "sessions", "refresh_tokens", "mfa_factors", "mfa_challenges", "mfa_amr_claims",
		"one_time_tokens", "flow_state", "sso_providers", "sso_domains", "saml_providers", "saml_relay_states",
		"audit_log_entries"},
	"storage": {"buckets", "objects"},
}

// WriteData writes the rows of the tables, and the values of sequences. Triggers and foreign keys
// do not act while they are loaded.
func WriteData(ctx context.Context, conn *pgx.Conn, w io.Writer, o DataOptions) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%sset session_replication_role = replica;\n\n", settings)
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx,
				`set local search_path = ''; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
				set local extra_float_digits = 3`); err != nil {
				return err
			}
			tables, err := dataTables(ctx, tx, o)
			if err != nil {
				return err
			}
			for _, t := range tables {
				if err := t.write(ctx, tx, out, o.Copy); err != nil {
					return fmt.Errorf("%s: %w", t.name, err)
				}
			}
			return writeSequences(ctx, tx, out, o.Schemas)
		})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "reset all;")
	return out.Flush()
}

// dataTable is a table with its columns that are not generated.
type dataTable struct {
	name    string // quoted
	plain   string // schema.table
	columns []string
	always  bool // an identity column is generated always
}

func dataTables(ctx context.Context, tx pgx.Tx, o DataOptions) ([]dataTable, error) {
	rows, err := tx.Query(ctx, `
		select format('%I.%I', nspname, relname), nspname || '.' || relname,
			array_agg(quote_ident(attname) order by attnum), bool_or(attidentity = 'a')
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
		join pg_catalog.pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
		where relkind = 'r' and nspname = any($1)
			and not exists (select from pg_catalog.pg_depend x
				where x.classid = 'pg_catalog.pg_class'::regclass and x.objid = c.oid and x.deptype = 'e')
		group by 1, 2 order by 2`, o.Schemas)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t dataTable, err error) {
		err = row.Scan(&t.name, &t.plain, &t.columns, &t.always)
		return t, err
	})
	return slices.DeleteFunc(tables, func(t dataTable) bool {
		schema, table, _ := strings.Cut(t.plain, ".")
		listed, internal := dataSchemas[schema]
		return slices.Contains(o.Exclude, t.plain) || internal && !slices.Contains(listed, table)
	}), err
}

// batch is the number of rows in an INSERT statement.
const batch = 100

func (t dataTable) write(ctx context.Context, tx pgx.Tx, out *bufio.Writer, copied bool) error {
	columns := strings.Join(t.columns, ", ")
	if copied {
		fmt.Fprintf(out, "copy %s (%s) from stdin;\n", t.name, columns)
		if _, err := tx.Conn().PgConn().CopyTo(ctx, out,
			fmt.Sprintf("copy %s (%s) to stdout", t.name, columns)); err != nil {
			return err
		}
		fmt.Fprint(out, "\\.\n\n")
		return nil
	}
	values := make([]string, len(t.columns))
	for i, c := range t.columns {
		values[i] = fmt.Sprintf("quote_nullable(%s::text)", c)
	}
	rows, err := tx.Query(ctx,
		fmt.Sprintf("select concat_ws(', ', %s) from only %s", strings.Join(values, ", "), t.name))
	if err != nil {
		return err
	}
	overriding := ""
	if t.always {
		overriding = " overriding system value"
	}
	n := 0
	var line string
	_, err = pgx.ForEachRow(rows, []any{&line}, func() error {
		if n%batch == 0 {
			if n > 0 {
				fmt.Fprint(out, ";\n")
			}
			fmt.Fprintf(out, "insert into %s (%s)%s values\n  (%s)", t.name, columns, overriding, line)
		} else {
			fmt.Fprintf(out, ",\n  (%s)", line)
		}
		n++
		return nil
	})
	if n > 0 {
		fmt.Fprint(out, ";\n\n")
	}
	return err
}

func writeSequences(ctx context.Context, tx pgx.Tx, out *bufio.Writer, schemas []string) error {
	rows, err := tx.Query(ctx, `
		select format('%I.%I', schemaname, sequencename), last_value from pg_catalog.pg_sequences
		where schemaname = any($1) and last_value is not null order by 1`, schemas)
	if err != nil {
		return err
	}
	var name string
	var last int64
	_, err = pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		_, err := fmt.Fprintf(out, "select pg_catalog.setval(%s, %d, true);\n", literal(name), last)
		return err
	})
	return err
}

// WriteRoles writes the roles that the project has created, without passwords, and the settings of
// all roles.
func WriteRoles(ctx context.Context, conn *pgx.Conn, w io.Writer) error {
	rows, err := conn.Query(ctx, `
		select format('create role %I with %s%s%s%s%s;', rolname, case when rolcanlogin then 'login' else 'nologin' end,
			case when rolinherit then '' else ' noinherit' end, case when rolcreaterole then ' createrole' else '' end,
			case when rolcreatedb then ' createdb' else '' end, case when rolbypassrls then ' bypassrls' else '' end)
		from pg_catalog.pg_roles
		where rolname !~ ('^(pg_|supabase_|postgres$|anon$|authenticated$|service_role$|authenticator$|'
			|| 'dashboard_user$|pgbouncer$|daawo)')
			and not rolsuper
		union all
		select format('grant %I to %I;', pg_get_userbyid(roleid), pg_get_userbyid(member))
		from pg_catalog.pg_auth_members
		where pg_get_userbyid(member)::text !~ '^(pg_|supabase_|postgres$|authenticator$|dashboard_user$|daawo)'
		union all
		select format('alter role %I set %s to %L;', pg_get_userbyid(setrole), split_part(setting, '=', 1),
			substr(setting, strpos(setting, '=') + 1))
		from pg_catalog.pg_db_role_setting cross join unnest(setconfig) setting
		where setdatabase = 0
			and pg_get_userbyid(setrole)::text in ('anon', 'authenticated', 'service_role', 'authenticator')`)
	if err != nil {
		return err
	}
	var line string
	_, err = pgx.ForEachRow(rows, []any{&line}, func() error {
		_, err := fmt.Fprintln(w, line)
		return err
	})
	return err
}
