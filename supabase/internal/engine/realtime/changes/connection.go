package changes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// messagesPublication has the broadcasts from the database. Upstream uses the same name.
const messagesPublication = "supabase_realtime_messages_publication"

// statusEvery is how often the server is told what it may forget. Its wal_sender_timeout is a
// minute by default.
const statusEvery = 5 * time.Second

// slowSlot is how long the server may take to create a slot before clients are told why.
const slowSlot = 2 * time.Second

// connection is a replication connection.
type connection struct {
	s            *Stream
	conn         *pgx.Conn
	slot         string
	publications []string
	relations    map[uint32]*relation

	continued bool   // no change is missing since the connection before
	received  uint64 // everything before this position of the log is read
	reported  time.Time

	begin      pgoutput.Begin
	items      []rowChange // of the current transaction
	bytes      int
	lost       bool                 // the current transaction is too large for the queue
	touched    []*pgoutput.Relation // that the current transaction changes
	broadcasts []Broadcast          // of the current transaction
}

// relation is a table of the stream.
type relation struct {
	*pgoutput.Relation
	messages bool // realtime.messages or one of its partitions
}

// connect opens a connection and starts the replication. Changes committed after it returns are
// read.
func (s *Stream) connect(ctx context.Context) (c *connection, err error) {
	conn, err := pool.ConnectReplication(ctx, s.o.ReplicationURL, "daawo-realtime-changes")
	if err != nil {
		return nil, fmt.Errorf("replication connection: %w", explain(err))
	}
	c = &connection{s: s, conn: conn, relations: map[uint32]*relation{}}
	if err := c.start(ctx); err != nil {
		c.close()
		return nil, fmt.Errorf("logical replication: %w", explain(err))
	}
	return c, nil
}

// explain adds to an error of the server what an operator can do.
func explain(err error) error {
	pg, ok := pool.AsPgError(err)
	switch {
	case ok && pg.Code == "55000" && strings.Contains(pg.Message, "wal_level"):
		return fmt.Errorf("%w (%w)", errWALLevel, err)
	case ok && pg.Code == "42501":
		return fmt.Errorf("%w (%w)", errNotReplicator, err)
	}
	return err
}

func (c *connection) close() {
	// Not Close, which waits for the server: closing the socket drops the slot too.
	_ = c.conn.PgConn().Conn().Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.conn.Close(ctx)
}

// start creates the slot and starts the stream.
func (c *connection) start(ctx context.Context) error {
	names, err := c.s.publications(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("the database has neither of the publications %s and %s", c.s.o.Publication,
			messagesPublication)
	}
	c.publications = names
	if c.continued, err = c.prepareSlot(ctx); err != nil {
		return err
	}
	c.slot, c.received = c.s.held.name, c.s.held.position
	if !c.continued {
		c.s.queue.order(rowChange{position: c.received, committed: c.s.o.Now(), control: &control{reset: true}})
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = identifier(name)
	}
	list := strings.ReplaceAll(strings.Join(quoted, ","), "'", "''")
	frontend := c.conn.PgConn().Frontend()
	start := fmt.Sprintf(`START_REPLICATION SLOT %s LOGICAL %s (proto_version '1', publication_names '%s')`,
		c.slot, FormatPosition(c.received), list)
	frontend.Send(&pgproto3.Query{String: start})
	if err := frontend.Flush(); err != nil {
		return err
	}
	for {
		message, err := c.conn.PgConn().ReceiveMessage(ctx)
		if err != nil {
			return err
		}
		switch message := message.(type) {
		case *pgproto3.CopyBothResponse:
			c.s.held.read = true
			return nil
		case *pgproto3.ErrorResponse:
			return pgconn.ErrorResponseToPgError(message)
		}
	}
}

// sayWaiting sets the state while the server creates the slot.
func (c *connection) sayWaiting() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.state != nil {
		c.s.state = errOpenTransactions
		c.s.notify()
	}
}

