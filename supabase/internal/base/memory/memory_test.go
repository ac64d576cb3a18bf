package memory

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// TestHeapWatch checks when the watch of the heap finds the process busy and idle, and when it
// releases memory.
func TestHeapWatch(t *testing.T) {
	var allocated uint64
	var events []string
	w := &heapWatch{
		heap:       func() (uint64, uint64) { return allocated, busyGarbage / 2 },
		setPercent: func(percent int) { events = append(events, strconv.Itoa(percent)) },
		release:    func() { events = append(events, "release") },
	}
	look := func(bytes uint64, times int, want ...string) {
		t.Helper()
		events = nil
		for range times {
			allocated += bytes
			w.look()
		}
		if !slices.Equal(events, want) {
			t.Errorf("%d times %d bytes: %q, want %q", times, bytes, events, want)
		}
	}
	look(busyBytes-1, quietLimit-1)
	look(busyBytes-1, 1, "50", "release")
	look(0, 100) // memory is released once
	look(busyBytes, 2, "200", "200")
	look(0, quietLimit-1)
	look(busyBytes, 1, "200") // the minute begins again
	look(0, quietLimit, "50", "release")
}

// TestBusyPercent checks the target of a busy process for amounts of live memory.
func TestBusyPercent(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 400, 1 << 20: 400, 8 << 20: 400, 16 << 20: 200, 32 << 20: 100, 33 << 20: 100, 1 << 40: 100,
	} {
		if got := busyPercent(live); got != want {
			t.Errorf("%d bytes of live memory: %d %%, want %d %%", live, got, want)
		}
	}
}

// TestTarget checks the target of the garbage collector for each state of the process.
func TestTarget(t *testing.T) {
	got := goGCPercent
	set := func(percent int) (before int) { before, got = got, percent; return before }
	g := &target{set: set}
	for _, s := range []struct {
		name string
		step func()
		want int
	}{
		{"a crowded port without a watch", func() { g.setCrowded(true) }, goGCPercent},
		{"a watch", g.begin, crowdedGCPercent},
		{"the port has room again", func() { g.setCrowded(false) }, goGCPercent},
		{"work", func() { g.setPercent(300) }, 300},
		{"a crowded port with work", func() { g.setCrowded(true) }, crowdedGCPercent},
		{"a second one", func() { g.setCrowded(true) }, crowdedGCPercent},
		{"the first has room again", func() { g.setCrowded(false) }, crowdedGCPercent},
		{"no work", func() { g.setPercent(idleGCPercent) }, crowdedGCPercent},
		{"the second has room", func() { g.setCrowded(false) }, idleGCPercent},
		{"a second watch", g.begin, idleGCPercent},
		{"one ends", g.end, idleGCPercent},
		{"the last ends", g.end, goGCPercent},
	} {
		if s.step(); got != s.want {
			t.Errorf("%s: target %d, want %d", s.name, got, s.want)
		}
	}
	got = 77 // the program has a target of its own
	for _, step := range []func(){g.begin, func() { g.setPercent(300) }, func() { g.setCrowded(true) },
		func() { g.setCrowded(false) }, g.end} {
		if step(); got != 77 {
			t.Errorf("the target of the program became %d", got)
		}
	}
}

// TestHeap checks that allocations count, and that live memory does.
func TestHeap(t *testing.T) {
	before, _ := heap()
	kept = make([]byte, busyBytes)
	runtime.GC()
	after, live := heap()
	if after-before < busyBytes || live < busyBytes {
		t.Errorf("%d bytes more and %d live after an allocation of %d", after-before, live, busyBytes)
	}
	runtime.KeepAlive(kept)
	kept = nil
}

// kept keeps an allocation on the heap.
var kept []byte
