package postgres

import "syscall"

// procAttr makes the child die with us, even by kill -9, with a fast shutdown;
// and keeps the terminal's Ctrl-C for us, who stop it in our own order.
func procAttr(w owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Credential: w.credential(),
		Pdeathsig:  syscall.SIGINT,
		Setpgid:    true,
	}
}
