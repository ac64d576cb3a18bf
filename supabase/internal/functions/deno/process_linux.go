package deno

import "syscall"

// attributes puts a process into a group of its own, which ends with this program.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
