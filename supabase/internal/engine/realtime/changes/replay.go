package changes

import (
	"context"
	"errors"
)

// replay delivers changes of before to a subscriber, beside the worker.
type replay struct {
	s        *Stream
	sub      *subscriber
	registry *registry          // has this subscriber only
	failed   map[pair]diversion // whose changes are lost
	slow     uint32             // table whose policies or filters are slow, 0 for none
}

// errSlow means that a replay has to make a check again, with more time.
var errSlow = errors.New("the check took too long beside other replays")

// rejoin is a subscriber that wants changes of before. The worker adds it to the registry.
type rejoin struct {
	sub    *subscriber
	groups []*bindingGroup
	done   chan ringEnd // has room for one
}

// newReplay returns a replay for a subscriber that is in no registry yet.
func newReplay(s *Stream, sub *subscriber, groups []*bindingGroup) *replay {
	r := &replay{s: s, sub: sub, registry: newRegistry(), failed: map[pair]diversion{}}
	var own []*bindingGroup
	for _, g := range groups { // the stream's registry will add members of other subscribers
		copied := *g
		own = append(own, &copied)
	}
	r.registry.addToGroups(&subscriber{}, own)
	return r
}

// subscribeSince adds a subscriber after everything in the queue, and delivers what it missed.
// Later changes wait for that.
func (s *Stream) subscribeSince(ctx context.Context, sub *subscriber, groups []*bindingGroup,
	request Subscriber) (int64, error) {
	if err := s.waitForPublication(ctx); err != nil {
		return 0, err
	}
	if err := s.attach(ctx, sub); err != nil {
		return 0, err
	}
	r := newReplay(s, sub, groups)
	sub.joining = true
	join := &rejoin{sub: sub, groups: groups, done: make(chan ringEnd, 1)}
	s.queue.order(rowChange{control: &control{join: join}})
	select {
	case end := <-join.done:
		if err := r.run(ctx, *request.Since, end, request.Ready); err != nil {
			s.registry.remove(sub.id)
			return 0, err
		}
		sub.goLive(end.position, request.Joined)
		return sub.id, nil
	case <-ctx.Done():
		s.abandon(join)
		return 0, ctx.Err()
	}
}

// abandon removes a subscriber whose caller no longer waits. If the worker has not added it, the
// worker leaves it out or removes it.
func (s *Stream) abandon(join *rejoin) {
	join.sub.closed.Store(true)
	select {
	case <-join.done:
		s.registry.remove(join.sub.id)
	default:
	}
}

// run checks and delivers the changes in the ring from since on up to end. Changes that are not
// there, or cannot be checked, are noted as lost. It returns an error only if ctx has ended.
func (r *replay) run(ctx context.Context, since Since, end ringEnd, ready func(context.Context)) error {
	if since == (Since{}) {
		return nil
	}
	from, complete := r.s.ring.start(since)
	for complete && from < end.number {
		if ready != nil {
			ready(ctx)
		}
		var n int
		err := retry(ctx, func() (err error) {
			n, err = r.batch(ctx, from, end.number)
			return err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errSlow) {
			continue
		}
		if err != nil {
			r.s.o.Log.Error("changes were not replayed: their check failed", "error", err)
			r.s.metrics.losses.WithLabelValues(reasonFailed).Inc()
			r.sub.lose(end.position, reasonFailed)
			return nil
		}
		from += uint64(n)
		complete = n > 0
	}
	if !complete {
		r.sub.lose(end.position, reasonForgotten)
	}
	return nil
}

// batch checks and delivers the next n changes, by their numbers in the ring. n is 0 if some
// are no longer there. Replays take turns after each batch, because they share a connection of the
// pool. One whose policies are slow goes on beside them.
func (r *replay) batch(ctx context.Context, from, to uint64) (n int, err error) {
	release, err := r.takeTurn(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	items, complete := r.s.ring.batch(from, to)
	if !complete || r.sub.forgot() {
		return 0, nil
	}
	b := &batch{s: r.s, items: items, replay: r}
	if err = b.run(ctx); errors.Is(err, errSlow) {
		r.slow = b.slow
	}
	return len(items), err
}

// replayTurn is that of the next replay whose policies are not slow.
var replayTurn = Turn{"replay", 1}

func (r *replay) takeTurn(ctx context.Context) (release func(), err error) {
	if r.slow != 0 {
		return r.s.takeSlowTurn(ctx, r.slow)
	}
	return r.s.turns.Take(ctx, replayTurn)
}
