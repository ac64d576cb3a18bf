package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
)

// channel is the Postgres channel that is notified when the keys in the database change.
const channel = "daawo_keys"

// databaseKeys returns the keys that all servers of the database of DATABASE_URL share. ok is false
// if the database does not have the platform schema of this program (Supabase's image): then the
// keys are in the environment or the data folder.
func databaseKeys(ctx context.Context, c *config.Config, data string, mayStore bool) (set keys.Set, ok bool,
	err error) {
	url, err := config.PrimaryURL(c)
	if err != nil {
		return set, false, err
	}
	err = pool.WithConn(ctx, url.String(), func(conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, `select to_regclass('daawo.keys') is not null`).Scan(&ok); err != nil || !ok {
			return err
		}
		if err := readKeys(ctx, conn, &set); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		// None are stored yet. The keys of the data folder, if any, become the keys of all servers.
		var store bool
		if set, err = keys.Load(File(data)); err == nil {
			store = true
		} else if errors.Is(err, fs.ErrNotExist) {
			set, store, err = newKeys(c, mayStore)
		}
		if err != nil || !store || !mayStore {
			return err
		}
		// If two servers start at the same time, the keys of one are stored and both read them.
		if _, err := conn.Exec(ctx, `insert into daawo.keys (secrets) values ($1) on conflict do nothing`,
			&set); err != nil {
			return err
		}
		return readKeys(ctx, conn, &set)
	})
	if err != nil {
		return set, false, fmt.Errorf("keys: %w", err)
	}
	return set, ok, nil
}

// readKeys reads the keys in the database. It returns pgx.ErrNoRows if there are none.
func readKeys(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, set *keys.Set) error {
	var text []byte
	if err := q.QueryRow(ctx, `select secrets from daawo.keys`).Scan(&text); err != nil {
		return err
	}
	*set = keys.Set{}
	return json.Unmarshal(text, set)
}

// Rotation returns the keys that replace a set.
type Rotation = func(set keys.Set, now time.Time) (keys.Set, error)

// Rotate replaces the keys of an installation where they are stored. everywhere reports whether
// that is the database: then every running server uses the new keys at once. rotate is
// keys.Set.Rotate or keys.Set.Replace.
func Rotate(ctx context.Context, c *config.Config, data string, rotate Rotation) (everywhere bool, err error) {
	if c.Keys != (config.APIKeys{}) {
		return false, errors.New("the environment sets the keys; rotate them where it is defined, for Docker compose with --env-file")
	}
	set, shared, err := findKeys(ctx, c, data, true)
	if err != nil {
		return false, err
	}
	if shared {
		return true, rotateShared(ctx, c, set, rotate)
	}
	if set, err = rotate(set, time.Now()); err != nil {
		return false, err
	}
	return false, saveKeys(data, set)
}

// rotateShared rotates the keys in the database under a lock, so that concurrent rotations run one
// after the other. first is used if the database has no keys yet.
func rotateShared(ctx context.Context, c *config.Config, first keys.Set, rotate Rotation) error {
	url, err := config.PrimaryURL(c)
	if err != nil {
		return err
	}
	return pool.WithConn(ctx, url.String(), func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `lock table daawo.keys in share row exclusive mode`); err != nil {
				return err
			}
			set := first
			if err := readKeys(ctx, tx, &set); err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			next, err := rotate(set, time.Now())
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `
				insert into daawo.keys (secrets) values ($1)
				on conflict (only_one) do update set secrets = excluded.secrets, changed_at = now()`, &next)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `select pg_notify($1, '')`, channel)
			return err
		})
	})
}

// Watch applies key rotations in the database while the stack serves.
func (k *Keyring) Watch(in installation.Installation) {
	if in.Config.DatabaseURL == "" || in.Config.Keys != (config.APIKeys{}) {
		return
	}
	in.Background("keys", func(ctx context.Context) {
		for ctx.Err() == nil {
			err := k.listen(ctx, in)
			if ctx.Err() != nil {
				return
			}
			in.Log.Warn("listening for key rotations failed; retrying", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
}

// listen applies key rotations until ctx ends or the connection fails.
func (k *Keyring) listen(ctx context.Context, in installation.Installation) error {
	url, err := config.PrimaryURL(in.Config)
	if err != nil {
		return err
	}
	conn, err := pool.Connect(ctx, url.String())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return err
	}
	for {
		// Also before the first notification: one may have been missed.
		if err := k.reload(ctx, in); err != nil {
			return err
		}
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}

// propagationDelay is how long a server waits before it signs with new keys, so that all other
// servers accept them by then.
const propagationDelay = 2 * time.Second

// reload reads the keys and, if they changed, uses them after propagationDelay.
func (k *Keyring) reload(ctx context.Context, in installation.Installation) error {
	set, err := Load(ctx, in.Config, in.Data)
	if err != nil || reflect.DeepEqual(set, k.Current()) {
		return err
	}
	k.Learn(set)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(propagationDelay):
	}
	k.Use()
	in.Log.Info("keys rotated")
	return nil
}
