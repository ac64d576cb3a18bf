//go:build !linux

package child

import "time"

// Usage is not known on this system: only the runtime of the process keeps its memory limit.
func Usage(int) (bytes int64, processor time.Duration, ok bool) { return 0, 0, false }

// PreferForOOM does nothing on this system.
func PreferForOOM(int) error { return nil }
