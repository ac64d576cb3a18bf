// Package atomicfile writes and renames files so that they survive a power cut.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces a file as a whole. After a crash the name has the old content or the new one.
// Concurrent calls for one name do not mix their content.
func WriteFile(name string, content []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return Rename(f.Name(), name)
}

// Rename renames a file or folder whose content is on the disk, and writes the folder of the new
// name to the disk. Without it a power cut can bring the old name back.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// SyncDir writes the names in a folder to the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MkdirAll is os.MkdirAll, and writes the name of each folder that it creates to the disk.
func MkdirAll(dir string, mode os.FileMode) error {
	var parents []string
	for name := filepath.Clean(dir); ; name = filepath.Dir(name) {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			break // the root exists; MkdirAll names other errors
		}
		parents = append(parents, filepath.Dir(name))
	}
	err := os.MkdirAll(dir, mode)
	for _, parent := range parents {
		err = errors.Join(err, SyncDir(parent))
	}
	return err
}
