//go:build !linux

package server

import "syscall"

// procAttr keeps the terminal's Ctrl-C from the child. This kernel cannot end a
// child with its parent, so the next start adopts a server that is still running.
func procAttr(w owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: w.credential(), Setpgid: true}
}
