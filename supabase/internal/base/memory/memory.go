// Package memory sets the targets of Go's garbage collector for a server: the memory limit of its
// container or systemd unit, and the share of garbage.
package memory

import (
	"os"
	"runtime/debug"
	"sync"
)

// Garbage is how much garbage may gather, in percent of the live memory. That is some MB, so at
// Go's 100 percent the collector took 6 to 15 % of a busy server's time.
const Garbage = 200

// AllowGarbage sets how much garbage may gather in percent, unless GOGC is set. It is for programs
// of ours: a program that embeds the stack has its own target.
func AllowGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		garbage.mu.Lock()
		defer garbage.mu.Unlock()
		garbage.allowed = percent
		debug.SetGCPercent(percent)
	}
}

// crowdGarbage is how much garbage may gather in percent while many connections are open. Their
// stacks and buffers are live memory, to which twice as much garbage would come.
const crowdGarbage = 50

var garbage struct {
	mu      sync.Mutex
	allowed int // by AllowGarbage, 0 before
}

// Crowd lets less garbage gather while crowded returns true, if the program has called
// AllowGarbage. Call it when the result has changed.
func Crowd(crowded func() bool) {
	garbage.mu.Lock()
	defer garbage.mu.Unlock()
	switch {
	case garbage.allowed == 0:
	case crowded():
		debug.SetGCPercent(min(crowdGarbage, garbage.allowed))
	default:
		debug.SetGCPercent(garbage.allowed)
	}
}
