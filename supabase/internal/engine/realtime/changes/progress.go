package changes

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progress is what a subscriber has got. mu is held while the subscriber is called.
type progress struct {
	mu      sync.Mutex
	passed  *atomic.Uint64 // the stream's
	reached uint64         // everything up to this position was delivered, or told as lost
	waits   []laneWait

	lost    uint64    // position of the first lost change about which the subscriber is not told; 0 for none
	reasons []string  // of these losses
	told    time.Time // when the subscriber was told of losses
	waiting bool      // tell will be called

	joining bool     // changes of before are delivered, later ones wait in kept
	kept    []Change // with the positions that they confirm
	size    int      // bytes of kept; more than maxKept if changes were left out
}

// laneWait is a lane that has changes for a subscriber.
type laneWait struct {
	lane *lane
	last uint64 // position of the last one
}

const (
	// tellEvery is how often a subscriber is told at most that it lost changes.
	tellEvery = time.Second
	// maxKept is how many bytes of changes wait for a subscriber that gets those of before.
	maxKept = 1 << 20
	// noPosition is above all positions.
	noPosition = math.MaxUint64
)

// confirm returns the position up to which the subscriber has everything, if everything up to limit
// was delivered, waits in lanes or was lost. The caller holds the lock.
func (sub *subscriber) confirm(limit uint64) uint64 {
	for _, w := range sub.waits {
		if next := w.lane.next.Load(); next <= w.last {
			limit = min(limit, next-1)
		}
	}
	if sub.lost != 0 {
		limit = min(limit, sub.lost-1)
	}
	sub.reached = max(sub.reached, limit)
	return sub.reached
}

// await notes that a lane has a change for the subscriber.
func (sub *subscriber) await(ln *lane, position uint64) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.waits = slices.DeleteFunc(sub.waits, func(w laneWait) bool { return w.lane == ln || w.lane.next.Load() > w.last })
	sub.waits = append(sub.waits, laneWait{ln, position})
}

// hand delivers a change, or keeps it while the subscriber gets those of before. limit is as in
// confirm.
func (sub *subscriber) hand(c Change, limit uint64) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.closed.Load() {
		return
	}
	if !sub.joining {
		c.Position = sub.confirm(limit)
		sub.deliver(c)
		return
	}
	if sub.size += len(c.Data) + overhead; sub.size > maxKept {
		sub.kept = nil
		sub.note(c.Position, reasonForgotten)
		return
	}
	c.Position = sub.confirm(limit)
	sub.kept = append(sub.kept, c)
}

// handOld delivers a change of before. limit is as in confirm; no lane has such changes.
func (sub *subscriber) handOld(c Change, limit uint64) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.closed.Load() {
		return
	}
	if c.Position = limit; sub.lost != 0 {
		c.Position = min(limit, sub.lost-1)
	}
	sub.deliver(c)
}

// forgot reports whether changes that follow those of before were left out.
func (sub *subscriber) forgot() bool {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	return sub.size > maxKept
}

// goLive ends the delivery of changes of before: everything up to position was delivered or lost.
// It calls joined and delivers the changes that were kept.
func (sub *subscriber) goLive(position uint64, joined func(position uint64, reason string)) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	reason := sub.takeReasons()
	joined(position, reason)
	for len(sub.kept) > 0 {
		kept := sub.kept
		sub.kept, sub.size = nil, 0
		sub.mu.Unlock() // others need not wait for all of them
		for _, c := range kept {
			if !sub.closed.Load() {
				sub.deliver(c)
			}
		}
		sub.mu.Lock()
	}
	sub.joining = false
	sub.tell()
}

// lose notes that a change was lost, and tells the subscriber now or, if it was told a moment ago,
// after tellEvery.
func (sub *subscriber) lose(position uint64, reason string) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.resumed == nil && !sub.joining {
		return
	}
	sub.note(position, reason)
	if wait := tellEvery - time.Since(sub.told); wait <= 0 {
		sub.tell()
	} else if !sub.waiting {
		sub.waiting = true
		time.AfterFunc(wait, func() {
			sub.mu.Lock()
			defer sub.mu.Unlock()
			sub.waiting = false
			sub.tell()
		})
	}
}

// note notes a loss about which the subscriber is not told yet. The caller holds the lock.
func (sub *subscriber) note(position uint64, reason string) {
	if sub.lost == 0 || position < sub.lost {
		sub.lost = position
	}
	if !slices.Contains(sub.reasons, reason) {
		sub.reasons = append(sub.reasons, reason)
	}
}

// takeReasons returns why changes were lost, of which the caller tells the subscriber. The caller
// holds the lock.
func (sub *subscriber) takeReasons() string {
	reason := strings.Join(sub.reasons, "; ")
	sub.lost, sub.reasons, sub.told = 0, nil, time.Now()
	return reason
}

// tell calls Resumed if changes were lost, unless goLive will. The caller holds the lock.
func (sub *subscriber) tell() {
	if len(sub.reasons) == 0 || sub.joining || sub.resumed == nil || sub.closed.Load() {
		return
	}
	reason := sub.takeReasons()
	sub.resumed(reason, sub.confirm(sub.passed.Load()))
}
