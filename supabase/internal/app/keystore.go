package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/keys"
)

// keysChannel is notified when the keys in the database change.
const keysChannel = "daawo_keys"

// sharedKeys finds the keys that all servers of one database have in common. ok is false for a database without the
// platform schema of this program (Supabase's own image): there the keys are the environment's or the data folder's.
func sharedKeys(ctx context.Context, c *config.Config, data string, mayStore bool) (set keys.Set, ok bool, err error) {
	url, err := databaseURL(c)
	if err != nil {
		return set, false, err
	}
	err = withConn(ctx, url.String(), func(conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, `select to_regclass('daawo.keys') is not null`).Scan(&ok); err != nil || !ok {
			return err
		}
		if err := readKeys(ctx, conn, &set); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		// None are stored yet: those of the data folder become everybody's, as when one server gets a second.
		var store bool
		if set, err = keys.Load(KeysFile(data)); err == nil {
			store = true
		} else if errors.Is(err, fs.ErrNotExist) {
			set, store, err = freshKeys(c, mayStore)
		}
		if err != nil || !store || !mayStore {
			return err
		}
		// Of two servers that start at the same time, one's are stored and both read them.
		if _, err := conn.Exec(ctx, `insert into daawo.keys (secrets) values ($1) on conflict do nothing`, &set); err != nil {
			return err
		}
		return readKeys(ctx, conn, &set)
	})
	if err != nil {
		return set, false, fmt.Errorf("keys: %w", err)
	}
	return set, ok, nil
}

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

// Rotation makes the keys that follow a set.
type Rotation = func(set keys.Set, now time.Time) (keys.Set, error)

// RotateKeys replaces the keys of an installation where they are kept. everywhere says that this is the database, from
// where every running server takes them at once. rotate is keys.Set.Rotate or keys.Set.Replace.
func RotateKeys(ctx context.Context, c *config.Config, data string, rotate Rotation) (everywhere bool, err error) {
	if c.Keys != (config.APIKeys{}) {
		return false, errors.New("the keys come from the environment; rotate them where they are set, with --env-file for a compose form")
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

// rotateShared rotates under a lock, so that nobody's rotation undoes another's. first is the set of a database that has
// none stored yet.
func rotateShared(ctx context.Context, c *config.Config, first keys.Set, rotate Rotation) error {
	url, err := databaseURL(c)
	if err != nil {
		return err
	}
	return withConn(ctx, url.String(), func(conn *pgx.Conn) error {
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
			_, err = tx.Exec(ctx, `select pg_notify($1, '')`, keysChannel)
			return err
		})
	})
}

// watchKeys takes rotated keys from the database into use while the stack serves.
func (s *services) watchKeys() {
	if s.cfg.DatabaseURL == "" || s.cfg.Keys != (config.APIKeys{}) {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			err := s.listenForKeys(ctx)
			if ctx.Err() != nil {
				return
			}
			s.log.Warn("listening for new keys was interrupted", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}()
	s.onClose("keys", func(context.Context) error { cancel(); <-done; return nil })
}

func (s *services) listenForKeys(ctx context.Context) error {
	url, err := databaseURL(s.cfg)
	if err != nil {
		return err
	}
	conn, err := db.Connect(ctx, url.String())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "listen "+keysChannel); err != nil {
		return err
	}
	for {
		// Also at first: a notification may have been missed.
		if err := s.takeKeys(ctx); err != nil {
			return err
		}
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}

// allKnow is how long servers that know new keys wait for the others to know them, too.
const allKnow = 2 * time.Second

func (s *services) takeKeys(ctx context.Context) error {
	set, err := LoadKeys(ctx, s.cfg, s.data)
	if err != nil || reflect.DeepEqual(set, s.keys.current()) {
		return err
	}
	s.keys.learn(set)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(allKnow):
	}
	s.keys.use()
	s.log.Info("new keys are in use")
	return nil
}
