package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// restoreCommand returns the command that restores the backup of store into the data folder.
func restoreCommand(store, data string) string {
	return fmt.Sprintf("`daawo restore --from %s --data %s`", cmp.Or(store, "STORE"), data)
}

// withCure adds the command that restores the backup of store to the error of a damaged data
// folder.
func withCure(err error, store, data string) error {
	if errors.Is(err, server.ErrBroken) {
		return fmt.Errorf("%w: move %s away and restore a backup: %s", err, data, restoreCommand(store, data))
	}
	return err
}

// checkFiles returns an error if the database lists stored files and their whole folder is missing.
func (d *database) checkFiles(ctx context.Context) error {
	dir := d.filesDir()
	if d.embedded == nil || dir == "" || d.Config.StorageURL != "" || !d.Config.Storage.Enabled {
		return nil
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return pool.WithConn(ctx, d.url(server.Superuser), func(conn *pgx.Conn) error {
		var exists bool
		if err := conn.QueryRow(ctx, `select to_regclass('storage.objects') is not null`).Scan(&exists); err != nil ||
			!exists {
			return err
		}
		var n int64
		if err := conn.QueryRow(ctx, `select count(*) from storage.objects`).Scan(&n); err != nil || n == 0 {
			return err
		}
		return fmt.Errorf("%s is missing, but the database lists %d stored files: mount its disk; or move %s away and restore a backup: %s; or create the empty folder to start without these files",
			dir, n, d.Data, restoreCommand(d.Config.Backup.To, d.Data))
	})
}

// makeFilesDir creates the folder of the stored files. Rows of stored files without it mean that it
// was lost.
func (d *database) makeFilesDir() error {
	if d.embedded == nil || d.filesDir() == "" || d.Config.StorageURL != "" || !d.Config.Storage.Enabled {
		return nil
	}
	_, closer, err := d.openFiles()
	if err != nil {
		return err
	}
	return closer.Close()
}
