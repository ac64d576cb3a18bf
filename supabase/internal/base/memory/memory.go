// Package memory sets the targets of Go's garbage collector for a server: the memory limit of its
// container or systemd unit, and the share of garbage.
package memory

import (
	"os"
	"runtime/debug"
)

// Garbage is how much garbage may gather, in percent of the live memory. That is some MB, so at
// Go's 100 percent the collector took 6 to 15 % of a busy server's time.
const Garbage = 200

// AllowGarbage sets how much garbage may gather in percent, unless GOGC is set. It is for programs
// of ours: a program that embeds the stack has its own target.
func AllowGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
