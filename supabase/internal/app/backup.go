package app

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"filippo.io/age"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/engine/storage/backend"
)

// backups makes backups of an installation, and lists and checks them.
type backups struct {
	installation.Installation
	status  *physical.Status
	oneShot func(context.Context, func(*database.Database) error) error // see App.oneShot
}

// extensionsTree is the name of the added extensions in a backup.
const extensionsTree = "extensions"

// trees returns the files that are backed up with the database: the stored files, the deployed
// functions, the added extensions, and the secrets that keep sessions and signed links valid after
// a restore. Files in S3 are not part of a backup.
func (a backups) trees() []physical.Tree {
	trees := []physical.Tree{
		{Name: "keys.json", Path: keyring.File(a.Data)},
		{Name: "database-password", Path: database.PasswordFile(a.Data)},
		{Name: extensionsTree, Path: server.AddedDir(a.Data)},
		{Name: "vault-key", Path: server.VaultKeyFile(datadir.Postgres(a.Data))},
		{Name: "functions", Path: deployedDir(a.Data)},
	}
	if dir := filesDir(a.Options); dir != "" {
		trees = append(trees, physical.Tree{Name: "storage", Path: dir, Removed: backend.RemovedDir(dir)})
	}
	return trees
}

// open starts the continuous backup if BACKUP_TO is set.
func (a backups) open(d *database.Database) error {
	if a.Config.Backup.To == "" {
		return a.forgetRemoved()
	}
	if !d.Embedded() {
		return errors.New("BACKUP_TO: cannot back up the database of DATABASE_URL; back it up where it runs")
	}
	store, err := physical.OpenStore(a.Config.Backup.To) // the store may be unreachable: the stack starts anyway
	if err != nil {
		return err
	}
	o, err := a.settings(store, nil)
	if err != nil {
		return err
	}
	if dir := filesDir(a.Options); dir != "" {
		if err := backend.KeepRemoved(dir); err != nil {
			return err
		}
	}
	o.URL, o.Archive, o.Status = d.URL(server.Superuser), database.ArchiveDir(a.Data), a.status
	a.Background("backup", func(ctx context.Context) { physical.Keep(ctx, o) })
	return nil
}

// forgetRemoved deletes the stored files that waited for a backup when it was turned off.
func (a backups) forgetRemoved() error {
	if dir := filesDir(a.Options); dir != "" {
		return backend.ForgetRemoved(dir)
	}
	return nil
}

// Progress is called during a long operation: step has done this much of total.
type Progress = func(step string, done, total int64)

// settings returns the options of a backup except the database's.
func (a backups) settings(store physical.Store, progress Progress) (physical.Options, error) {
	recipients, err := a.recipients()
	if err != nil {
		return physical.Options{}, err
	}
	source, err := a.PostgresSource()
	if err != nil {
		return physical.Options{}, err
	}
	return physical.Options{
		Store: store, Recipients: recipients, Package: source, Progress: progress,
		Trees: a.trees(), StateDir: datadir.Backup(a.Data),
		Every: time.Duration(a.Config.Backup.Every), Keep: a.Config.Backup.Keep,
		Log: a.Log.With("part", "backup"),
	}, nil
}

// installed returns an error if there is no installation. Commands that read one must not create
// it.
func (a backups) installed() error {
	if a.Config.DatabaseURL != "" {
		return nil
	}
	return datadir.Installed(a.Data)
}

// Backup makes one full backup of a running or stopped stack. If location is a folder that does not
// exist, it is created.
func (a *App) Backup(ctx context.Context, location string, progress Progress) (physical.Manifest, error) {
	return a.backups.make(ctx, location, progress)
}

// make implements App.Backup.
func (a backups) make(ctx context.Context, location string, progress Progress) (m physical.Manifest, err error) {
	if err := a.installed(); err != nil { // before the folder of the store is created
		return m, err
	}
	store, err := physical.MakeStore(location)
	if err != nil {
		return m, err
	}
	o, err := a.settings(store, progress)
	if err != nil {
		return m, err
	}
	err = a.withDatabase(ctx, func(url string) error {
		o.URL = url
		service, err := physical.Open(ctx, o)
		if err != nil {
			return err
		}
		m, err = service.Backup(ctx)
		return err
	})
	return m, err
}

// withDatabase calls work with a superuser URL of the database: DATABASE_URL, that of the running
// server, or that of a Postgres that is started for work.
func (a backups) withDatabase(ctx context.Context, work func(url string) error) error {
	if a.Config.DatabaseURL != "" {
		u, err := config.PrimaryURL(a.Config)
		if err != nil {
			return err
		}
		return work(u.String())
	}
	url, err := server.Locate(datadir.Postgres(a.Data))
	if errors.Is(err, fs.ErrNotExist) {
		return a.oneShot(ctx, func(d *database.Database) error { return work(d.URL(server.Superuser)) })
	} else if err != nil {
		return err
	}
	return work(url(server.Superuser))
}

// Restore restores a backup into the data folder, which must be empty or missing. It restores the
// state as of to, or the newest state if to is zero.
func (a *App) Restore(ctx context.Context, location string, to time.Time, identities []age.Identity,
	progress Progress) (r physical.Restored, err error) {
	store, err := physical.OpenStore(location)
	if err != nil {
		return r, err
	}
	source, err := a.PostgresSource()
	if err != nil {
		return r, err
	}
	undo := datadir.RemoveNew(a.Data)
	lock, err := datadir.Lock(a.Data)
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			undo()
		}
		err = errors.Join(err, lock.Close())
	}()
	return physical.Restore(ctx, physical.RestoreOptions{
		Store: store, Identities: identities, To: to, Package: source, Extensions: extensionsTree, Progress: progress,
		Data: datadir.Postgres(a.Data), Trees: a.backups.trees(), Log: a.Log.With("part", "backup"),
	})
}
