//go:build !linux

package host

import "time"

// usage is what a process uses.
type usage struct {
	memory int64
	busy   time.Duration
}

// usageOf is not known on this system: only the Go runtime of the process keeps its memory limit.
func usageOf(int) (usage, bool) { return usage{}, false }

func preferForOOM(int) error { return nil }
