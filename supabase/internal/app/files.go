package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"
)

// tenant is a part of the paths of stored files. docker/compose.yaml has the same one, so that
// files can move between both.
const tenant = "daawo"

// filesDir returns the folder of the stored files, or "" if they are in S3.
func filesDir(o *installation.Options) string {
	if o.Config.Files.Backend == "s3" {
		return ""
	}
	return cmp.Or(o.Config.Files.Path, filepath.Join(o.Data, "storage"))
}

// openStored opens the backend of the stored files: S3 or a folder, which several servers may
// share.
func openStored(o *installation.Options) (backend.Backend, io.Closer, error) {
	if dir := filesDir(o); dir != "" {
		return openFolder(dir, false)
	}
	f := o.Config.Files
	s3, err := backend.OpenS3(backend.S3Config{
		Endpoint: f.Endpoint, Region: f.Region, Bucket: f.Bucket, Tenant: tenant, PathStyle: f.PathStyle,
		AccessKey: f.AccessKey, SecretKey: f.SecretKey,
	})
	return s3, io.NopCloser(nil), err
}

func openFolder(dir string, readable bool) (backend.Backend, io.Closer, error) {
	disk, err := backend.OpenDisk(backend.DiskConfig{Path: dir, Bucket: tenant, Tenant: tenant, Readable: readable})
	return disk, disk, err
}

// checkMark returns objects.ErrForeignFiles if the files belong to another database.
func checkMark(ctx context.Context, files backend.Backend, url string) error {
	return pool.WithConn(ctx, url, func(conn *pgx.Conn) error { return objects.CheckMark(ctx, files, conn) })
}

// checkFiles returns an error if the database lists stored files and their whole folder is missing.
func checkFiles(ctx context.Context, o *installation.Options, d *database.Database) error {
	dir := filesDir(o)
	if !d.Embedded() || dir == "" || o.Config.StorageURL != "" || !o.Config.Storage.Enabled {
		return nil
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return pool.WithConn(ctx, d.URL(server.Superuser), func(conn *pgx.Conn) error {
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
			dir, n, o.Data, database.RestoreCommand(o.Config.Backup.To, o.Data))
	})
}

// checkCluster returns an error if the data folder has no database, but what belongs to one. A new
// one would be served in its place, and storage would delete its files, which have no row there.
func checkCluster(o *installation.Options) error {
	cluster := datadir.Postgres(o.Data)
	if _, err := os.Lstat(cluster); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it returns the error
	}
	restore := database.RestoreCommand(o.Config.Backup.To, o.Data)
	if rest := physical.Unfinished(cluster); rest != "" {
		return fmt.Errorf("%s is the rest of a restore that was interrupted: repeat it: %s; or delete it to start with a new database",
			rest, restore)
	}
	dir := filesDir(o)
	if dir == "" {
		return nil
	}
	stored := false
	err := filepath.WalkDir(filepath.Join(dir, tenant), func(_ string, e fs.DirEntry, err error) error {
		if stored = err == nil && e.Type().IsRegular(); stored {
			return fs.SkipAll
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && !stored {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stored files: %w", err)
	}
	return fmt.Errorf("%s is missing, but %s holds stored files: mount its disk; or move %s away and restore a backup: %s; or move %s away to start with a new database",
		cluster, dir, o.Data, restore, dir)
}

// makeFilesDir creates the folder of the stored files. Rows of stored files without it mean that it
// was lost.
func makeFilesDir(o *installation.Options, d *database.Database) error {
	if !d.Embedded() || filesDir(o) == "" || o.Config.StorageURL != "" || !o.Config.Storage.Enabled {
		return nil
	}
	_, closer, err := openStored(o)
	if err != nil {
		return err
	}
	return closer.Close()
}
