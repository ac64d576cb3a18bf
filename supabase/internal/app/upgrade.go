package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/backup"
	"daawo/supabase/internal/migrate"
	"daawo/supabase/internal/postgres"
)

// beforeUpgrade is where the backup goes when no other place is configured. It holds the newest one only.
func (a backups) upgradeDir() string { return filepath.Join(a.data, "before-upgrade") }

// backupBeforeUpgrade makes a proven full backup of an installation that this program is about to migrate, so that the
// program and the data of yesterday can be had again. A new installation and one that is up to date need none; a database
// given by DATABASE_URL is backed up where it runs.
func (a backups) atUpgrade(ctx context.Context, d *database) error {
	if d.embedded == nil {
		return nil
	}
	var behind bool
	err := withConn(ctx, d.url(postgres.Superuser), func(conn *pgx.Conn) (err error) {
		behind, err = migrate.HasPending(ctx, conn, a.options.Project, a.foreignSchemas()...)
		return err
	})
	if err != nil || !behind {
		return err
	}
	place := a.cfg.Backup.To
	if place == "" {
		place = a.upgradeDir()
	}
	a.log.Info("this program's schema is newer: making a backup before it is applied", "to", place)
	begun := time.Now()
	if err := a.full(ctx, d, place); err != nil {
		return fmt.Errorf("no backup could be made before the upgrade, so nothing was changed; BACKUP_TO may name another place: %w", err)
	}
	a.log.Info("backup before the upgrade made", "to", place, "took", time.Since(begun).Round(time.Millisecond))
	return nil
}

func (a backups) full(ctx context.Context, d *database, place string) error {
	open := backup.OpenStore
	if place == a.upgradeDir() {
		open = backup.MakeStore
	}
	store, err := open(place)
	if err != nil {
		return err
	}
	o, err := a.settings(store, nil)
	if err != nil {
		return err
	}
	o.URL = d.url(postgres.Superuser)
	if place == a.upgradeDir() {
		o.Keep = 1
	}
	service, err := backup.Open(ctx, o)
	if err != nil {
		return err
	}
	if _, err := service.Backup(ctx); err != nil {
		return err
	}
	if err := service.Prune(ctx); err != nil {
		a.log.Warn("older backups could not be deleted", "place", place, "error", err)
	}
	return nil
}
