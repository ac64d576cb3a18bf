// Package messages keeps the table realtime.messages: the authorization of private channels by its
// policies, replay, and the table's partitions.
package messages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// Options configures a Store.
type Options struct {
	// Pool's role must own realtime.messages, or be a superuser, and be able to switch to each role
	// that a token can have.
	Pool *pool.Pool
	Log  *slog.Logger     // nil means slog.Default()
	Now  func() time.Time // nil means time.Now
}

// Store reads and checks realtime.messages. It is safe for concurrent use.
type Store struct {
	o       Options
	healing sync.Mutex // held while a missing partition is created
}

// New returns a Store.
func New(o Options) *Store {
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{o: o}
}

// Errors of the checks. Each wraps the database's error.
var (
	ErrPolicy           = errors.New("a policy on realtime.messages failed")         // upstream's rls_policy_error
	ErrCanceled         = errors.New("the check of the policies took too long")      // upstream's query_canceled
	ErrMissingPartition = errors.New("realtime.messages has no partition for today") // upstream's missing_partition
	// upstream's invalid_replay_params
	ErrReplayParameters = errors.New("the parameters of the replay are not valid")
	// upstream's increase_connection_pool
	ErrTooManyChecks = errors.New("no database connection was free for the check")
	// upstream's tenant_database_unavailable
	ErrUnavailable = errors.New("the database is not available")
)

// classify wraps an error of the database in the error that the caller reports.
func classify(ctx context.Context, err error) error {
	_, fromServer := pool.AsPgError(err)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case pool.IsCode(err, "57014"):
		return fmt.Errorf("%w: %w", ErrCanceled, err)
	case pool.IsCode(err, "23514"):
		return fmt.Errorf("%w: %w", ErrMissingPartition, err)
	case errors.Is(err, pool.ErrUnavailable) && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrTooManyChecks, err)
	case pool.IsUnavailable(err):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case fromServer:
		return fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return err
}

// Message is a stored broadcast. Either Payload or Binary is set.
type Message struct {
	ID      string
	Event   string
	Payload json.RawMessage
	Binary  []byte
}

// maxReplay is the maximum number of replayed messages.
const maxReplay = 25

// Replay returns the newest private broadcasts of a topic since a time, the oldest first. limit is
// clamped to 1–25, as upstream does. The caller has checked that the user may read the topic.
func (s *Store) Replay(ctx context.Context, topic string, since time.Time, limit int) ([]Message, error) {
	if year := since.UTC().Year(); year < 0 || year > 9999 {
		return nil, ErrReplayParameters
	}
	var found []Message
	// The upper bound spares the partitions of the coming days. A minute allows for clocks that
	// differ.
	err := s.o.Pool.Query(ctx, pool.Caller{}, `
		select id::text, coalesce(event, ''), payload, binary_payload
		from realtime.messages
		where topic = $1 and extension = 'broadcast' and private is true and inserted_at >= $2 and inserted_at < $3
		order by inserted_at desc
		limit $4`,
		[]any{topic, since.UTC(), s.o.Now().UTC().Add(time.Minute), min(max(limit, 1), maxReplay)},
		func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
			return err
		})
	slices.Reverse(found)
	return found, classify(ctx, err)
}
