package changes

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/pool"
)

// slot is the replication slot of a stream. Only Run uses it.
type slot struct {
	name      string // "" before the first connection, and after the slot was lost
	temporary bool   // ends with its connection
	read      bool   // this process has read it
	position  uint64 // everything before this position of the log is read
	confirmed uint64 // the server need not keep the log before this position
	keep      uint64 // bytes of the log before position that the server keeps for the next process
	// commits up to this position were read by an earlier process, so only the ring gets them
	quiet uint64
}

// keepLog is how many bytes of the log the slot keeps after they were read. A process that goes on
// from the slot of another one, which was replaced or killed, fills its ring with them.
const keepLog = 16 << 20

// slotKeeper finds, creates and drops slots.
type slotKeeper struct{ *Stream }

// slotPrefix begins the names of all slots of this program.
const slotPrefix = "daawo_realtime_"

// leftoverAfter is how long a slot of another process may be inactive before it is dropped.
const leftoverAfter = time.Minute

// prepareSlot finds or creates the slot. continued reports whether reading goes on where it ended,
// so that no change is missed.
func (c *connection) prepareSlot(ctx context.Context) (continued bool, err error) {
	s := slotKeeper{c.s}
	// Another process may have begun to read a slot that was free when it was found or made.
	if s.held.name != "" && !s.held.temporary && s.held.read {
		found, err := s.findSlot(ctx, s.held.name)
		if err != nil {
			return false, err
		}
		if found.usable {
			return true, nil
		}
	}
	s.held = slot{temporary: true}
	var limit int64 // without one, the slot of a server that is gone would fill the disk
	if err := s.queryValue(ctx, `
		select setting::int8 * 1048576 from pg_settings where name = 'max_slot_wal_keep_size'`, nil, &limit); err != nil {
		return false, err
	}
	name := s.slotName()
	if limit >= 0 {
		s.held.temporary, s.held.keep = false, uint64(min(keepLog, limit/4))
		found, err := s.findOwnSlot(ctx, name)
		if err != nil {
			return false, err
		}
		if found.usable && !found.active { // this server was killed or replaced
			s.held.name, s.held.position, s.held.confirmed = name, found.position, found.position
			return false, s.queryPosition(ctx, `pg_current_wal_flush_lsn()`, &s.held.quiet)
		}
		if found.exists && !found.active {
			s.dropSlot(ctx, name)
		}
		if !found.active {
			return false, c.createSlot(ctx, name)
		}
	}
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return false, err
	}
	return false, c.createSlot(ctx, name+"_"+hex.EncodeToString(random[:]))
}