// publications returns which of the two publications exist. It creates the publication of the
// messages, or adds the table to it, if it can.
func (s *Stream) publications(ctx context.Context) (names []string, err error) {
	wanted := []string{s.o.Publication, messagesPublication}
	var complete bool // the publication of the messages has the table
	read := func() error {
		return s.o.Pool.Query(ctx, pool.Caller{}, `
			select array(select pubname::text from pg_publication where pubname = any ($1) order by 1),
				exists (select from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
					where p.pubname = $2 and r.prrelid = to_regclass('realtime.messages'))`,
			[]any{wanted, messagesPublication}, func(rows pgx.Rows) (err error) {
				_, err = pgx.ForEachRow(rows, []any{&names, &complete}, func() error { return nil })
				return err
			})
	}
	if err := read(); err != nil || complete {
		return names, err
	}
	statement := `create publication ` + messagesPublication + ` for table realtime.messages`
	if slices.Contains(names, messagesPublication) {
		statement = `alter publication ` + messagesPublication + ` add table realtime.messages`
	}
	if _, err := s.o.Pool.Exec(ctx, pool.Caller{}, statement); err != nil {
		if pool.IsUnavailable(err) {
			return nil, err
		}
		s.warnOnce(messagesPublication, "no broadcasts from the database: the publication lacks realtime.messages",
			"publication", messagesPublication, "error", err)
		return names, nil
	}
	return names, read()
}

// warnOnce logs a message once per subject while the stream runs, because it is noticed again and
// again.
func (s *Stream) warnOnce(subject any, message string, attributes ...any) {
	if _, logged := s.warned.LoadOrStore(subject, true); !logged {
		s.o.Log.Warn(message, attributes...)
	}
}

// read reads the stream until ctx ends or the connection fails. It calls live once what an earlier
// process had read is in the queue.
func (c *connection) read(ctx context.Context, live func()) error {
	socket := c.conn.PgConn().Conn()
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer stop()
	c.reported = time.Now()
	for {
		if live != nil && c.received >= c.s.held.quiet {
			live()
			live = nil
		}
		if err := socket.SetReadDeadline(c.reported.Add(statusEvery)); err != nil {
			return err
		}
		message, err := c.conn.PgConn().ReceiveMessage(context.Background())
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && pgconn.Timeout(err):
			if err := c.report(false); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		switch message := message.(type) {
		case *pgproto3.CopyData:
			if err := c.copyData(message.Data); err != nil {
				return err
			}
		case *pgproto3.ErrorResponse:
			return pgconn.ErrorResponseToPgError(message)
		case *pgproto3.CopyDone:
			return errors.New("the server ended the stream")
		}
		if time.Since(c.reported) > statusEvery {
			if err := c.report(false); err != nil {
				return err
			}
		}
	}
}

// copyData handles a message of the streaming replication protocol.
func (c *connection) copyData(data []byte) error {
	switch {
	case len(data) >= 25 && data[0] == 'w':
		return c.change(data[25:])
	case len(data) >= 18 && data[0] == 'k':
		c.advance(binary.BigEndian.Uint64(data[1:]))
		if data[17] != 0 {
			return c.report(true)
		}
		return nil
	}
	return fmt.Errorf("unexpected replication message of %d bytes", len(data))
}

// advance notes that everything before a position was read.
func (c *connection) advance(position uint64) {
	c.received = max(c.received, position)
	c.s.held.position = c.received
	c.s.read.Store(c.received)
}

// report tells the server up to where the log was read, and up to where it need not keep it. What
// is in the queue counts as read. all gives up what the slot keeps for the next process: a server
// that shuts down waits for it.
func (c *connection) report(all bool) error {
	held := &c.s.held
	if all {
		held.confirmed = c.received
	}
	held.confirmed = max(held.confirmed, c.received-min(c.received, held.keep))
	status := []byte{'r'}
	for _, position := range []uint64{c.received, held.confirmed, held.confirmed} { // written, flushed, applied
		status = binary.BigEndian.AppendUint64(status, position)
	}
	const epoch = 946_684_800 // 2000-01-01
	status = binary.BigEndian.AppendUint64(status, uint64(time.Now().UnixMicro()-epoch*1_000_000))
	status = append(status, 0)
	frontend := c.conn.PgConn().Frontend()
	frontend.Send(&pgproto3.CopyData{Data: status})
	c.reported = time.Now()
	return frontend.Flush()
}

