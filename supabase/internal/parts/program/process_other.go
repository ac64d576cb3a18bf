//go:build !linux

package program

import "syscall"

// procAttr makes the kernel end the program when this process dies. A process group of its own
// keeps the terminal's Ctrl-C from it. given may be nil.
func procAttr(given *syscall.SysProcAttr) *syscall.SysProcAttr {
	if given == nil {
		given = &syscall.SysProcAttr{}
	}
	given.Setpgid = true
	return given
}

// groupMemory is not known on this system: a program keeps only a limit of its own.
func groupMemory(int) int64 { return 0 }
