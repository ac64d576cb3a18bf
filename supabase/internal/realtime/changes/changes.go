// Package changes tells subscribers of Realtime which rows changed in Postgres. It reads the write-ahead log by logical
// replication, decodes pgoutput, and applies filters, row level security and column privileges per subscriber.
//
// Only realtime and app import it; of ours it imports db.
package changes

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"daawo/supabase/internal/db"
)

// Binding is one postgres_changes entry of a channel's configuration.
type Binding struct {
	ID     int64    // chosen by the caller; Change.IDs has it
	Schema string   // "*" means every schema
	Table  string   // "*" means every table of the schema
	Event  string   // "*", "INSERT", "UPDATE" or "DELETE"
	Filter string   // as the client wrote it; "" means none
	Select []string // columns; empty means all that the role may read
}

// Subscriber is a channel that listens to changes.
type Subscriber struct {
	Role     string         // database role of the token
	Claims   map[string]any // verified claims of the token
	Bindings []Binding

	// Deliver gets the changes in the order of their commits, one call at a time. It must not block.
	Deliver func(Change)
}

// Change is a row change for one subscriber. Subscribers that may see the same columns share Data; it must not be changed.
type Change struct {
	IDs  []int64         // the subscriber's bindings that match, in their order
	Type string          // INSERT, UPDATE or DELETE
	Data json.RawMessage // schema, table, commit_timestamp, type, columns, record, old_record, errors
}

// Broadcast is a new row of realtime.messages, for the channels of its topic. Either Payload or Binary is set.
type Broadcast struct {
	ID        string
	Topic     string // without the prefix "realtime:"
	Event     string
	Extension string
	Private   bool
	Payload   json.RawMessage // JSON
	Binary    []byte
}

// Options configures a Stream.
type Options struct {
	// Pool serves the checks. Its role must be able to switch to each role that a token can have.
	Pool *db.Pool
	// ReplicationURL is the database as a role with the attribute REPLICATION.
	ReplicationURL string
	Publication    string           // "" means supabase_realtime
	MaxRecordBytes int              // records above this have only their short columns; 0 means 1 MiB
	Log            *slog.Logger     // nil means slog.Default()
	Now            func() time.Time // nil means time.Now
}

// SubscribeError is a reason that another attempt with the same bindings does not remove. Its text is for the client.
type SubscribeError struct{ Message string }

// Error returns the text for the client.
func (e *SubscribeError) Error() string { return e.Message }

// ErrClosed is the error of a call after Run returned.
var ErrClosed = errors.New("the stream of changes has ended")

// Stream reads the write-ahead log and delivers changes. It is safe for concurrent use.
type Stream struct {
	o Options
}

// Open returns a Stream. It does not connect: Run does.
func Open(o Options) (*Stream, error) { return &Stream{o: o}, nil }

// OnBroadcast sets the function that gets the rows of realtime.messages, in the order of their commits. Call it before Run.
// fn must not block.
func (s *Stream) OnBroadcast(fn func(Broadcast)) {}

// Run keeps the replication connection open until ctx ends. It reconnects after errors.
func (s *Stream) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Subscribe adds a subscriber and returns its id. It checks the bindings as upstream does and returns a *SubscribeError with
// upstream's text if one is wrong; any other error may end by itself. When it returns, the subscription is live: changes
// committed later are delivered.
func (s *Stream) Subscribe(ctx context.Context, sub Subscriber) (id int64, err error) {
	return 0, ErrClosed
}

// Unsubscribe removes a subscriber. Deliver is not called after it returns, unless Unsubscribe is called by Deliver.
func (s *Stream) Unsubscribe(id int64) {}

// SetClaims replaces the role and the claims of a subscriber. After an error the subscriber is removed, because its old
// claims are no longer valid.
func (s *Stream) SetClaims(ctx context.Context, id int64, role string, claims map[string]any) error {
	return ErrClosed
}

// Lag returns how many bytes of the write-ahead log are not read yet, and when that was measured.
func (s *Stream) Lag() (bytes int64, at time.Time) { return 0, time.Time{} }

// Ready returns nil if the replication connection streams, or why it does not.
func (s *Stream) Ready() error { return ErrClosed }
