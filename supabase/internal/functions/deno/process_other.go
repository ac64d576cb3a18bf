//go:build !linux

package deno

import "syscall"

// endWithParent does nothing on this system.
func endWithParent(*syscall.SysProcAttr) {}

// lowerPriority does nothing: on this system a priority is that of a whole process.
func lowerPriority() error { return nil }
