package backend

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"daawo/supabase/internal/base/atomicfile"
)

// removed is the folder of deleted versions that the continuous backup has not stored yet. It
// exists only while the installation has such a backup, which empties it. All processes that share
// the files look for it.
const removed = ".removed"

// RemovedDir returns the folder of deleted versions below the root folder dir of a Disk. It has the
// layout of dir.
func RemovedDir(dir string) string { return filepath.Join(dir, removed) }

// KeepRemoved makes the disks in dir move the versions that they delete to RemovedDir. The caller
// deletes them there.
func KeepRemoved(dir string) error { return atomicfile.MkdirAll(RemovedDir(dir), 0o750) }

// ForgetRemoved ends KeepRemoved and deletes the versions that wait.
func ForgetRemoved(dir string) error { return os.RemoveAll(RemovedDir(dir)) }

// remove deletes a file, or moves it to the folder of removed versions. It ignores a missing file.
func (d *Disk) remove(name string) error {
	if _, err := d.root.Lstat(removed); missing(err) {
		if err := d.root.Remove(name); !missing(err) {
			return err
		}
		return nil
	}
	kept := path.Join(removed, name)
	for attempt := 0; ; attempt++ { // the backup may remove an empty folder at the same time
		if _, err := d.root.Lstat(name); missing(err) {
			return nil
		}
		_, err := d.mkdir(path.Dir(kept))
		if err == nil {
			err = d.root.Rename(name, kept)
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) || attempt == 20 {
			return err
		}
	}
}
