package migrate

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Files 00 to 19 are the base platform, 20 to 29 the auth schema, 30 to 39 the
// storage schema, 40 to 49 the realtime schema. Each is idempotent and runs
// again when its text changes.
//
//go:embed platform/*.sql
var platformFiles embed.FS

// platformLedger records the hash of each platform file by its name.
var platformLedger = ledger{"daawo.platform", "name", `
	create schema if not exists daawo;
	create table daawo.platform (
		name       text primary key,
		hash       text not null,
		applied_at timestamptz not null default now()
	);
	comment on table daawo.platform is 'The applied files of the platform schema, with the hashes of their SQL.'`}

// PlatformFiles returns the platform's SQL files, in a folder named platform.
func PlatformFiles() fs.FS { return platformFiles }

// ExecPlatform runs the platform's files that match patterns such as "30_storage*.sql", in the
// order of the patterns and of the names. It keeps no ledger: the files may run again.
func ExecPlatform(ctx context.Context, tx pgx.Tx, patterns ...string) error {
	for _, pattern := range patterns {
		names, err := fs.Glob(platformFiles, "platform/"+pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := fs.ReadFile(platformFiles, name)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// PlatformKey returns a short hash of the names and texts of the platform's files.
func PlatformKey() string {
	files, err := unseen(platformFiles, nil, nil)
	if err != nil {
		panic(err) // the files are part of the program
	}
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintln(h, f.name, f.hash)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Platform applies the platform files that this database has not recorded with
// their present hash, and those whose schemas were dropped, in the order of
// their names. conn must be a superuser. If the roles exist already, membership
// in them is enough.
//
// skip lists prefixes of file names to skip, such as "20" and "30" if the real
// services keep their own schemas.
func Platform(ctx context.Context, conn *pgx.Conn, skip ...string) error {
	return platform(ctx, conn, platformFiles, skip)
}

func platform(ctx context.Context, conn *pgx.Conn, files fs.FS, skip []string) error {
	return Locked(ctx, conn, func() error {
		seen, err := platformLedger.seen(ctx, conn)
		if err != nil {
			return fmt.Errorf("platform schema: %w", err)
		}
		if err := forgetDropped(ctx, conn, seen); err != nil {
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

// HasPlatform reports whether any file of the platform was applied to the database. It changes
// nothing.
func HasPlatform(ctx context.Context, conn *pgx.Conn) (applied bool, err error) {
	if exists, err := platformLedger.created(ctx, conn); err != nil || !exists {
		return false, err
	}
	err = conn.QueryRow(ctx, `select exists(select from `+platformLedger.table+`)`).Scan(&applied)
	return applied, err
}

// HasPending reports whether Platform or Apply would change a database that
// this program or an older release created. It returns false for an empty
// database. It changes nothing.
func HasPending(ctx context.Context, conn *pgx.Conn, project fs.FS, skip ...string) (bool, error) {
	if applied, err := HasPlatform(ctx, conn); err != nil || !applied {
		return false, err
	}
	seen, err := platformLedger.seen(ctx, conn)
	if err != nil {
		return false, err
	}
	missing, err := unseen(platformFiles, seen, skip)
	if err != nil || len(missing) > 0 {
		return err == nil, err
	}
	pending, err := Pending(ctx, conn, project)
	return len(pending) > 0, err
}

// platformFile is a platform file with its hash.
type platformFile struct{ name, text, hash string }

// unseen returns the files that are not recorded with their present hash.
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
	return fromScratch(ctx, conn, func(tx pgx.Tx) error {
		// These settings end with the transaction.
		if _, err := tx.Exec(ctx,
			`set local client_min_messages = warning; set local search_path = public, extensions`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, f.text); err != nil {
			return err
		}
		// The file may have switched to the owner of its objects.
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
