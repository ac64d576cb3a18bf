package pool

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// patience is how long a caller counts as one that needs a core of Postgres. A longer statement
// mostly waits for a lock, the disk or its client, and must not stop others. A caller that computes
// for longer shares the cores with the next one.
const patience = 50 * time.Millisecond

// maxWaiting is the number of callers that may wait for admission. Further ones get ErrUnavailable
// at once.
const maxWaiting = 4096

var errQueueFull = errors.New("too many callers wait for a connection")

// admission limits how many callers run statements at the same time, and admits waiting callers in
// the order of their arrival.
//
// More running backends than Postgres has cores do not add throughput. The kernel divides the cores
// between them, so that each becomes slower and some wait for tens of milliseconds. A queue in
// front of them has the same mean and a shorter tail.
type admission struct {
	mu      sync.Mutex
	active  int // callers that may run for less than patience
	since   []time.Time
	waiters list.List   // of *waiter
	timer   *time.Timer // admits waiters when a caller has run for patience
}

// waiter is a caller in the queue. The channel gets its slot.
type waiter struct{ slot chan int }

// newAdmission returns an admission with active slots for short callers and most for all.
func newAdmission(active, most int) *admission {
	a := &admission{active: active, since: make([]time.Time, most)}
	a.timer = time.AfterFunc(time.Hour, a.admit)
	a.timer.Stop()
	return a
}

// acquire returns a slot, which the caller has to release.
func (a *admission) acquire(ctx context.Context) (int, error) {
	a.mu.Lock()
	if a.waiters.Len() == 0 {
		if slot, ok := a.take(time.Now()); ok {
			a.mu.Unlock()
			return slot, nil
		}
	}
	if a.waiters.Len() >= maxWaiting {
		a.mu.Unlock()
		return 0, errQueueFull
	}
	w := &waiter{make(chan int, 1)}
	at := a.waiters.PushBack(w)
	a.admitLocked() // sets the timer
	a.mu.Unlock()
	select {
	case slot := <-w.slot:
		return slot, nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	a.waiters.Remove(at) // does nothing if it is no longer in the list
	a.mu.Unlock()
	select {
	case slot := <-w.slot: // admitted since
		a.release(slot)
	default:
	}
	return 0, ctx.Err()
}

// take returns a free slot, if another caller may run. The lock is held.
func (a *admission) take(now time.Time) (slot int, ok bool) {
	running, slot := 0, -1
	for i, begun := range a.since {
		switch {
		case begun.IsZero():
			slot = i
		case now.Sub(begun) < patience:
			running++
		}
	}
	if slot < 0 || running >= a.active {
		return 0, false
	}
	a.since[slot] = now
	return slot, true
}

func (a *admission) release(slot int) {
	a.mu.Lock()
	a.since[slot] = time.Time{}
	a.admitLocked()
	a.mu.Unlock()
}

func (a *admission) admit() {
	a.mu.Lock()
	a.admitLocked()
	a.mu.Unlock()
}

// admitLocked gives slots to the first waiters. If some still wait, it sets the timer to the time
// when the next running caller no longer counts.
func (a *admission) admitLocked() {
	if a.waiters.Len() == 0 {
		return
	}
	now := time.Now()
	for at := a.waiters.Front(); at != nil; at = a.waiters.Front() {
		slot, ok := a.take(now)
		if !ok {
			break
		}
		a.waiters.Remove(at).(*waiter).slot <- slot
	}
	if a.waiters.Len() == 0 {
		return
	}
	next := patience
	for _, begun := range a.since {
		if left := patience - now.Sub(begun); !begun.IsZero() && left > 0 {
			next = min(next, left)
		}
	}
	a.timer.Reset(next)
}
