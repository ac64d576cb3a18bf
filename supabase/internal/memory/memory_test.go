package memory

import (
	"slices"
	"testing"
)

// TestHeapWatch checks when the watch of the heap finds the process busy and idle, and when it releases memory.
func TestHeapWatch(t *testing.T) {
	var allocated uint64
	var events []string
	w := &heapWatch{
		allocated: func() uint64 { return allocated },
		setBusy: func(busy bool) {
			events = append(events, map[bool]string{true: "busy", false: "idle"}[busy])
		},
		release: func() { events = append(events, "release") },
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
	look(busyBytes-1, 1, "idle", "release")
	look(0, 100) // memory is released once
	look(busyBytes, 2, "busy", "busy")
	look(0, quietLimit-1)
	look(busyBytes, 1, "busy") // the minute begins again
	look(0, quietLimit, "idle", "release")
}

// TestGCTarget checks the target of the garbage collector for each state of the process.
func TestGCTarget(t *testing.T) {
	t.Setenv("GOGC", "")
	got := 0
	g := &target{set: func(percent int) int { got = percent; return 0 }}
	steps := []struct {
		name string
		step func()
		want int
	}{
		{"work", func() { g.setBusy(true) }, busyGCPercent},
		{"a crowded port", func() { g.setCrowded(true) }, crowdedGCPercent},
		{"a second one", func() { g.setCrowded(true) }, crowdedGCPercent},
		{"the first has room again", func() { g.setCrowded(false) }, crowdedGCPercent},
		{"no work", func() { g.setBusy(false) }, crowdedGCPercent},
		{"the second has room", func() { g.setCrowded(false) }, idleGCPercent},
		{"work again", func() { g.setBusy(true) }, busyGCPercent},
	}
	for _, s := range steps {
		if s.step(); got != s.want {
			t.Errorf("%s: target %d, want %d", s.name, got, s.want)
		}
	}
	t.Setenv("GOGC", "100")
	if g.setBusy(false); got != busyGCPercent {
		t.Errorf("with GOGC set the target became %d", got)
	}
}

// TestAllocatedBytes checks that allocations count.
func TestAllocatedBytes(t *testing.T) {
	before := allocatedBytes()
	kept = make([]byte, busyBytes)
	if after := allocatedBytes(); after-before < busyBytes {
		t.Errorf("%d bytes more after an allocation of %d", after-before, busyBytes)
	}
	kept = nil
}

// kept keeps an allocation on the heap.
var kept []byte
