package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"filippo.io/age"

	"daawo/supabase/internal/backup"
	"daawo/supabase/internal/postgres"
)

func (a *App) archiveDir() string { return filepath.Join(a.data, "archive") }

// BackupTrees are the files of an installation that are backed up with its database: those of storage, and the secrets
// without which sessions and links of the past would be void.
func BackupTrees(data string) []backup.Tree {
	return []backup.Tree{
		{Name: "storage", Path: filepath.Join(data, "storage")},
		{Name: "keys.json", Path: KeysFile(data)},
		{Name: "database-password", Path: filepath.Join(data, "database-password")},
	}
}

// openBackup starts the continuous backup, where one is configured.
func (a *App) openBackup(ctx context.Context, d *database) error {
	if a.cfg.Backup.To == "" {
		return nil
	}
	if d.embedded == nil {
		return errors.New("BACKUP_TO: a database given by DATABASE_URL must be backed up where it runs")
	}
	o, err := a.backupOptions(a.cfg.Backup.To, nil)
	if err != nil {
		return err
	}
	o.URL, o.Archive = d.url(postgres.Superuser), a.archiveDir()
	service, err := backup.Open(ctx, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		service.Run(ctx)
	}()
	a.onClose("backup", func(context.Context) error { cancel(); <-done; return nil })
	return nil
}

// Progress is told how far a long work has come.
type Progress = func(step string, done, total int64)

func (a *App) backupOptions(place string, progress Progress) (backup.Options, error) {
	store, err := backup.OpenStore(place)
	if err != nil {
		return backup.Options{}, err
	}
	var recipients []age.Recipient
	for _, text := range a.cfg.Backup.Recipients {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return backup.Options{}, fmt.Errorf("BACKUP_RECIPIENTS: %q is no age public key (age1…)", text)
		}
		recipients = append(recipients, r)
	}
	source, err := a.options.Postgres()
	if err != nil {
		return backup.Options{}, err
	}
	return backup.Options{
		Store: store, Recipients: recipients, Package: source, Progress: progress,
		Trees: BackupTrees(a.data), StateDir: filepath.Join(a.data, "backup"),
		Every: time.Duration(a.cfg.Backup.Every), Keep: a.cfg.Backup.Keep,
		Log: a.log.With("part", "backup"),
	}, nil
}

// Backup makes one full backup, of the running stack or of one that is stopped.
func (a *App) Backup(ctx context.Context, place string, progress Progress) (m backup.Manifest, err error) {
	o, err := a.backupOptions(place, progress)
	if err != nil {
		return m, err
	}
	work := func(url string) error {
		o.URL = url
		service, err := backup.Open(ctx, o)
		if err != nil {
			return err
		}
		m, err = service.Backup(ctx)
		return err
	}
	url, err := postgres.Locate(filepath.Join(a.data, "postgres"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, a.oneShot(ctx, func(d *database) error { return work(d.url(postgres.Superuser)) })
	} else if err != nil {
		return m, err
	}
	return m, work(url(postgres.Superuser))
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
		Data: filepath.Join(a.data, "postgres"), Trees: BackupTrees(a.data), Log: a.log.With("part", "backup"),
	})
}

// BackupPlace is where the configuration sends backups, "" for nowhere.
func (a *App) BackupPlace() string { return a.cfg.Backup.To }
