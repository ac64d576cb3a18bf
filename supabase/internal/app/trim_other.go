//go:build !linux

package app

import "runtime/debug"

// trim gives back the heap's free pages, which only the start needed.
func trim() { debug.FreeOSMemory() }
