package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
)

// seedLedger is the table in which the official CLI records seed files.
var seedLedger = ledger{"supabase_migrations.seed_files", "path", `
	set client_min_messages = warning;
	create schema if not exists supabase_migrations;
	create table if not exists supabase_migrations.seed_files (path text not null primary key, hash text not null);
	reset client_min_messages`}

// Seed runs the seed files that are not recorded in this database, each in its
// own transaction, and returns their names. patterns are config.toml's [db.seed]
// sql_paths, relative to project. If a recorded file has changed, Seed does not
// run it again and records only its new hash, as the official CLI does.
func Seed(ctx context.Context, conn *pgx.Conn, project fs.FS, patterns []string) (ran []string, err error) {
	files, err := seedFiles(project, patterns)
	if err != nil {
		return nil, err
	}
	err = Locked(ctx, conn, func() error {
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

// seedFiles expands the patterns in order and returns each file once.
func seedFiles(project fs.FS, patterns []string) ([]string, error) {
	var files []string
	seen := map[string]bool{}
	for _, pattern := range patterns {
		// A pattern may name the folder of config.toml or, as in older projects, the one above it.
		clean := path.Clean(strings.TrimPrefix(pattern, "./"))
		matches, err := fs.Glob(project, clean) // sorted by name
		if err == nil && len(matches) == 0 {
			matches, err = fs.Glob(project, strings.TrimPrefix(clean, "supabase/"))
		}
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

// UnmatchedSeeds returns the patterns of config.toml's sql_paths that match no file.
func UnmatchedSeeds(project fs.FS, patterns []string) (unmatched []string) {
	for _, pattern := range patterns {
		if files, err := seedFiles(project, []string{pattern}); err == nil && len(files) == 0 {
			unmatched = append(unmatched, pattern)
		}
	}
	return unmatched
}

func seedOne(ctx context.Context, conn *pgx.Conn, project fs.FS, file string, seen map[string]string) (fresh bool,
	err error) {
	text, err := fs.ReadFile(project, file)
	if err != nil {
		return false, err
	}
	// The CLI records paths relative to the parent of the project folder.
	name, hash := "supabase/"+file, hashOf(text)
	if seen[name] == hash {
		return false, nil
	}
	err = fromScratch(ctx, conn, func(tx pgx.Tx) error {
		if _, recorded := seen[name]; !recorded {
			fresh = true
			if err := runAll(ctx, tx, string(text), split(string(text))); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
			insert into supabase_migrations.seed_files (path, hash) values ($1, $2)
			on conflict (path) do update set hash = excluded.hash`, name, hash)
		return err
	})
	return fresh && err == nil, err
}
