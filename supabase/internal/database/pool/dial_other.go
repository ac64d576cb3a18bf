//go:build !linux

package pool

import "syscall"

// setUserTimeout does nothing outside Linux: the kernel's default and the caller's deadline apply.
func setUserTimeout(string, string, syscall.RawConn) error { return nil }

var _ = userTimeout
