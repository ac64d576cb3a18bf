//go:build !linux

package app

// limitMemory does nothing: only Linux has cgroups.
func limitMemory(bool) {}
