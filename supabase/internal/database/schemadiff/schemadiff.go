// Package schemadiff reads the objects of a database's schemas from its catalogue, as SQL
// statements that create them. It writes them as a dump, and it writes the statements that turn one
// database's objects into another's.
//
// It covers schemas, extensions, enums, composite types, domains, ranges, sequences, tables (with
// partitions, identity and generated columns), constraints, indexes, functions, procedures,
// aggregates, views, materialized views, rules, triggers, row level security, policies, comments,
// grants, default privileges, replica identities, statistics objects, collations, dictionaries and
// configurations of text search, tables of publications and event triggers. It does not cover
// operators, foreign tables and their servers, and owners.
package schemadiff

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Object is an object of a schema.
type Object struct {
	Kind   string // such as table or policy
	Key    string // identity: kind, schema and name, and the table for what belongs to one
	Parent string // key of the table that the object ends with; "" for none
	Create string // statements
	Drop   string // statement; "" if there is none

	Columns []Column // of a table; of a partition, the columns that its table lacks
	Details []string // what a change has to know, by kind: see queries

	inheritedColumns []Column // of a partition: all its columns, as a table of its own has them

	rank    int
	class   uint32 // of the catalogue
	oid     uint32
	subject uint32 // oid of the table, view or type that the object belongs to
	needs   []need
}

// need is an object that another one needs.
type need struct {
	id
	column string // of the table with that id; "" for the whole
}

// Column is a column of a table.
type Column struct {
	Name, Type string // Type with its collation
	Default    string // expression, "" for none
	Generated  string // such as `always as identity`, "" for none
	Sequence   string // options of an identity column's sequence, separated by |
	Usual      bool   // as for a new identity column
	NotNull    bool
	Separate   bool // the default needs a function of the project and is an object of its own
}

// internalSchemas are the schemas of Supabase's services and of Postgres. Their objects are not the
// project's, except for policies on them and triggers that call the project's functions.
var internalSchemas = []string{
	"information_schema", "auth", "storage", "realtime", "_realtime", "extensions", "graphql", "graphql_public",
	"vault", "pgsodium", "pgsodium_masks", "pgbouncer", "supabase_functions", "supabase_migrations", "net", "cron",
	"pgmq", "_analytics", "river", "daawo", "auth_limits", "edge_functions", "repack", "pgtle", "tiger", "tiger_data",
	"topology", "_supavisor",
}

// Schemas returns the schemas of the project: all except Supabase's, Postgres' and extensions' own,
// in order of their names.
func Schemas(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `
		select nspname from pg_namespace n
		where not nspname = any($1) and nspname !~ '^pg_'
		  and (nspname = 'public' or not exists (select from pg_depend d
		      where d.classid = 'pg_namespace'::regclass and d.objid = n.oid and d.deptype = 'e'))
		order by 1`, internalSchemas)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Read returns the objects of the schemas, in an order in which they can be created.
func Read(ctx context.Context, conn *pgx.Conn, schemas []string) ([]Object, error) {
	var all []Object
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			// With an empty search_path, Postgres qualifies every name in definitions.
			if _, err := tx.Exec(ctx, `set local search_path = ''`); err != nil {
				return err
			}
			for rank, q := range queries {
				found, err := readKind(ctx, tx, rank, q, schemas)
				if err != nil {
					return fmt.Errorf("%s: %w", q.kind, err)
				}
				all = append(all, found...)
			}
			for i := range all {
				if all[i].Kind != "table" {
					continue
				}
				columns, err := readColumns(ctx, tx, all[i].oid)
				if err != nil {
					return fmt.Errorf("%s: %w", all[i].Key, err)
				}
				if of, _ := all[i].partition(); of != "" {
					all[i].inheritedColumns = withoutIdentity(columns)
				} else {
					all[i].Columns = columns
				}
				all[i].Create = tableStatement(all[i])
			}
			deps, err := readDependencies(ctx, tx)
			if err != nil {
				return fmt.Errorf("dependencies: %w", err)
			}
			all = sorted(all, deps)
			return nil
		})
	return all, err
}

// readKind runs the query of one kind. Its columns are class, oid, subject, key, parent, create,
// drop and extra.
func readKind(ctx context.Context, tx pgx.Tx, rank int, q query, schemas []string) ([]Object, error) {
	args := []any{schemas}
	if strings.Contains(q.sql, "$2") {
		args = append(args, internalSchemas)
	}
	rows, err := tx.Query(ctx, q.sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Object, error) {
		o := Object{Kind: q.kind, rank: rank}
		err := row.Scan(&o.class, &o.oid, &o.subject, &o.Key, &o.Parent, &o.Create, &o.Drop, &o.Details)
		o.Key = q.kind + " " + o.Key
		return o, err
	})
}

// withoutIdentity returns the columns of a partition as they are after it was detached, which ends
// identities.
func withoutIdentity(columns []Column) []Column {
	for i, c := range columns {
		if c.identity() {
			columns[i].Generated, columns[i].Sequence, columns[i].Usual = "", "", false
		}
	}
	return columns
}

func readColumns(ctx context.Context, tx pgx.Tx, table uint32) ([]Column, error) {
	rows, err := tx.Query(ctx, columnsQuery, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Column])
}

// definition returns the column as CREATE TABLE and ADD COLUMN have it.
func (c Column) definition() string {
	text := pgx.Identifier{c.Name}.Sanitize() + " " + c.Type
	if c.Generated != "" {
		text += " generated " + c.Generated
	}
	if c.Sequence != "" && !c.Usual {
		text += " (" + strings.ReplaceAll(c.Sequence, "|", " ") + ")"
	}
	if c.Default != "" && !c.Separate {
		text += " default " + c.Default
	}
	if c.NotNull {
		text += " not null"
	}
	return text
}

// tableStatement completes the statement of a table, whose query has put %COLUMNS% for the columns.
func tableStatement(t Object) string {
	lines := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		lines[i] = "    " + c.definition()
	}
	return strings.Replace(t.Create, "%COLUMNS%", "\n"+strings.Join(lines, ",\n")+"\n", 1)
}

// dependency says that an object needs another one, or a column of it.
type dependency struct {
	id
	on     id
	column string
}

func readDependencies(ctx context.Context, tx pgx.Tx) ([]dependency, error) {
	rows, err := tx.Query(ctx, dependenciesQuery)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d dependency, err error) {
		err = row.Scan(&d.class, &d.oid, &d.on.class, &d.on.oid, &d.column)
		return d, err
	})
}
