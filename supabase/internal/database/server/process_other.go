//go:build !linux

package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// procAttr keeps the terminal's Ctrl-C from the child. This kernel cannot end a
// child with its parent, so the next start adopts a server that is still running.
func procAttr(w owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: w.credential(), Setpgid: true}
}

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
