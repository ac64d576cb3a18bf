package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
)

// seedLedger is the official CLI's table of the seed files that have run.
var seedLedger = ledger{"supabase_migrations.seed_files", "path", `
	set client_min_messages = warning;
	create schema if not exists supabase_migrations;
	create table if not exists supabase_migrations.seed_files (path text not null primary key, hash text not null);
	reset client_min_messages`}

// Seed runs the seed files that this database has not seen, each in a
// transaction of its own, and returns their names. patterns are config.toml's
// [db.seed] sql_paths, relative to project. A file that has changed since it
// ran is not run again, only its new hash is recorded, as by the official CLI.
func Seed(ctx context.Context, conn *pgx.Conn, project fs.FS, patterns []string) (ran []string, err error) {
	files, err := seedFiles(project, patterns)
	if err != nil {
		return nil, err
	}
	err = locked(ctx, conn, func() error {
		seen, err := seedLedger.seen(ctx, conn)
		if err != nil {
			return fmt.Errorf("seed: %w", err)
		}
		for _, file := range files {
			fresh, err := seedOne(ctx, conn, project, file, seen)
			if err != nil {
				return fmt.Errorf("seed %s: %w", file, err)
			}
			if fresh {
				ran = append(ran, file)
			}
		}
		return nil
	})
	return ran, err
}

// seedFiles expands the patterns in their order, each file once.
func seedFiles(project fs.FS, patterns []string) ([]string, error) {
	var files []string
	seen := map[string]bool{}
	for _, pattern := range patterns {
		matches, err := fs.Glob(project, path.Clean(strings.TrimPrefix(pattern, "./"))) // sorted by name
		if err != nil {
			return nil, fmt.Errorf("seed path %q: %w", pattern, err)
		}
		for _, m := range matches {
			if !seen[m] {
				seen[m] = true
				files = append(files, m)
			}
		}
	}
	return files, nil
}

func seedOne(ctx context.Context, conn *pgx.Conn, project fs.FS, file string, seen map[string]string) (fresh bool, err error) {
	text, err := fs.ReadFile(project, file)
	if err != nil {
		return false, err
	}
	// The CLI names files from the folder above the project's.
	name, hash := "supabase/"+file, hashOf(text)
	if seen[name] == hash {
		return false, nil
	}
	err = afresh(ctx, conn, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			insert into supabase_migrations.seed_files as old (path, hash) values ($1, $2)
			on conflict (path) do update set hash = excluded.hash
			returning xmax = 0`, name, hash).Scan(&fresh)
		if err != nil || !fresh {
			return err
		}
		return runAll(ctx, tx, split(string(text)))
	})
	return fresh && err == nil, err
}
