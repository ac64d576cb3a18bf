package changes

import (
	"slices"
	"sync"
	"time"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// ring has the last changes of all published tables, for channels that join again. The worker adds
// them; their number grows by one with each. It is safe for concurrent use.
type ring struct {
	mu     sync.Mutex
	items  []rowChange // never changed, so that slices of it can be read without the lock
	first  uint64      // number of the first change
	bytes  int
	limit  int
	floor  uint64 // every change that was committed after this position is there
	last   uint64 // position of the last change
	known  bool   // there is a floor
	before time.Time
}

// Since is from where a subscriber wants changes that were committed before: after a position of
// the log, or from a time on. The zero Since is now.
type Since struct {
	Position uint64
	Time     time.Time // used if Position is 0
}

// ParseSince parses a position as FormatPosition writes it, or a commit_timestamp. "" is now.
func ParseSince(text string) (since Since, err error) {
	if text == "" {
		return since, nil
	}
	if since.Time, err = time.Parse(time.RFC3339Nano, text); err == nil {
		return since, nil
	}
	since.Position, err = parsePosition(text)
	return since, err
}

// reset forgets all changes: those after position follow.
func (r *ring) reset(position uint64, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first += uint64(len(r.items))
	r.items, r.bytes = nil, 0
	r.floor, r.last, r.before, r.known = position, max(r.last, position), at, true
}

func (r *ring) add(items []rowChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range items {
		if c.past && len(r.items) == 0 && r.before.After(c.committed) { // the first that another process has read
			r.before = c.committed.Truncate(time.Millisecond).Add(-1)
		}
		r.items = append(r.items, c)
		r.bytes += c.memory()
		r.last = max(r.last, c.position)
	}
	if r.bytes > r.limit {
		r.shrink(r.limit - r.limit/8) // more than needed, because each time copies the rest
	}
}

// shrink drops the oldest transactions until the rest has at most limit bytes. The caller holds the
// lock.
func (r *ring) shrink(limit int) {
	drop := 0
	for drop < len(r.items) && r.bytes > limit {
		c := &r.items[drop]
		r.bytes -= c.memory()
		r.floor = c.position
		if c.committed.After(r.before) {
			r.before = c.committed
		}
		drop++
	}
	for drop < len(r.items) && drop > 0 && r.items[drop].position == r.floor { // the rest of a transaction
		r.bytes -= r.items[drop].memory()
		drop++
	}
	r.first += uint64(drop)
	kept := make([]rowChange, 0, len(r.items)) // there is room for what comes before the next time
	r.items = append(kept, r.items[drop:]...)
}

// start returns the number of the first change from since on. complete is false if some are no
// longer there.
func (r *ring) start(since Since) (number uint64, complete bool) {
	r.mu.Lock()
	items, first := r.items, r.first
	complete = r.known && (since.Position >= r.floor && since.Position != 0 ||
		since.Position == 0 && since.Time.After(r.before))
	r.mu.Unlock()
	at := slices.IndexFunc(items, func(c rowChange) bool {
		return since.Position != 0 && c.position > since.Position ||
			since.Position == 0 && !c.committed.Truncate(time.Millisecond).Before(since.Time)
	})
	if at < 0 {
		at = len(items)
	}
	return first + uint64(at), complete
}

// ringEnd is where the ring ends at some time.
type ringEnd struct {
	position uint64 // of the last change
	number   uint64 // that the next change gets
}

func (r *ring) end() ringEnd {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ringEnd{r.last, r.first + uint64(len(r.items))}
}

// replayBytes is how many bytes of changes are replayed together; one change may have more.
const replayBytes = 1 << 20

// batch returns the changes from a number on that are replayed together, without those from to on.
// complete is false if some are no longer there.
func (r *ring) batch(from, to uint64) (items []rowChange, complete bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if from < r.first {
		return nil, false
	}
	items = r.items[from-r.first : to-r.first]
	n, bytes := 0, 0
	for n < min(len(items), batchSize) && (n == 0 || bytes+items[n].memory() <= replayBytes) {
		bytes += items[n].memory()
		n++
	}
	return items[:n:n], true
}

// control is an order in the queue, between transactions.
type control struct {
	join  *rejoin
	reset bool // the log before position was not read

	// tables with changes in a transaction that was left out, and why
	lost   []*pgoutput.Relation
	reason string
}
