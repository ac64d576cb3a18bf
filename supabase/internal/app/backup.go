package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"filippo.io/age"

	"daawo/supabase/internal/backup"
	"daawo/supabase/internal/postgres"
)

// backups makes the backups of an installation.
type backups struct{ *App }

func (a *App) backups() backups { return backups{a} }

func (a backups) archiveDir() string { return filepath.Join(a.data, "archive") }

// backupTrees are the files of an installation that are backed up with its database: those of storage, and the secrets
// without which sessions and links of the past would be void. Files in S3 are kept by that service's own means.
func (a backups) trees() []backup.Tree {
	trees := []backup.Tree{
		{Name: "keys.json", Path: KeysFile(a.data)},
		{Name: "database-password", Path: passwordFile(a.data)},
	}
	if dir := a.filesDir(); dir != "" {
		trees = append(trees, backup.Tree{Name: "storage", Path: dir})
	}
	return trees
}

// openBackup starts the continuous backup, where one is configured.
func (a backups) open(d *database) error {
	if a.cfg.Backup.To == "" {
		return nil
	}
	if d.embedded == nil {
		return errors.New("BACKUP_TO: a database given by DATABASE_URL must be backed up where it runs")
	}
	store, err := backup.OpenStore(a.cfg.Backup.To) // which need not be there: the site serves all the same
	if err != nil {
		return err
	}
	o, err := a.settings(store, nil)
	if err != nil {
		return err
	}
	o.URL, o.Archive = d.url(postgres.Superuser), a.archiveDir()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		backup.Keep(ctx, o)
	}()
	a.onClose("backup", func(context.Context) error { cancel(); <-done; return nil })
	return nil
}

// Progress is told how far a long work has come.
type Progress = func(step string, done, total int64)

func (a backups) settings(store backup.Store, progress Progress) (backup.Options, error) {
	recipients, err := a.recipients()
	if err != nil {
		return backup.Options{}, err
	}
	source, err := a.options.Postgres()
	if err != nil {
		return backup.Options{}, err
	}
	return backup.Options{
		Store: store, Recipients: recipients, Package: source, Progress: progress,
		Trees: a.trees(), StateDir: filepath.Join(a.data, "backup"),
		Every: time.Duration(a.cfg.Backup.Every), Keep: a.cfg.Backup.Keep,
		Log: a.log.With("part", "backup"),
	}, nil
}

// Backup makes one full backup, of the running stack or of one that is stopped. A folder is made for it: somebody asked
// for just this place.
func (a *App) Backup(ctx context.Context, place string, progress Progress) (m backup.Manifest, err error) {
	store, err := backup.MakeStore(place)
	if err != nil {
		return m, err
	}
	o, err := a.backups().settings(store, progress)
	if err != nil {
		return m, err
	}
	err = a.withDatabase(ctx, func(url string) error {
		o.URL = url
		service, err := backup.Open(ctx, o)
		if err != nil {
			return err
		}
		m, err = service.Backup(ctx)
		return err
	})
	return m, err
}

// withDatabase calls work with a superuser's URL of the installation's database: the one of DATABASE_URL, that of the
// running server, or one that is started for the work.
func (a *App) withDatabase(ctx context.Context, work func(url string) error) error {
	if a.cfg.DatabaseURL != "" {
		u, err := databaseURL(a.cfg)
		if err != nil {
			return err
		}
		return work(u.String())
	}
	url, err := postgres.Locate(filepath.Join(a.data, "postgres"))
	if errors.Is(err, fs.ErrNotExist) {
		return a.oneShot(ctx, func(d *database) error { return work(d.url(postgres.Superuser)) })
	} else if err != nil {
		return err
	}
	return work(url(postgres.Superuser))
}

// Restore fills a data folder that does not exist yet, or is empty, from a backup.
func (a *App) Restore(ctx context.Context, place string, to time.Time, identities []age.Identity, progress Progress) (r backup.Restored, err error) {
	store, err := backup.OpenStore(place)
	if err != nil {
		return r, err
	}
	source, err := a.options.Postgres()
	if err != nil {
		return r, err
	}
	lock, err := lockData(a.data)
	if err != nil {
		return r, err
	}
	defer lock.Close()
	return backup.Restore(ctx, backup.RestoreOptions{
		Store: store, Identities: identities, To: to, Package: source, Progress: progress,
		Data: filepath.Join(a.data, "postgres"), Trees: a.backups().trees(), Log: a.log.With("part", "backup"),
	})
}

// BackupPlace is where the configuration sends backups, "" for nowhere.
func (a *App) BackupPlace() string { return a.cfg.Backup.To }
