package fnhost

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"daawo/functions/edge"
)

var (
	errBusy    = errors.New("all places are taken")
	errRunaway = errors.New("calls beyond their time limit are still running")
)

// maxRunaways is how many calls of a function may go on beyond its time limit before further calls are refused. Nothing
// can stop a goroutine that does not listen to its context; one processor is left to the others.
func maxRunaways() int64 { return int64(max(1, runtime.GOMAXPROCS(0)-1)) }

// grace is how long a call that was told to end may take to do so before it counts as a runaway. Until that is known,
// further calls wait: they might be as endless, and take the processor that is left.
const grace = time.Second

// gate bounds how many calls of a function run at once. Some more wait a little for their turn.
type gate struct {
	places   chan struct{}
	waiting  *atomic.Int64
	overdue  *atomic.Int64 // calls that were told to end and have not yet, for less than grace
	runaways *atomic.Int64 // for longer
	most     int64
	wait     time.Duration
}

func newGate(f edge.Func) gate {
	return gate{make(chan struct{}, f.MaxConcurrent), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), int64(f.MaxWaiting), f.MaxWait}
}

// enter takes a place. Its errors are errBusy, errRunaway or the context's.
func (g gate) enter(ctx context.Context) error {
	open, err := g.open()
	if err != nil {
		return err
	}
	if open {
		select {
		case g.places <- struct{}{}:
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
	case g.places <- struct{}{}:
		return nil
	case <-timer.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open says whether a further call may run, as far as those that are beyond their limit go; errRunaway when it may not.
// Neither means that it is not known yet.
func (g gate) open() (bool, error) {
	runaways := g.runaways.Load()
	if runaways >= maxRunaways() {
		return false, errRunaway
	}
	return runaways+g.overdue.Load() < maxRunaways(), nil
}

// leave gives the place back.
func (g gate) leave() { <-g.places }

// runaway watches a call that is beyond its limit, and counts it when it does not end.
func (g gate) runaway(done <-chan error) {
	g.overdue.Add(1)
	go func() {
		select {
		case <-done:
			g.overdue.Add(-1)
			return
		case <-time.After(grace):
		}
		g.runaways.Add(1) // before it leaves the others, so that no call slips in between
		g.overdue.Add(-1)
		<-done
		g.runaways.Add(-1)
	}()
}
