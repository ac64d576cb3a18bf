//go:build !linux

package server

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// procAttr keeps the terminal's Ctrl-C from the child. This kernel cannot end a
// child with its parent, so the next start adopts a server that is still running.
func procAttr(w owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: w.credential(), Setpgid: true}
}

// writeSessionLibrary writes nothing: these kernels do not schedule by session.
func writeSessionLibrary(string) error { return nil }

// preload changes nothing.
func preload(*exec.Cmd) (io.Closer, error) { return io.NopCloser(nil), nil }

// syncTree makes the files below dir survive a power cut.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
