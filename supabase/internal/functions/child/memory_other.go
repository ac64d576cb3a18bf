//go:build !linux

package child

// memoryOf is not known on this system: only the Go runtime of the process keeps its memory limit.
func memoryOf(int) (bytes int64, ok bool) { return 0, false }

func preferForOOM(int) error { return nil }
