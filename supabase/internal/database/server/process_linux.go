package server

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// syncTree makes the files below dir survive a power cut, with one call instead of one per file.
func syncTree(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
