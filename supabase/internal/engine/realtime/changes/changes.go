// Package changes tells subscribers of Realtime which rows changed in Postgres. It reads the
// write-ahead log by logical replication, decodes pgoutput, and applies filters, row level security
// and column privileges per subscriber.
package changes

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"daawo/supabase/internal/database/pool"
)

// Binding is one postgres_changes entry of a channel's configuration.
type Binding struct {
	ID     int64    // chosen by the caller; Change.IDs has it
	Schema string   // "*" means every schema
	Table  string   // "*" means every table of the schema
	Event  string   // "*", "INSERT", "UPDATE" or "DELETE"
	Filter string   // as the client wrote it; "" means none
	Select []string // columns beside the primary key; nil means all that the role may read
	Since  *Since   // for the caller, which gives it to the Subscriber
}

// Subscriber is a channel that listens to changes.
type Subscriber struct {
	Role     string         // database role of the token
	Claims   map[string]any // verified claims of the token
	Bindings []Binding

	// Deliver gets the changes in the order of their commits. Deliver, Joined and Resumed are
	// called one at a time. They must neither block nor call the Stream.
	Deliver func(Change)

	// Since asks for the changes that were committed before; nil and the zero Since do not. Joined
	// is called before Subscribe returns, after these changes and before those that follow, with a
	// position as in Change. reason says why some may be missing, or is "".
	Since  *Since
	Joined func(position uint64, reason string)
	// Ready is called before each batch of these changes. It waits until the client has read most
	// of the earlier ones, or ctx ends. nil means that the client can get them all at once.
	Ready func(ctx context.Context)

	// Resumed is called when changes are read again after the connection to the database was lost,
	// and after changes of this subscriber were lost. They are not delivered, so the client has to
	// read the table again. reason says why, for the client. position is as in Change. nil means
	// that nothing is called.
	Resumed func(reason string, position uint64)
}

// Change is a row change for one subscriber. Subscribers that may see the same columns share Data;
// neither it nor IDs may be modified.
type Change struct {
	IDs  []int64 // the subscriber's bindings that match
	Type string  // INSERT, UPDATE or DELETE
	// Position is a position in the log; Since can name it. The subscriber has every change that
	// was committed up to it, or was told of its loss. So it is before the commit of this change if
	// others of the transaction follow, or if earlier changes wait in a lane.
	Position uint64
	Data     json.RawMessage // schema, table, commit_timestamp, type, columns, record, old_record, errors
}

// Broadcast is a new row of realtime.messages, for the channels of its topic. Either Payload or
// Binary is set.
type Broadcast struct {
	ID        string
	Topic     string // without the prefix "realtime:"
	Event     string
	Extension string
	Private   bool
	XID       uint32          // of the transaction, which new statements may not see yet: see AwaitVisible
	Payload   json.RawMessage // JSON
	Binary    []byte
}

// Options configures a Stream.
type Options struct {
	// Pool serves the checks. Its role must be able to switch to each role that a token can have.
	Pool *pool.Pool
	// ReplicationURL is the database as a role with the attribute REPLICATION. A pooler of
	// connections cannot serve it.
	ReplicationURL string
	Publication    string        // "" means supabase_realtime
	MaxRecordBytes int           // changes above this have only their short columns; 0 means 1 MiB
	MaxQueueBytes  int           // changes that wait for their checks; above this they are lost; 0 means 64 MiB
	IdleAfter      time.Duration // the connection is closed after this time without need; 0 means a minute
	// Installation tells the slots of servers apart that share a host and a database.
	Installation string
	// Replaces means that another process with the same slot serves until this one does, and then
	// calls StandDown.
	Replaces bool
	// Unauthorized sends a role that may not select a table an empty event with an error for each
	// insert and update, and an event for each delete, as upstream does. Otherwise such a role gets
	// nothing, so it does not learn when rows change.
	Unauthorized bool
	// Lenient delivers what upstream does: versions of rows that were hidden before a later change,
	// old rows that policies hid, and the keys of all deleted rows.
	Lenient    bool
	Registerer prometheus.Registerer // nil means no metrics
	Log        *slog.Logger          // nil means slog.Default()
	Now        func() time.Time      // nil means time.Now
}

// SubscribeError is a reason that another attempt with the same bindings does not remove. Its text
// is for the client.
type SubscribeError struct{ Message string }

// Error returns the text for the client.
func (e *SubscribeError) Error() string { return e.Message }

var (
	// errClosed is the error of a call after Run returned, or for an unknown subscriber.
	errClosed = errors.New("the stream of changes has ended")
	// errIdle is the error of Ready while nothing needs the stream, so that it is not connected.
	errIdle = errors.New("the stream of changes is idle")
	// errWALLevel means that the server does not write what logical replication needs.
	errWALLevel = errors.New("the stream of changes needs wal_level = logical: " +
		"run `alter system set wal_level = logical` as a superuser and restart Postgres")
	// errOpenTransactions means that the server creates the slot once the transactions that were
	// open have ended.
	errOpenTransactions = errors.New("the stream of changes waits for open transactions of the database to end")
	// errNotReplicator means that the role of Options.ReplicationURL may not replicate.
	errNotReplicator = errors.New("the stream of changes needs a role that may replicate: " +
		"run `alter role … replication` as a superuser")
)

// ClientText returns an error of Subscribe or Ready for the client, "" if it is not for clients.
func ClientText(err error) string {
	switch {
	case errors.Is(err, errWALLevel): // in the words of Postgres
		return `logical decoding requires "wal_level" >= "logical"`
	case errors.Is(err, errNotReplicator):
		return "permission denied to use replication slots"
	case errors.Is(err, errOpenTransactions):
		return "waiting for open transactions of the database to end"
	}
	return ""
}

// The kinds of changes.
const (
	kindInsert = "INSERT"
	kindUpdate = "UPDATE"
	kindDelete = "DELETE"
)
