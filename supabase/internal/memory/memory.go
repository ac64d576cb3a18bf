// Package memory bounds the memory of the process: by the limit of its container, and by the target of Go's garbage collector,
// which it adapts to the work. It gives memory that no request needs to the kernel.
//
// Only app and cli import it; it imports nothing of ours.
package memory

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Targets of the garbage collector (GOGC): how much garbage it lets come, in percent of the live memory. The live memory of
// a server without work is some MB, so the target decides how often a busy server collects: at 100 that took an eighth of
// its processor time.
const (
	idleGCPercent    = 50
	busyGCPercent    = 400
	crowdedGCPercent = 40 // many connections are open: their buffers are live memory
)

// The watch of the heap.
const (
	heapPause  = 5 * time.Second
	busyBytes  = 4 << 20 // a process that allocates as much within one pause is busy
	quietLimit = 12      // after so many pauses without work the process is idle
)

// process is the target of this process's garbage collector, for all servers in the process.
var process = target{set: debug.SetGCPercent}

// SetCrowded tells that a port has got many connections, or has lost them.
func SetCrowded(yes bool) { process.setCrowded(yes) }

// target chooses the target of the garbage collector.
type target struct {
	set func(percent int) (before int)

	mu     sync.Mutex
	crowds int // ports with many connections
	busy   bool
}

func (t *target) setCrowded(yes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if yes {
		t.crowds++
	} else {
		t.crowds--
	}
	t.apply()
}

func (t *target) setBusy(yes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = yes
	t.apply()
}

// apply sets the target, unless GOGC is set. The caller holds the lock.
func (t *target) apply() {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := idleGCPercent
	switch {
	case t.crowds > 0:
		percent = crowdedGCPercent
	case t.busy:
		percent = busyGCPercent
	}
	t.set(percent)
}

// heapWatch recognises by the allocations whether the process has work.
type heapWatch struct {
	allocated func() uint64 // bytes since the start of the process
	setBusy   func(bool)
	release   func() // gives free memory to the kernel

	last  uint64
	quiet int // pauses without work
}

// Watch adapts the target of the garbage collector to the work of the process until the context ends, unless GOGC is set. Until
// it sees work it leaves the target at 100, that of Go.
func Watch(ctx context.Context) {
	w := &heapWatch{allocated: allocatedBytes, setBusy: process.setBusy, release: Trim}
	w.last = w.allocated()
	ticks := time.NewTicker(heapPause)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			w.look()
		}
	}
}

// look compares the allocations with those of the look before. A process without work for a minute gives the memory of its
// last work to the kernel, once.
func (w *heapWatch) look() {
	now := w.allocated()
	busy := now-w.last >= busyBytes
	w.last = now
	if busy {
		w.quiet = 0
		w.setBusy(true)
		return
	}
	if w.quiet++; w.quiet == quietLimit {
		w.setBusy(false)
		w.release()
	}
}

// allocatedBytes returns how many bytes the process has allocated on the heap since its start.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
