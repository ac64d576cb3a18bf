package changes

import (
	"context"
	"slices"
)

// worker checks and delivers the changes of the queue.
type worker struct{ *Stream }

// process keeps changes in the ring, checks and delivers them, and follows the orders among them.
func (s worker) process(ctx context.Context, items []rowChange) {
	for begin := 0; begin < len(items); {
		end := begin
		for end < len(items) && items[end].control == nil {
			end++
		}
		if changes := items[begin:end]; len(changes) > 0 {
			s.ring.add(changes)
			s.check(ctx, liveChanges(changes))
			s.pass(ctx, &changes[len(changes)-1])
		}
		if end < len(items) {
			s.follow(ctx, &items[end])
			end++
		}
		begin = end
	}
}

// pass notes that every change up to c was checked. Changes for the ring alone are lost, and the
// subscribers are told later.
func (s worker) pass(ctx context.Context, c *rowChange) {
	switch {
	case ctx.Err() != nil || c.past:
	case c.last:
		s.passed.Store(c.position)
	default:
		s.passed.Store(c.position - 1)
	}
}

// liveChanges returns the changes that are not for the ring alone.
func liveChanges(items []rowChange) []rowChange {
	live := items[:0:0]
	for _, c := range items {
		if !c.past {
			live = append(live, c)
		}
	}
	return live
}

// follow carries out an order.
func (s worker) follow(ctx context.Context, c *rowChange) {
	if c.control.reset {
		s.ring.reset(c.position, c.committed)
		// now, because subscribers may have joined while the transaction was read
		if slices.ContainsFunc(c.control.lost, s.registry.wants) {
			s.recordLoss(c.control.reason)
			s.loseAll(c.control.reason)
		}
		return
	}
	join := c.control.join
	if join.sub.closed.Load() { // the caller waits no longer
		return
	}
	end := s.ring.end()
	join.sub.reached = end.position
	s.registry.add(join.sub, join.groups)
	if s.misses(join.sub) { // the connection was lost while the order waited
		join.sub.lose(end.position+1, reasonConnection)
	}
	join.done <- end
	if join.sub.closed.Load() { // the caller no longer waits
		s.registry.remove(join.sub.id)
	}
}

// check checks and delivers changes.
func (s worker) check(ctx context.Context, items []rowChange) {
	for len(items) > 0 && ctx.Err() == nil {
		n := min(len(items), batchSize)
		if err := s.handle(ctx, items[:n], nil); err != nil && ctx.Err() == nil {
			s.lost.Add(1)
			s.o.Log.Error("changes were lost: their check failed", "changes", n, "error", err)
			s.loseAll(reasonFailed)
		}
		items = items[n:]
	}
}

// run checks and delivers the changes of the queue until ctx ends.
func (s worker) run(ctx context.Context) {
	for {
		items, err := s.queue.pop(ctx, batchSize)
		if err != nil {
			return
		}
		s.process(ctx, items)
	}
}

// handle checks and delivers changes, to all subscribers or only to some.
//
// only has the index of the first change for each subscriber.
func (s worker) handle(ctx context.Context, items []rowChange, only map[*subscriber]int) error {
	var recheck map[*subscriber]int
	err := retry(ctx, func() error {
		b := &batch{s: s.Stream, items: items, only: only}
		err := b.run(ctx)
		recheck = b.recheck
		return err
	})
	if err == nil && len(recheck) > 0 { // their claims changed during the check
		return s.handle(ctx, items, recheck)
	}
	return err
}
