package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"daawo/supabase/internal/base/atomicfile"
)

// CreatePrivate creates a file that only its owner can read. An existing regular file of that name
// is replaced by a new one, because it may belong to another user or be readable by others. A
// device or pipe is opened for writing.
func CreatePrivate(name string) (*os.File, error) {
	switch info, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	default:
		return os.OpenFile(name, os.O_WRONLY, 0)
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// createPart creates a hidden temporary file in the folder of target. Only its owner can read it.
// Concurrent writers to one target get different files.
func createPart(target string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.part")
	if path := new(fs.PathError); errors.As(err, &path) {
		return nil, fmt.Errorf("create %s: %w", target, path.Err) // without the temporary name
	}
	return f, err
}

// syncAndRename writes the file tmp to the disk and renames it to target.
func syncAndRename(tmp, target string) error {
	f, err := os.Open(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return atomicfile.Rename(tmp, target)
}
