package host

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"daawo/supabase/edge"

	"golang.org/x/sync/semaphore"
)

var (
	errBusy    = errors.New("too many concurrent calls")
	errRunaway = errors.New("calls are still running after their timeout")
)

// maxRunaways returns how many calls of a function may run after their timeout before further calls
// are rejected. A goroutine that ignores its context cannot be stopped. One processor remains for
// other functions.
func maxRunaways() int64 { return int64(max(1, runtime.GOMAXPROCS(0)-1)) }

// grace is the time between the timeout of a call and the moment when it counts as a runaway. In
// this time further calls wait, because they could be endless, too, and use the last processor.
const grace = time.Second

// gate limits the concurrent calls of a function. Some more calls wait for a short time.
type gate struct {
	running  chan struct{} // one value per running call
	waiting  *atomic.Int64
	overdue  *atomic.Int64       // calls after their timeout, within grace
	runaways *atomic.Int64       // calls after their timeout and grace
	most     int64               // of waiting calls
	wait     time.Duration       // of one call
	memory   *semaphore.Weighted // bytes of bodies; nil for no limit
}

func newGate(f edge.Func) gate {
	g := gate{make(chan struct{}, f.MaxConcurrent), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64),
		int64(f.MaxWaiting), f.MaxWait, nil}
	if f.MaxBodyMemory > 0 {
		g.memory = semaphore.NewWeighted(f.MaxBodyMemory)
	}
	return g
}

// smallBody is the size of a body, in bytes, that does not count against Func.MaxBodyMemory.
const smallBody = 64 << 10

// weight returns the bytes that a call reserves for its body. A body of unknown length counts as
// the longest.
func (f *function) weight(r *http.Request) int64 {
	size := r.ContentLength
	if size < 0 {
		size = f.MaxBody
	}
	if f.gate.memory == nil || size <= smallBody {
		return 0
	}
	return min(size, f.MaxBodyMemory)
}

// reserve waits until the bodies of the running calls leave enough memory.
func (g gate) reserve(ctx context.Context, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	return g.memory.Acquire(ctx, bytes)
}

// release undoes reserve.
func (g gate) release(bytes int64) {
	if bytes > 0 {
		g.memory.Release(bytes)
	}
}

// enter waits until a call may run. Its errors are errBusy, errRunaway or the context's.
// After it the call must leave.
func (g gate) enter(ctx context.Context) error {
	open, err := g.open()
	if err != nil {
		return err
	}
	if open {
		select {
		case g.running <- struct{}{}:
			return nil
		default:
		}
	}
	if g.waiting.Add(1) > g.most {
		g.waiting.Add(-1)
		return errBusy
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	for !open {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-timer.C:
			return errBusy
		case <-ctx.Done():
			return ctx.Err()
		}
		if open, err = g.open(); err != nil {
			return err
		}
	}
	select {
	case g.running <- struct{}{}:
		return nil
	case <-timer.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open reports whether calls after their timeout allow a further call. It returns errRunaway if
// not, and false without an error while that is unknown.
func (g gate) open() (bool, error) {
	runaways := g.runaways.Load()
	if runaways >= maxRunaways() {
		return false, errRunaway
	}
	return runaways+g.overdue.Load() < maxRunaways(), nil
}

// leave ends a call.
func (g gate) leave() { <-g.running }

// runaway watches a call after its timeout and counts it until it ends.
func (g gate) runaway(done <-chan error) {
	g.overdue.Add(1)
	go func() {
		select {
		case <-done:
			g.overdue.Add(-1)
			return
		case <-time.After(grace):
		}
		g.runaways.Add(1) // first, so that no call is admitted in between
		g.overdue.Add(-1)
		<-done
		g.runaways.Add(-1)
	}()
}
