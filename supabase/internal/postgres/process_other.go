//go:build !linux

package postgres

import "syscall"

// procAttr keeps the terminal's Ctrl-C for us. Here the kernel cannot end a
// child with its parent: the next start adopts what is left.
func procAttr(w owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: w.credential(), Setpgid: true}
}
