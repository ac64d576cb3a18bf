//go:build !linux

package memory

// Limit does nothing: only Linux has cgroups.
func Limit(bool) {}

// Available returns 0: the memory of the machine is not known on this system.
func Available() int64 { return 0 }
