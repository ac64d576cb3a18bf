// Package messages keeps the table realtime.messages: the authorization of private channels by its policies, replay, and the
// table's partitions.
//
// Only realtime and app import it; of ours it imports db.
package messages

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"daawo/supabase/internal/db"
)

// Options configures a Store.
type Options struct {
	// Pool's role must own realtime.messages, or be a superuser, and be able to switch to each role that a token can have.
	Pool *db.Pool
	Log  *slog.Logger     // nil means slog.Default()
	Now  func() time.Time // nil means time.Now
}

// Store reads and checks realtime.messages. It is safe for concurrent use.
type Store struct{ o Options }

// New returns a Store.
func New(o Options) *Store { return &Store{o: o} }

// Identity is the user of a private channel.
type Identity struct {
	Role    string         // database role of the token
	Claims  map[string]any // verified claims of the token
	Headers http.Header    // of the request that opened the socket, seen as request.headers
}

// Grant says which extensions of a topic the policies allow.
type Grant struct{ Broadcast, Presence bool }

// Errors of the checks. Each wraps the database's error.
var (
	ErrPolicy           = errors.New("a policy on realtime.messages failed")          // upstream's rls_policy_error
	ErrCanceled         = errors.New("the check of the policies took too long")       // upstream's query_canceled
	ErrMissingPartition = errors.New("realtime.messages has no partition for today")  // upstream's missing_partition
	ErrReplayParameters = errors.New("the parameters of the replay are not valid")    // upstream's invalid_replay_params
	ErrTooManyChecks    = errors.New("no database connection was free for the check") // upstream's increase_connection_pool
	ErrUnavailable      = errors.New("the database is not available")                 // upstream's tenant_database_unavailable
)

// CanRead returns which extensions the user may receive on a private topic. Upstream checks it at the join. Presence is
// checked only if presence is true.
func (s *Store) CanRead(ctx context.Context, id Identity, topic string, presence bool) (Grant, error) {
	return Grant{}, ErrUnavailable
}

// CanWrite returns which extensions the user may send on a private topic. Upstream checks it at the first message.
func (s *Store) CanWrite(ctx context.Context, id Identity, topic string, presence bool) (Grant, error) {
	return Grant{}, ErrUnavailable
}

// Message is a stored broadcast. Either Payload or Binary is set.
type Message struct {
	ID      string
	Event   string
	Payload json.RawMessage
	Binary  []byte
}

// Replay returns the newest private broadcasts of a topic since a time, the oldest first. limit is clamped to 1–25, as
// upstream does. The caller has checked that the user may read the topic.
func (s *Store) Replay(ctx context.Context, topic string, since time.Time, limit int) ([]Message, error) {
	return nil, ErrUnavailable
}

// Maintain creates the partitions of the coming days and drops those whose messages are older than 72 hours. Call it at
// start and every few hours.
func (s *Store) Maintain(ctx context.Context) error { return ErrUnavailable }
