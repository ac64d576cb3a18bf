//go:build !linux

package password

// yield does nothing: only Linux has priorities per thread.
func yield() {}
