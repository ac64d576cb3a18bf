package server

import "syscall"

// procAttr makes the kernel send the child SIGINT (fast shutdown) when this
// process dies, even by SIGKILL. A process group of its own keeps the
// terminal's Ctrl-C from the child: Stop ends it in the right order.
func procAttr(w owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Credential: w.credential(),
		Pdeathsig:  syscall.SIGINT,
		Setpgid:    true,
	}
}
