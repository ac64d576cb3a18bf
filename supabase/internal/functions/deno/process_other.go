//go:build !linux

package deno

import "syscall"

// endWithParent does nothing on this system.
func endWithParent(*syscall.SysProcAttr) {}
