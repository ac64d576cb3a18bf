// Package memory bounds the memory of the process: by the limit of its container, and by the target
// of Go's garbage collector, which it adapts to the work. It gives memory that no request needs to
// the kernel.
package memory

import (
	"cmp"
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Targets of the garbage collector (GOGC): how much garbage may gather, in percent of the live
// memory. The live memory of a server without work is some MB, so the target decides how often a
// busy server collects: at 100 that took an eighth of its processor time.
const (
	goGCPercent      = 100 // what Go itself sets
	idleGCPercent    = 50
	leastBusyPercent = 100
	mostBusyPercent  = 400
	crowdedGCPercent = 40 // many connections are open: their buffers are live memory
)

// busyGarbage is how many bytes of garbage may gather in a busy process. Above 32 MB of live
// memory, as much may gather as is live.
const busyGarbage = 32 << 20

// busyPercent returns the target of a busy process with live bytes of live memory. It is chosen
// every five seconds: for memory that becomes live in between, up to four times as much garbage may
// gather.
func busyPercent(live uint64) int {
	return int(min(max(busyGarbage*100/max(live, 1), leastBusyPercent), mostBusyPercent))
}

// The watch of the heap.
const (
	heapPause  = 5 * time.Second
	busyBytes  = 4 << 20 // a process that allocates as much within one pause is busy
	quietLimit = 12      // after so many pauses without work the process is idle
)

// process is the target of this process's garbage collector, for all servers in the process.
var process = target{set: debug.SetGCPercent}

// SetCrowded records that one port has many connections, or no longer has.
func SetCrowded(yes bool) { process.setCrowded(yes) }

// target chooses the target of the garbage collector while a Watch runs. It leaves a target that is
// not Go's: that of GOGC, or of a program that uses the stack as a library.
type target struct {
	set func(percent int) (before int)

	mu       sync.Mutex
	watches  int // that run
	original int // the target before the first of them
	crowds   int // ports with many connections
	percent  int // without crowds; 0 means that no Watch has chosen it
}

// begin remembers the target before the first Watch.
func (t *target) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watches++; t.watches == 1 {
		t.original = t.set(goGCPercent)
		t.set(t.original)
	}
	t.apply()
}

// end is called when a Watch ends. The last one restores the target.
func (t *target) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watches--; t.watches == 0 {
		t.percent = 0
		t.set(t.original)
	}
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

func (t *target) setPercent(percent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.percent = percent
	t.apply()
}

// apply sets the target. The caller holds the lock.
func (t *target) apply() {
	switch {
	case t.watches == 0, t.original != goGCPercent:
	case t.crowds > 0:
		t.set(crowdedGCPercent)
	default:
		t.set(cmp.Or(t.percent, goGCPercent))
	}
}

// heapWatch recognises by the allocations whether the process has work.
type heapWatch struct {
	heap       func() (allocated, live uint64) // bytes since the start of the process, and after the last collection
	setPercent func(int)
	release    func() // gives free memory to the kernel

	last  uint64 // bytes allocated at the last look
	quiet int    // pauses without work
}

// Watch adapts the target of the garbage collector to the work of the process until the context
// ends, and then restores it. It does not touch a target that GOGC or the program has set. Until it
// has seen work, or a minute without, the target is Go's.
func Watch(ctx context.Context) {
	process.begin()
	defer process.end()
	w := &heapWatch{heap: heap, setPercent: process.setPercent, release: Trim}
	w.last, _ = heap()
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

// look compares the allocations with those of the look before. A process without work for a minute
// gives the memory of its last work to the kernel, once.
func (w *heapWatch) look() {
	allocated, live := w.heap()
	busy := allocated-w.last >= busyBytes
	w.last = allocated
	if busy {
		w.quiet = 0
		w.setPercent(busyPercent(live))
		return
	}
	if w.quiet++; w.quiet == quietLimit {
		w.setPercent(idleGCPercent)
		w.release()
	}
}

// heap returns how many bytes the process has allocated on the heap since its start, and how many
// were live after the last collection.
func heap() (allocated, live uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64(), sample[1].Value.Uint64()
}
