//go:build !linux

package app

import "runtime/debug"

// trim returns free pages of the heap, which only the start needed, to the kernel.
func trim() { debug.FreeOSMemory() }
