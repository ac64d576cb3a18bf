package memory

import (
	"runtime/debug"
	"testing"
)

// TestAllowGarbage checks that the target of the collector changes, unless GOGC is set.
func TestAllowGarbage(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "77")
	AllowGarbage(Garbage)
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("with GOGC: %d", got)
	}
	t.Setenv("GOGC", "")
	AllowGarbage(Garbage)
	if got := debug.SetGCPercent(77); got != Garbage {
		t.Errorf("without GOGC: %d", got)
	}
	for _, crowded := range []bool{true, false} {
		Crowd(func() bool { return crowded })
		if got, want := debug.SetGCPercent(77), map[bool]int{true: crowdGarbage, false: Garbage}[crowded]; got != want {
			t.Errorf("crowded %t: %d, want %d", crowded, got, want)
		}
	}
}
