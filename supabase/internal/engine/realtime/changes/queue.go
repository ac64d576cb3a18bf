package changes

import (
	"context"
	"sync"
	"time"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// rowChange is a change of a row, before any check.
type rowChange struct {
	relation   *pgoutput.Relation
	kind       string
	old, new   pgoutput.Tuple
	oldKeyOnly bool
	rewritten  bool // the same transaction changed the row again
	xid        uint32
	committed  time.Time
	position   uint64 // of the end of the commit in the log
	last       bool   // of its transaction
	size       int    // bytes of the values
	past       bool   // only the ring gets it
	control    *control
}

// queue has the changes that wait for their checks. It accepts changes up to a number of bytes, so
// that a slow check costs neither memory without end nor disk space of the server.
type queue struct {
	mu     sync.Mutex
	items  []rowChange
	bytes  int
	limit  int
	filled chan struct{} // has one element if items may be there
}

func newQueue(limit int) *queue { return &queue{limit: limit, filled: make(chan struct{}, 1)} }

// overhead is the approximate memory of a change beside its values, in bytes.
const overhead = 200

func (c *rowChange) memory() int { return c.size + overhead + 24*(len(c.old)+len(c.new)) }

// push adds the changes of a transaction. It returns false, and adds nothing, if the queue would
// become too large.
func (q *queue) push(items []rowChange) bool {
	total := 0
	for i := range items {
		total += items[i].memory()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+total > q.limit {
		return false
	}
	q.items = append(q.items, items...)
	q.bytes += total
	q.wake()
	return true
}

// order adds an order for the worker.
func (q *queue) order(c rowChange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, c)
	q.bytes += c.memory()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// pop waits for changes and returns at most n of them.
func (q *queue) pop(ctx context.Context, n int) ([]rowChange, error) {
	for {
		if taken := q.take(n); taken != nil {
			return taken, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-q.filled:
		}
	}
}

// take returns the next changes, or nil.
func (q *queue) take(n int) []rowChange {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return nil
	}
	n = min(n, len(q.items))
	taken := q.items[:n:n]
	q.items = q.items[n:]
	for i := range taken {
		q.bytes -= taken[i].memory()
	}
	if len(q.items) == 0 {
		q.items = nil // taken keeps the array
	} else {
		q.wake()
	}
	return taken
}
