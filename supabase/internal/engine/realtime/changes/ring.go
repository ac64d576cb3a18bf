package changes

import (
	"context"
	"time"
)

// ring has the last changes of all published tables, for channels that join again. Only the worker
// uses it.
type ring struct {
	items  []rowChange
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
	r.items, r.bytes = nil, 0
	r.floor, r.last, r.before, r.known = position, max(r.last, position), at, true
}

func (r *ring) add(items []rowChange) {
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

// shrink drops the oldest transactions until the rest has at most limit bytes.
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
	kept := make([]rowChange, 0, len(r.items)) // there is room for what comes before the next time
	r.items = append(kept, r.items[drop:]...)
}

// after returns the changes from since on. complete is false if some are no longer there.
func (r *ring) after(since Since) (items []rowChange, complete bool) {
	if since.Position == 0 && since.Time.IsZero() {
		return nil, true
	}
	for _, c := range r.items {
		if since.Position != 0 && c.position > since.Position ||
			since.Position == 0 && !c.committed.Truncate(time.Millisecond).Before(since.Time) {
			items = append(items, c)
		}
	}
	if since.Position != 0 {
		return items, r.known && since.Position >= r.floor
	}
	return items, r.known && since.Time.After(r.before)
}

// control is an order in the queue, between changes.
type control struct {
	join  *rejoin
	reset bool // the log before position was not read
}

// rejoin is a subscriber that wants changes of before.
type rejoin struct {
	sub    *subscriber
	groups []*bindingGroup
	since  Since
	done   chan rejoined // has room for one
}

type rejoined struct {
	position uint64
	reason   string // why changes may be missing, or ""
}

// subscribeSince adds a subscriber after everything in the queue, and delivers what it missed.
func (s *Stream) subscribeSince(ctx context.Context, sub *subscriber, groups []*bindingGroup,
	request Subscriber) (int64, error) {
	if err := s.waitForPublication(ctx); err != nil {
		return 0, err
	}
	if err := s.attach(ctx, sub); err != nil {
		return 0, err
	}
	join := &rejoin{sub: sub, groups: groups, since: *request.Since, done: make(chan rejoined, 1)}
	s.queue.order(rowChange{control: &control{join: join}})
	select {
	case result := <-join.done:
		request.Joined(result.position, result.reason)
		return sub.id, nil
	case <-ctx.Done():
		s.abandon(join)
		return 0, ctx.Err()
	}
}

// abandon removes a subscriber whose caller no longer waits. If the worker has not added it, or is
// delivering what it missed, the worker removes it.
func (s *Stream) abandon(join *rejoin) {
	join.sub.closed.Store(true)
	select {
	case <-join.done:
		s.registry.remove(join.sub.id)
	default:
	}
}
