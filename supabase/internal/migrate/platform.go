package migrate

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Files 00–19 belong to this package, 20–29 are the auth schema, 30–39 the
// storage schema. Each is idempotent and runs again when its text changes.
//
//go:embed platform/*.sql
var platformFiles embed.FS

// platformLedger has the hash of each file of the platform by its name.
var platformLedger = ledger{"daawo.platform", "name", `
	create schema if not exists daawo;
	create table daawo.platform (
		name       text primary key,
		hash       text not null,
		applied_at timestamptz not null default now()
	);
	comment on table daawo.platform is 'The parts of the platform schema that this database has, by the hash of their SQL.'`}

// PlatformFiles are the platform's SQL files, in a folder named platform.
func PlatformFiles() fs.FS { return platformFiles }

// Platform applies, in the order of their names, those platform files that
// this database has not seen in their present form. conn must be a superuser,
// or, where the roles exist already, a member of them.
//
// skip names files by prefix, such as "20" and "30" where the real services
// keep their own schemas.
func Platform(ctx context.Context, conn *pgx.Conn, skip ...string) error {
	return platform(ctx, conn, platformFiles, skip)
}

func platform(ctx context.Context, conn *pgx.Conn, files fs.FS, skip []string) error {
	return locked(ctx, conn, func() error {
		seen, err := platformLedger.seen(ctx, conn)
		if err != nil {
			return fmt.Errorf("platform schema: %w", err)
		}
		missing, err := unseen(files, seen, skip)
		if err != nil {
			return err
		}
		for _, f := range missing {
			if err := applyPlatform(ctx, conn, f); err != nil {
				return fmt.Errorf("platform schema: %s: %w", f.name, withLine(err, f.text))
			}
		}
		return nil
	})
}

// Behind says whether a database that this program or an older one has made
// lacks something that Platform or Apply would bring. A database that has
// nothing yet is not behind. It changes nothing.
func Behind(ctx context.Context, conn *pgx.Conn, project fs.FS, skip ...string) (bool, error) {
	if made, err := platformLedger.exists(ctx, conn); err != nil || !made {
		return false, err
	}
	seen, err := platformLedger.seen(ctx, conn)
	if err != nil || len(seen) == 0 {
		return false, err
	}
	missing, err := unseen(platformFiles, seen, skip)
	if err != nil || len(missing) > 0 {
		return err == nil, err
	}
	pending, err := Pending(ctx, conn, project)
	return len(pending) > 0, err
}

// platformFile is a file of the platform with the hash by which it is recorded.
type platformFile struct{ name, text, hash string }

// unseen lists the files that were not applied in their present form.
func unseen(files fs.FS, seen map[string]string, skip []string) (missing []platformFile, err error) {
	names, err := fs.Glob(files, "platform/*.sql") // sorted by name
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base := path.Base(name)
		if hasAnyPrefix(base, skip) {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if hash := hashOf(text); seen[base] != hash {
			missing = append(missing, platformFile{base, string(text), hash})
		}
	}
	return missing, nil
}

func applyPlatform(ctx context.Context, conn *pgx.Conn, f platformFile) error {
	return afresh(ctx, conn, func(tx pgx.Tx) error {
		// What a file sets for itself ends with its transaction.
		if _, err := tx.Exec(ctx, `set local client_min_messages = warning; set local search_path = public, extensions`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, f.text); err != nil {
			return err
		}
		// It may have gone on as the owner of what it makes.
		if _, err := tx.Exec(ctx, `reset role`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			insert into daawo.platform (name, hash) values ($1, $2)
			on conflict (name) do update set hash = excluded.hash, applied_at = now()`, f.name, f.hash)
		return err
	})
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
