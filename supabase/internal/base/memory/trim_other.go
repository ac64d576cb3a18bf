//go:build !linux

package memory

import "runtime/debug"

// Trim returns free pages of the heap to the kernel.
func Trim() { debug.FreeOSMemory() }
