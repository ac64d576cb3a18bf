package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"filippo.io/age"

	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/server"
)

// backups groups the methods of App that make and restore backups.
type backups struct{ *App }

func (a *App) backups() backups { return backups{a} }

func (a backups) archiveDir() string { return filepath.Join(a.data, "archive") }

// trees returns the files that are backed up with the database: the stored files, and the secrets
// that keep sessions and signed links valid after a restore. Files in S3 are not part of a backup.
func (a backups) trees() []physical.Tree {
	trees := []physical.Tree{
		{Name: "keys.json", Path: KeysFile(a.data)},
		{Name: "database-password", Path: passwordFile(a.data)},
		{Name: "vault-key", Path: server.VaultKeyFile(filepath.Join(a.data, "postgres"))},
	}
	if dir := a.filesDir(); dir != "" {
		trees = append(trees, physical.Tree{Name: "storage", Path: dir})
	}
	return trees
}

// open starts the continuous backup if BACKUP_TO is set.
func (a backups) open(d *database) error {
	if a.cfg.Backup.To == "" {
		return nil
	}
	if d.embedded == nil {
		return errors.New("BACKUP_TO: cannot back up the database of DATABASE_URL; back it up where it runs")
	}
	store, err := physical.OpenStore(a.cfg.Backup.To) // the store may be unreachable: the stack starts anyway
	if err != nil {
		return err
	}
	o, err := a.settings(store, nil)
	if err != nil {
		return err
	}
	o.URL, o.Archive, o.Status = d.url(server.Superuser), a.archiveDir(), a.backupStatus
	background(a.App, "backup", func(ctx context.Context) { physical.Keep(ctx, o) })
	return nil
}

// Progress is called during a long operation: step has done this much of total.
type Progress = func(step string, done, total int64)

// settings returns the options of a backup except those of the database.
func (a backups) settings(store physical.Store, progress Progress) (physical.Options, error) {
	recipients, err := a.recipients()
	if err != nil {
		return physical.Options{}, err
	}
	source, err := a.options.Postgres()
	if err != nil {
		return physical.Options{}, err
	}
	return physical.Options{
		Store: store, Recipients: recipients, Package: source, Progress: progress,
		Trees: a.trees(), StateDir: filepath.Join(a.data, "backup"),
		Every: time.Duration(a.cfg.Backup.Every), Keep: a.cfg.Backup.Keep,
		Log: a.log.With("part", "backup"),
	}, nil
}

// Backup makes one full backup of a running or stopped stack. If location is a folder that does not
// exist, it is created.
func (a *App) Backup(ctx context.Context, location string, progress Progress) (m physical.Manifest, err error) {
	if err := installed(a.cfg, a.data); err != nil { // before the folder of the store is created
		return m, err
	}
	store, err := physical.MakeStore(location)
	if err != nil {
		return m, err
	}
	o, err := a.backups().settings(store, progress)
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
func (a *App) withDatabase(ctx context.Context, work func(url string) error) error {
	if a.cfg.DatabaseURL != "" {
		u, err := databaseURL(a.cfg)
		if err != nil {
			return err
		}
		return work(u.String())
	}
	url, err := server.Locate(filepath.Join(a.data, "postgres"))
	if errors.Is(err, fs.ErrNotExist) {
		return a.oneShot(ctx, func(d *database) error { return work(d.url(server.Superuser)) })
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
	source, err := a.options.Postgres()
	if err != nil {
		return r, err
	}
	undo := removeNew(a.data)
	lock, err := lockData(a.data)
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
		Store: store, Identities: identities, To: to, Package: source, Progress: progress,
		Data: filepath.Join(a.data, "postgres"), Trees: a.backups().trees(), Log: a.log.With("part", "backup"),
	})
}

// BackupStore returns the configured location of the backups, or "" if there is none.
func (a *App) BackupStore() string { return a.cfg.Backup.To }
