package gotrue

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth"
)

// newest is the last migration of the GoTrue version (auth.Version) that this schema matches.
const newest = "20260625000000"

// prepare creates the auth schema if it is missing, as GoTrue migrates at its start. Like GoTrue,
// it only needs the role that owns the schema. GoTrue has no table for rate limits: if the role may
// not create it, prepare disables the limits and logs it.
func prepare(ctx context.Context, s *settings, log *slog.Logger) error {
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := alone(ctx, conn, createSchema); err != nil {
		return fmt.Errorf("auth schema: %w", err)
	}
	err = alone(ctx, conn, func(ctx context.Context, tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, `select to_regclass('auth_limits.buckets') is not null`).Scan(&exists); err != nil ||
			exists {
			return err
		}
		return apply(ctx, tx, "20_auth_limits.sql")
	})
	if pool.IsCode(err, "42501") { // insufficient_privilege
		log.Warn("rate limits disabled: their table cannot be created", "error", err)
		s.Auth.Limits = auth.Limits{}
		return nil
	}
	if err != nil {
		return fmt.Errorf("rate limits: %w", err)
	}
	return nil
}

// alone runs fn in a transaction. Replicas that start at the same time run it one after another.
func alone(ctx context.Context, conn *pgx.Conn, fn func(context.Context, pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('daawo serve auth'))`); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// createSchema creates the auth schema in an empty database and in one that has only the first
// tables of the Postgres image. It leaves a current schema as it is. It fails on any other version,
// which GoTrue has to migrate first.
func createSchema(ctx context.Context, tx pgx.Tx) error {
	var users, ledger, functions bool
	if err := tx.QueryRow(ctx, `
		select to_regclass('auth.users') is not null, to_regclass('auth.schema_migrations') is not null,
			to_regproc('auth.uid') is not null`).
		Scan(&users, &ledger, &functions); err != nil {
		return err
	}
	if users {
		last := ""
		if ledger {
			if err := tx.QueryRow(ctx,
				`select coalesce(max(version), '') from auth.schema_migrations`).Scan(&last); err != nil {
				return err
			}
		}
		if last >= newest {
			return apply(ctx, tx, "20_auth_repair.sql")
		}
		if err := dropFirstTables(ctx, tx, last); err != nil {
			return err
		}
	}
	files := []string{"20_auth.sql", "20_auth_federation.sql", "20_auth_ledger.sql"}
	if !functions {
		files = append(files, "03_claims.sql")
	}
	for _, name := range files {
		if err := apply(ctx, tx, name); err != nil {
			return err
		}
	}
	return nil
}

// dropFirstTables drops the tables of 2018 that the Postgres image contains. It fails if they have
// rows, or if the last migration is a later one.
func dropFirstTables(ctx context.Context, tx pgx.Tx, last string) error {
	first := last != "" && last < "2019"
	if first {
		var empty bool
		if err := tx.QueryRow(ctx, `
			select not exists (select from auth.users) and not exists (select from auth.refresh_tokens)
			   and not exists (select from auth.instances)
			   and not exists (select from auth.audit_log_entries)`).Scan(&empty); err != nil {
			return err
		}
		first = empty
	}
	if !first {
		return fmt.Errorf("last migration is %q; migrate to %s with GoTrue %s first", last, newest, auth.Version)
	}
	_, err := tx.Exec(ctx, `drop table auth.users, auth.refresh_tokens, auth.instances, auth.audit_log_entries,
		auth.schema_migrations cascade`)
	return err
}

// apply runs one file of the platform schema in the transaction.
func apply(ctx context.Context, tx pgx.Tx, name string) error {
	text, err := fs.ReadFile(migrate.PlatformFiles(), "platform/"+name)
	if err != nil {
		return err
	}
	if _, err = tx.Exec(ctx, "set local client_min_messages = error;\n"+string(text)+"\n;reset role"); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
