// Package tempdir makes private folders for sockets and programs, and removes the folders of
// processes that were killed. A process locks each of its folders (flock), and the kernel ends the
// lock with the process. systemd-tmpfiles respects the lock too, so it keeps the folders of a
// server that runs for weeks.
package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// prefix begins the names of all folders. Sweep looks at no others.
const prefix = "daawo-tmp-"

// Dir is a folder that only this user can open.
type Dir struct {
	Path   string
	remove func() error
}

// New makes a folder in base, or in os.TempDir if base is "". Its name contains kind.
func New(base, kind string) (*Dir, error) {
	for {
		path, err := os.MkdirTemp(base, prefix+kind+"-") // mode 0700
		if err != nil {
			return nil, err
		}
		lock, err := lockFolder(path)
		switch {
		case errors.Is(err, errTaken):
			continue // Sweep of another process was here before the lock
		case errors.Is(err, errNoLocks):
			return newDir(path, nil), nil // only Remove deletes it
		case err != nil:
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		return newDir(path, lock), nil
	}
}

// newDir returns a folder that lock, if it is not nil, protects from Sweep.
func newDir(path string, lock *os.File) *Dir {
	return &Dir{Path: path, remove: sync.OnceValue(func() error {
		err := os.RemoveAll(path)
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		return err
	})}
}

// Remove deletes the folder with all that it contains, and returns the same error when it is called
// again. It does nothing if d is nil.
func (d *Dir) Remove() error {
	if d == nil {
		return nil
	}
	return d.remove()
}

// Sweep deletes the folders in base, or in os.TempDir if base is "", that New has made for this
// user in processes that have ended without Remove.
func Sweep(base string) error {
	if base == "" {
		base = os.TempDir()
	}
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !e.IsDir() || !ours(e) {
			continue
		}
		path := filepath.Join(base, e.Name())
		lock, lockErr := lockFolder(path)
		switch {
		case lockErr == nil:
			err = errors.Join(err, os.RemoveAll(path), lock.Close())
		case !errors.Is(lockErr, errTaken) && !errors.Is(lockErr, errNoLocks):
			err = errors.Join(err, lockErr)
		}
	}
	return err
}

func ours(e fs.DirEntry) bool {
	info, err := e.Info()
	if err != nil {
		return false // removed since
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

var (
	errTaken   = errors.New("another process has locked or removed the folder")
	errNoLocks = errors.New("the file system has no locks for folders")
)

// lockFolder locks a folder until the returned file is closed.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	} else if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errTaken
		}
		return nil, errNoLocks // such as EBADF on NFS
	}
	// The folder that was opened may have been removed before it was locked.
	locked, err := f.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = os.Lstat(path); err == nil && os.SameFile(locked, now) {
			return f, nil
		}
	}
	_ = f.Close()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	return nil, err
}
