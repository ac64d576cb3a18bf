package messages

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// Identity is the user of a private channel.
type Identity struct {
	Role    string         // database role of the token
	Claims  map[string]any // verified claims of the token
	Headers http.Header    // of the request that opened the socket, seen as request.headers
}

// Grant says which extensions of a topic the policies allow.
type Grant struct{ Broadcast, Presence bool }

// extensions returns the extensions that a check covers.
func extensions(presence bool) []string {
	if presence {
		return []string{"broadcast", "presence"}
	}
	return []string{"broadcast"}
}

func (g *Grant) set(extension string, allowed bool) {
	if extension == "broadcast" {
		g.Broadcast = allowed
	} else {
		g.Presence = allowed
	}
}

// errUndo rolls back a transaction of which nothing is to be kept.
var errUndo = errors.New("undo")

// checkTimeout is how long, in milliseconds, a policy may take.
const checkTimeout = "5000"

// settings returns a statement that sets what policies read: the role, the topic, the claims and
// the headers.
func settings(id Identity, topic string) (string, []any, error) {
	claims, err := json.Marshal(id.Claims)
	if err != nil {
		return "", nil, err
	}
	names := map[string]string{}
	for name, values := range id.Headers {
		names[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	headers, err := json.Marshal(names)
	if err != nil {
		return "", nil, err
	}
	sub, _ := id.Claims["sub"].(string)
	// The role comes last, because only the login role may change some settings.
	return `select set_config('realtime.topic', $1, true), set_config('request.jwt.claims', $2, true),
			set_config('request.jwt.claim.sub', $3, true), set_config('request.jwt.claim.role', $4, true),
			set_config('request.headers', $5, true), set_config('statement_timeout', $6, true),
			set_config('role', $4, true)`,
		[]any{topic, string(claims), sub, id.Role, string(headers), checkTimeout}, nil
}

// CanRead returns which extensions the user may receive on a private topic. Upstream checks it at
// the join. Presence is checked only if presence is true. It inserts a row per extension, reads
// them as the user and undoes both.
func (s *Store) CanRead(ctx context.Context, id Identity, topic string, presence bool) (Grant, error) {
	return s.check(ctx, func() (grant Grant, err error) {
		set, args, err := settings(id, topic)
		if err != nil {
			return grant, err
		}
		checked := extensions(presence)
		ids := make([]string, len(checked))
		for i := range ids {
			ids[i] = uuid.NewString()
		}
		err = s.o.Pool.Tx(ctx, pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
			batch := &pgx.Batch{}
			batch.Queue(`
				insert into realtime.messages (id, topic, extension, inserted_at, updated_at)
				select id, $3, extension, $4, $4 from unnest($1::uuid[], $2::text[]) as probe (id, extension)`,
				ids, checked, topic, s.o.Now().UTC())
			batch.Queue(set, args...)
			batch.Queue(`select extension from realtime.messages where id = any ($1::uuid[])`,
				ids).Query(func(rows pgx.Rows) error {
				visible, err := pgx.CollectRows(rows, pgx.RowTo[string])
				for _, extension := range visible {
					grant.set(extension, true)
				}
				return err
			})
			if err := tx.SendBatch(ctx, batch).Close(); err != nil {
				return err
			}
			return errUndo
		})
		return grant, err
	})
}

// CanWrite returns which extensions the user may send on a private topic. Upstream checks it at the
// first message. Presence is checked only if presence is true. It inserts a row per extension as
// the user and undoes that.
func (s *Store) CanWrite(ctx context.Context, id Identity, topic string, presence bool) (Grant, error) {
	return s.check(ctx, func() (grant Grant, err error) {
		set, args, err := settings(id, topic)
		if err != nil {
			return grant, err
		}
		err = s.o.Pool.Tx(ctx, pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, set, args...); err != nil {
				return err
			}
			for _, extension := range extensions(presence) {
				// A savepoint, because a refused row ends the transaction.
				err := pgx.BeginFunc(ctx, tx, func(probe pgx.Tx) error {
					_, err := probe.Exec(ctx,
						`insert into realtime.messages (id, topic, extension, inserted_at, updated_at)
						values ($1, $2, $3, $4, $4)`, uuid.NewString(), topic, extension, s.o.Now().UTC())
					return err
				})
				if err != nil && !pool.IsCode(err, "42501") {
					return err
				}
				grant.set(extension, err == nil)
			}
			return errUndo
		})
		return grant, err
	})
}

// check runs a check. If the partition of today is missing, it creates it and runs the check again.
func (s *Store) check(ctx context.Context, run func() (Grant, error)) (Grant, error) {
	for attempt := 0; ; attempt++ {
		grant, err := run()
		if errors.Is(err, errUndo) {
			return grant, nil
		}
		err = classify(ctx, err)
		if attempt > 0 || !errors.Is(err, ErrMissingPartition) {
			return Grant{}, err
		}
		s.healing.Lock()
		failure := s.Maintain(ctx)
		s.healing.Unlock()
		if failure != nil {
			return Grant{}, errors.Join(err, failure)
		}
	}
}
