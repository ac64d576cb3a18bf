package realtime

import (
	"sync"
	"sync/atomic"
	"time"
)

// Upstream counts events in ticks of five seconds and compares the average of the last twelve with
// the limit.
const (
	rateTick  = 5 * time.Second
	rateTicks = 12
)

// rate counts events. It is over its limit from the end of a tick whose average reaches the limit,
// until the end of one whose average is below it.
type rate struct {
	now   func() time.Time
	limit func() int

	count atomic.Int64 // in the current tick
	end   atomic.Int64 // of the current tick, Unix time in nanoseconds
	over  atomic.Bool
	mean  atomic.Int64 // events per second, rounded down

	mu      sync.Mutex
	history []int64 // counts of the last ticks
}

func newRate(now func() time.Time, limit func() int) *rate {
	r := &rate{now: now, limit: limit}
	r.end.Store(now().Add(rateTick).UnixNano())
	return r
}

// add counts n events and reports whether the rate is over its limit.
func (r *rate) add(n int) (over bool) {
	over = r.exceeded()
	r.count.Add(int64(n))
	return over
}

// exceeded reports whether the rate is over its limit.
func (r *rate) exceeded() bool {
	if r.now().UnixNano() >= r.end.Load() {
		r.tick()
	}
	return r.over.Load()
}

// average returns the events per second of the last minute, without the current tick.
func (r *rate) average() int64 {
	r.exceeded()
	return r.mean.Load()
}

func (r *rate) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now().UnixNano()
	for n := 0; r.end.Load() <= now; n++ {
		if n > rateTicks { // idle for longer than the history
			r.history = nil
			r.end.Store(now + int64(rateTick))
			break
		}
		r.history = append(r.history, r.count.Swap(0))
		if len(r.history) > rateTicks {
			r.history = r.history[1:]
		}
		r.end.Add(int64(rateTick))
	}
	var sum int64
	for _, count := range r.history {
		sum += count
	}
	if len(r.history) == 0 {
		r.mean.Store(0)
		r.over.Store(false)
		return
	}
	perSecond := float64(sum) / float64(len(r.history)) / rateTick.Seconds()
	r.mean.Store(int64(perSecond))
	r.over.Store(perSecond >= float64(r.limit()))
}
