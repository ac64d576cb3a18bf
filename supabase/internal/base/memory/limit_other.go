//go:build !linux

package memory

// Limit does nothing: only Linux has cgroups.
func Limit(bool) {}
