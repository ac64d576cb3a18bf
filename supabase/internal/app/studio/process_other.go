//go:build !linux

package studio

import "syscall"

func procAttr(c *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: c, Setpgid: true}
}

// groupMemory is not known on this system: only V8 keeps its limit.
func groupMemory(int) int64 { return 0 }
