package app

import (
	"context"
	"errors"
	"time"

	"daawo/supabase/internal/app/doctor"
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
		"doctor":        func(ctx context.Context) (any, error) { return doctor.Examine(ctx, *s.Options), nil },
		"backups":       func(ctx context.Context) (any, error) { return s.backups.list(ctx) },
		"backup":        func(ctx context.Context) (any, error) { return s.backups.now(ctx) },
		"backup-verify": func(ctx context.Context) (any, error) { return s.backups.verify(ctx) },
		"mail-test":     func(ctx context.Context) (any, error) { return testNotice(ctx, s.outbox) },
		"functions":     func(context.Context) (any, error) { return s.control.Info() },
		"version":       func(context.Context) (any, error) { return s.Version, nil },
		"function-logs": func(context.Context) (any, error) { return s.journal.Lines(), nil },
	}
}

// list returns the backups of BACKUP_TO, the newest first. Without BACKUP_TO there are none.
func (a backups) list(ctx context.Context) ([]backupSummary, error) {
	list := []backupSummary{}
	if a.Config.Backup.To == "" {
		return list, nil
	}
	store, err := physical.OpenStore(a.Config.Backup.To)
	if err != nil {
		return nil, err
	}
	all, damage := physical.List(ctx, store)
	for _, m := range all {
		list = append([]backupSummary{{m.ID, m.End, m.Base.Size}}, list...)
	}
	return list, damage
}

// now makes a full backup in BACKUP_TO.
func (a backups) now(ctx context.Context) (backupSummary, error) {
	if a.Config.Backup.To == "" {
		return backupSummary{}, errNoBackups
	}
	m, err := a.make(ctx, a.Config.Backup.To, func(string, int64, int64) {})
	return backupSummary{m.ID, m.End, m.Base.Size}, err
}

// verify compares all files of BACKUP_TO with their checksums.
func (a backups) verify(ctx context.Context) (physical.Verified, error) {
	if a.Config.Backup.To == "" {
		return physical.Verified{}, errNoBackups
	}
	store, err := physical.OpenStore(a.Config.Backup.To)
	if err != nil {
		return physical.Verified{}, err
	}
	return physical.Verify(ctx, store, func(string, int64, int64) {})
}
