package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

// Reset replaces the database by a new one with the project's migrations and, if seed is set, its
// seeds; see database.Reset. Users, rows and files of the database before are then gone; the keys
// of the installation stay. A running server goes on with the new database. progress, which may be
// nil, gets one line per step.
func (a *App) Reset(ctx context.Context, seed bool, progress func(step string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	return a.oneShot(ctx, func(d *database.Database) error {
		err := d.Reset(ctx, seed, progress, func(ctx context.Context, before, now string) {
			if err := removeFiles(ctx, a.Options, before, now, progress); err != nil {
				a.Log.Warn("files of the replaced database remain; storage removes them in the night", "error", err)
			}
		})
		if err != nil {
			return err
		}
		err = control.Command(ctx, a.Data, "/database/replaced", &struct{}{})
		if errors.Is(err, datadir.ErrNotRunning) || !d.Served() {
			return nil // the next start opens the new database
		}
		return err
	})
}

// removeFiles deletes the files of objects that the new database does not have. It keeps all of
// another database.
func removeFiles(ctx context.Context, o *installation.Options, before, now string, progress func(string)) error {
	if o.Config.StorageURL != "" || !o.Config.Storage.Enabled {
		return nil
	}
	files, closer, err := openStored(o)
	if err != nil {
		return err
	}
	if err := checkMark(ctx, files, before); err != nil {
		if errors.Is(err, objects.ErrForeignFiles) {
			progress(err.Error())
			err = nil
		}
		return errors.Join(err, closer.Close())
	}
	kept, err := storedObjects(ctx, now)
	if err != nil {
		return errors.Join(err, closer.Close())
	}
	all, err := storedObjects(ctx, before)
	if err != nil {
		return errors.Join(err, closer.Close())
	}
	var gone []backend.Key
	for key := range all {
		if !kept[key] {
			gone = append(gone, key)
		}
	}
	progress(fmt.Sprintf("removing %d files", len(gone)))
	return errors.Join(files.Delete(ctx, gone...), closer.Close())
}

// storedObjects returns the keys of the files of a database's objects.
func storedObjects(ctx context.Context, url string) (map[backend.Key]bool, error) {
	all := map[backend.Key]bool{}
	err := pool.WithConn(ctx, url, func(conn *pgx.Conn) error {
		var exists bool
		err := conn.QueryRow(ctx, `select to_regclass('storage.objects') is not null`).Scan(&exists)
		if err != nil || !exists {
			return err
		}
		rows, err := conn.Query(ctx, `select bucket_id, name, version from storage.objects where version is not null`)
		if err != nil {
			return err
		}
		keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[backend.Key])
		for _, key := range keys {
			all[key] = true
		}
		return err
	})
	return all, err
}
