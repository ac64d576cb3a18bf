package app

import (
	"context"
	"errors"
	"time"

	"daawo/supabase/internal/database/backup/physical"
)

// errNoBackups is the error of operations on backups if there is no place for them.
var errNoBackups = errors.New("backups are not configured: set BACKUP_TO")

// backupSummary is one backup as operations list it.
type backupSummary struct {
	Name string
	Time time.Time // when it was complete
	Size int64     // bytes of the database
}

// operations returns what functions can run with Env.Operate: what the commands of the operator do.
func (s *services) operations() map[string]func(context.Context) (any, error) {
	return map[string]func(context.Context) (any, error){
		"doctor":        func(ctx context.Context) (any, error) { return s.Examine(ctx), nil },
		"backups":       func(ctx context.Context) (any, error) { return s.listBackups(ctx) },
		"backup":        func(ctx context.Context) (any, error) { return s.backupNow(ctx) },
		"backup-verify": func(ctx context.Context) (any, error) { return s.verifyBackups(ctx) },
		"mail-test":     func(ctx context.Context) (any, error) { return testNotice(ctx, s.outbox) },
		"functions":     func(context.Context) (any, error) { return s.control.info() },
		"version":       func(context.Context) (any, error) { return s.options.Version, nil },
		"function-logs": func(context.Context) (any, error) { return s.journal.Lines(), nil },
	}
}

// listBackups returns the backups of BACKUP_TO, the newest first. Without BACKUP_TO there are none.
func (s *services) listBackups(ctx context.Context) ([]backupSummary, error) {
	list := []backupSummary{}
	if s.cfg.Backup.To == "" {
		return list, nil
	}
	store, err := physical.OpenStore(s.cfg.Backup.To)
	if err != nil {
		return nil, err
	}
	all, damage := physical.List(ctx, store)
	for _, m := range all {
		list = append([]backupSummary{{m.ID, m.End, m.Base.Size}}, list...)
	}
	return list, damage
}

// backupNow makes a full backup in BACKUP_TO.
func (s *services) backupNow(ctx context.Context) (backupSummary, error) {
	if s.cfg.Backup.To == "" {
		return backupSummary{}, errNoBackups
	}
	m, err := s.Backup(ctx, s.cfg.Backup.To, func(string, int64, int64) {})
	return backupSummary{m.ID, m.End, m.Base.Size}, err
}

// verifyBackups compares all files of BACKUP_TO with their checksums.
func (s *services) verifyBackups(ctx context.Context) (physical.Verified, error) {
	if s.cfg.Backup.To == "" {
		return physical.Verified{}, errNoBackups
	}
	store, err := physical.OpenStore(s.cfg.Backup.To)
	if err != nil {
		return physical.Verified{}, err
	}
	return physical.Verify(ctx, store, func(string, int64, int64) {})
}
