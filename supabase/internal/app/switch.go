package app

import (
	"context"
	"errors"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
)

// SwitchPostgres moves the database of a stopped installation to the Postgres of db.distribution,
// and returns the folder of the database before. progress gets one line per step.
func SwitchPostgres(ctx context.Context, a *App, progress func(step string)) (kept string, err error) {
	if a.Config.DatabaseURL != "" {
		return "", errors.New("DATABASE_URL names a server that this program does not run")
	}
	if err := datadir.Installed(a.Data); err != nil {
		return "", err
	}
	lock, err := datadir.Lock(a.Data)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return database.Switch(ctx, a.Installation, progress)
}
