package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/server"
)

// upgradeDir returns the store of backups before upgrades if BACKUP_TO is not set. It keeps the
// newest backup only.
func (a backups) upgradeDir() string { return filepath.Join(a.Data, "before-upgrade") }

// beforeUpgrade makes a full backup of an installation that has pending migrations, so that the
// operator can go back to the older program and its data. A new installation needs none, and a
// project in development has new migrations all day: without BACKUP_TO only an installation on a
// public address gets one. conn is a superuser's.
func (a backups) beforeUpgrade(ctx context.Context, d *database.Database, conn *pgx.Conn) error {
	if d.Created() || a.Config.Loopback() && a.Config.Backup.To == "" {
		return nil
	}
	pending, err := migrate.HasPending(ctx, conn, a.Project, database.ForeignSchemas(a.Config)...)
	if err != nil || !pending {
		return err
	}
	location := a.Config.Backup.To
	if location == "" {
		location = a.upgradeDir()
	}
	a.Log.Info("making a backup before the upgrade", "store", location)
	started := time.Now()
	if err := a.full(ctx, d, location); err != nil {
		return fmt.Errorf("the backup before the upgrade failed, so no migration was applied; BACKUP_TO can name another store: %w", err)
	}
	a.Log.Info("backup before the upgrade made", "store", location, "duration", time.Since(started))
	return nil
}

// full makes one full backup of a running database.
func (a backups) full(ctx context.Context, d *database.Database, location string) error {
	open := physical.OpenStore
	if location == a.upgradeDir() {
		open = physical.MakeStore
	}
	store, err := open(location)
	if err != nil {
		return err
	}
	o, err := a.settings(store, nil)
	if err != nil {
		return err
	}
	o.URL = d.URL(server.Superuser)
	if location == a.upgradeDir() {
		o.Keep, o.Own = 1, true
	}
	service, err := physical.Open(ctx, o)
	if err != nil {
		return err
	}
	if _, err := service.Backup(ctx); err != nil {
		return err
	}
	if err := service.Prune(ctx); err != nil {
		a.Log.Warn("deleting old backups failed", "store", location, "error", err)
	}
	return nil
}