// change handles a message of pgoutput.
func (c *connection) change(data []byte) error {
	if len(data) > 5 && (data[0] == 'I' || data[0] == 'U' || data[0] == 'D') && !c.wanted(data) {
		return nil // spares the decoding
	}
	message, err := pgoutput.Decode(data)
	if err != nil {
		return err
	}
	switch m := message.(type) {
	case pgoutput.Begin:
		c.begin, c.items, c.bytes, c.lost, c.touched, c.broadcasts = m, nil, 0, false, nil, nil
	case pgoutput.Relation:
		c.relations[m.ID] = &relation{&m, m.Schema == "realtime" &&
			(m.Table == "messages" || strings.HasPrefix(m.Table, "messages_"))}
	case pgoutput.Insert:
		if rel := c.relations[m.Relation]; rel.messages {
			c.broadcast(rel.Relation, m.New)
		}
		c.row(rowChange{kind: kindInsert, new: m.New}, m.Relation)
	case pgoutput.Update:
		c.row(rowChange{kind: kindUpdate, new: m.New, old: m.Old, oldKeyOnly: m.OldKeyOnly}, m.Relation)
	case pgoutput.Delete:
		c.row(rowChange{kind: kindDelete, old: m.Old, oldKeyOnly: m.OldKeyOnly}, m.Relation)
	case pgoutput.Commit:
		c.commit(m)
	}
	return nil
}

// wanted reports whether a change of a row is read: subscribers may want it now or when they join
// again. A change of an unknown table is an error of the protocol and counts as unwanted.
func (c *connection) wanted(data []byte) bool {
	rel, ok := c.relations[binary.BigEndian.Uint32(data[1:])]
	if ok {
		c.touch(rel)
	}
	return ok && (rel.messages || !c.lost)
}

// touch notes that the current transaction changes a table.
func (c *connection) touch(rel *relation) {
	if n := len(c.touched); n == 0 || c.touched[n-1] != rel.Relation && !slices.Contains(c.touched, rel.Relation) {
		c.touched = append(c.touched, rel.Relation)
	}
}

// row adds a change to the current transaction.
func (c *connection) row(item rowChange, id uint32) {
	rel := c.relations[id]
	if c.lost || rel.messages && !c.s.registry.wants(rel.Relation) {
		return
	}
	width := len(rel.Columns)
	if item.new != nil && len(item.new) != width || item.old != nil && len(item.old) != width {
		c.s.o.Log.Error("a row and its table have different numbers of columns", "schema", rel.Schema, "table",
			rel.Table)
		return
	}
	item.relation, item.xid, item.committed = rel.Relation, c.begin.XID, c.begin.CommitTime
	for _, tuple := range []pgoutput.Tuple{item.new, item.old} {
		for _, v := range tuple {
			item.size += len(v.Text)
		}
	}
	c.items = append(c.items, item)
	if c.bytes += item.memory(); c.bytes > c.s.o.MaxQueueBytes {
		c.items, c.lost = nil, true
	}
}

// commit passes on a transaction. Changes that no subscriber wants are for the ring alone, and are
// left out if there is no room.
func (c *connection) commit(m pgoutput.Commit) {
	c.advance(m.EndLSN)
	past := m.EndLSN <= c.s.held.quiet
	for _, b := range c.broadcasts {
		if !past {
			c.s.onBroadcast(b)
		}
	}
	markRewritten(c.items)
	for i := range c.items {
		c.items[i].position, c.items[i].past, c.items[i].last = m.EndLSN, past, i == len(c.items)-1
	}
	reason := ""
	switch {
	case c.lost:
		reason = reasonTooLarge
	case len(c.items) > 0 && !c.s.queue.push(c.items):
		reason = reasonQueue
	}
	if reason != "" {
		c.s.queue.order(rowChange{position: m.EndLSN, committed: m.CommitTime,
			control: &control{reset: true, lost: c.touched, reason: reason}})
	}
	c.items, c.broadcasts, c.touched = nil, nil, nil
}

// markRewritten finds the rows of a transaction that it has changed again.
func markRewritten(items []rowChange) {
	if !slices.ContainsFunc(items, func(c rowChange) bool { return c.kind != kindInsert }) {
		return
	}
	type version struct {
		relation uint32
		key      string
	}
	last := map[version]int{}
	for i := range items {
		c := &items[i]
		if c.kind != kindInsert {
			before := version{c.relation.ID, c.identityKey(c.kind == kindDelete || c.old != nil)}
			if at, ok := last[before]; ok {
				items[at].rewritten = true
			}
		}
		if c.kind != kindDelete {
			last[version{c.relation.ID, c.identityKey(false)}] = i
		}
	}
}

// identityKey returns the values of the replica identity in the old or the new row, as one text.
func (c *rowChange) identityKey(old bool) string {
	row := c.new
	if old {
		row = c.old
	}
	var key []byte
	for i, v := range row {
		if !c.relation.Columns[i].Key {
			continue
		}
		if v.Kind == pgoutput.Unchanged && c.old != nil {
			v = c.old[i]
		}
		key = append(appendString(append(key, byte(v.Kind), ' '), v.Text), ',')
	}
	return string(key)
}
