package gotrue

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth"
	"daawo/supabase/internal/migrate"
)

// newest is the last migration of the GoTrue whose tables these are.
const newest = "20260625000000"

// prepare makes the auth schema where it is missing, as GoTrue migrates at its start. It needs no more than GoTrue: the role
// that owns the schema. The counters of the rate limits are ours: where they may not be made, limits are off, and the log
// says so.
func prepare(ctx context.Context, s *Settings, log *slog.Logger) error {
	conn, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Replicas that start together follow one another.
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('daawo serve auth'))`); err != nil {
			return err
		}
		return makeSchema(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("auth schema: %w", err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var there bool
		if err := tx.QueryRow(ctx, `select to_regclass('auth_limits.buckets') is not null`).Scan(&there); err != nil || there {
			return err
		}
		return apply(ctx, tx, "20_auth_limits.sql")
	})
	if err != nil {
		log.Warn("rate limits are off: their table could not be made", "error", err)
		s.Auth.Limits = auth.Limits{}
	}
	return nil
}

// makeSchema finds what the database has: nothing, what this GoTrue leaves, what the image of Postgres brings for GoTrue to
// begin with, or something else, which is GoTrue's to migrate.
func makeSchema(ctx context.Context, tx pgx.Tx) error {
	var users, ledger, functions bool
	if err := tx.QueryRow(ctx, `
		select to_regclass('auth.users') is not null, to_regclass('auth.schema_migrations') is not null, to_regproc('auth.uid') is not null`).
		Scan(&users, &ledger, &functions); err != nil {
		return err
	}
	if users {
		last := ""
		if ledger {
			if err := tx.QueryRow(ctx, `select coalesce(max(version), '') from auth.schema_migrations`).Scan(&last); err != nil {
				return err
			}
		}
		if last >= newest {
			return nil
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

// dropFirstTables removes the empty tables of 2018 that the image of Postgres brings.
func dropFirstTables(ctx context.Context, tx pgx.Tx, last string) error {
	first := last != "" && last < "2019"
	if first {
		var empty bool
		if err := tx.QueryRow(ctx, `
			select not exists (select from auth.users) and not exists (select from auth.refresh_tokens)
			   and not exists (select from auth.instances) and not exists (select from auth.audit_log_entries)`).Scan(&empty); err != nil {
			return err
		}
		first = empty
	}
	if !first {
		return fmt.Errorf("its last migration is %q; let GoTrue %s migrate it to %s first", last, auth.Version, newest)
	}
	_, err := tx.Exec(ctx, `drop table auth.users, auth.refresh_tokens, auth.instances, auth.audit_log_entries, auth.schema_migrations cascade`)
	return err
}

// apply runs one file of the platform's schema in the transaction.
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