// findOwnSlot finds the slot of this server. It waits a moment while the slot is in use, because
// the server of the database may not have noticed the end of the process before, and longer if that
// process still serves and is being replaced.
func (s slotKeeper) findOwnSlot(ctx context.Context, name string) (found foundSlot, err error) {
	attempts := 10
	if s.o.Replaces {
		attempts = 300
	}
	for range attempts {
		found, err = s.findSlot(ctx, name)
		if err != nil || !found.active {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return found, nil
}

// slotName returns the name of the slot of this server in this database. It does not depend on the
// port and the password, which can be others after a restart. Options.Installation is for two
// servers on one host.
func (s slotKeeper) slotName() string {
	host, _ := os.Hostname() // "" is a name, too
	database := ""
	if c, err := pgconn.ParseConfig(s.o.ReplicationURL); err == nil { // otherwise connecting fails
		database = c.Database
	}
	sum := sha256.Sum256([]byte(host + "\x00" + database + "\x00" + s.o.Installation))
	return slotPrefix + hex.EncodeToString(sum[:6])
}

func (c *connection) createSlot(ctx context.Context, name string) error {
	kind := ""
	if c.s.held.temporary {
		kind = "TEMPORARY "
	}
	waiting := time.AfterFunc(slowSlot, c.sayWaiting)
	defer waiting.Stop()
	var created, point, snapshot, plugin *string
	err := c.conn.QueryRow(ctx, `CREATE_REPLICATION_SLOT `+name+` `+kind+`LOGICAL pgoutput NOEXPORT_SNAPSHOT`,
		pgx.QueryExecModeSimpleProtocol).Scan(&created, &point, &snapshot, &plugin)
	if err != nil {
		return err
	}
	c.s.held.name = name
	if point != nil {
		c.s.held.position, _ = parsePosition(*point)
		c.s.held.confirmed = c.s.held.position
	}
	return nil
}

// foundSlot is what the server says about a slot.
type foundSlot struct {
	exists, active bool
	usable         bool // the server still has the log that it needs
	position       uint64
}

func (s slotKeeper) findSlot(ctx context.Context, name string) (found foundSlot, err error) {
	err = s.o.Pool.Query(ctx, pool.Caller{}, `
		select active, coalesce(wal_status, '') <> 'lost' and not temporary, coalesce(confirmed_flush_lsn::text, '0/0')
		from pg_replication_slots where slot_name = $1 and database = current_database()`, []any{name},
		func(rows pgx.Rows) error {
			var position string
			_, err := pgx.ForEachRow(rows, []any{&found.active, &found.usable, &position}, func() (err error) {
				found.exists = true
				found.position, err = parsePosition(position)
				return err
			})
			return err
		})
	return found, err
}

func (s slotKeeper) queryPosition(ctx context.Context, expression string, to *uint64) error {
	var text string
	if err := s.queryValue(ctx, `select `+expression+`::text`, nil, &text); err != nil {
		return err
	}
	var err error
	*to, err = parsePosition(text)
	return err
}

// dropSlot drops a slot once its connection has ended.
func (s slotKeeper) dropSlot(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for wait := time.Millisecond; ; wait *= 2 {
		found, err := s.findSlot(ctx, name)
		if err == nil && !found.exists {
			return
		}
		if err == nil && !found.active {
			_, err = s.o.Pool.Exec(ctx, pool.Caller{}, `select pg_drop_replication_slot($1)`, name)
			if err == nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			s.o.Log.Warn("the replication slot was not dropped", "slot", name, "error", err)
			return
		case <-time.After(wait):
		}
	}
}

// endSlot drops the slot of the stream, unless the next process goes on from it.
func (s slotKeeper) endSlot(ctx context.Context) {
	if s.held.name != "" && !s.held.temporary && !s.replaced.Load() {
		s.dropSlot(ctx, s.held.name)
	}
	s.held = slot{}
}

// dropLeftovers drops slots of processes that were killed. since has when each was first seen
// without a connection.
func (s slotKeeper) dropLeftovers(ctx context.Context, since map[string]time.Time) {
	var names []string
	if err := s.queryValue(ctx, `
		select coalesce(array_agg(slot_name::text), '{}') from pg_replication_slots
		where starts_with(slot_name::text, $1) and not active and not temporary and database = current_database()`,
		[]any{slotPrefix}, &names); err != nil {
		return // the next time
	}
	s.mu.Lock()
	own, next := s.slot, ""
	if s.needed() {
		next = s.slotName()
	}
	s.mu.Unlock()
	now := time.Now()
	seen := map[string]time.Time{}
	for _, name := range names {
		first, known := since[name]
		switch {
		case !known:
			seen[name] = now
		case now.Sub(first) < leftoverAfter || name == own || name == next:
			seen[name] = first
		default:
			s.o.Log.Info("dropping the replication slot of a process that is gone", "slot", name)
			s.dropSlot(ctx, name)
		}
	}
	clear(since)
	for name, at := range seen {
		since[name] = at
	}
}

// parsePosition parses a position of the write-ahead log.
func parsePosition(text string) (uint64, error) {
	high, low, ok := strings.Cut(text, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	l, lowErr := strconv.ParseUint(low, 16, 32)
	if !ok || err != nil || lowErr != nil {
		return 0, fmt.Errorf("%q is not a position of the write-ahead log", text)
	}
	return h<<32 | l, nil
}

// FormatPosition returns a position of the write-ahead log as Postgres writes it.
func FormatPosition(position uint64) string {
	return fmt.Sprintf("%X/%X", position>>32, position&0xffffffff)
}
