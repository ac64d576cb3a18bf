// Package datadir knows the data folder of an installation: its place, its lock, which server runs
// on it, and what an operator can do about its errors.
package datadir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/server"
)

// rootData is the default data folder of root if the user that runs Postgres cannot access .daawo.
const rootData = "/var/lib/daawo"

// Resolve returns the data folder as an absolute path. Postgres refuses to run as root, so it runs
// as another user, who may be unable to access a folder in root's home. Unless the folder was
// chosen, Resolve then returns /var/lib/daawo and why, or a folder in it for a project that is not
// the program's.
func Resolve(data string, chosen bool, project string) (dir, why string, err error) {
	if dir, err = filepath.Abs(data); err != nil {
		return "", "", err
	}
	if chosen || os.Geteuid() != 0 {
		return dir, "", nil
	}
	if err := server.CheckTraversable(Postgres(dir)); err != nil {
		if project != "" { // the path, because two projects can have the same name
			sum := sha256.Sum256([]byte(dir))
			return filepath.Join(rootData, "projects", fmt.Sprintf("%s-%x", project, sum[:4])), err.Error(), nil
		}
		return rootData, err.Error(), nil
	}
	return dir, "", nil
}

// Postgres returns the folder of the embedded Postgres in a data folder.
func Postgres(data string) string { return filepath.Join(data, "postgres") }

// Backup returns the folder of what the backups of the installation need here.
func Backup(data string) string { return filepath.Join(data, "backup") }

// Installed returns an error if the data folder holds no installation. Commands that read one must
// not create it.
func Installed(data string) error {
	_, err := os.Stat(Postgres(data))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no installation: name its data folder with --data; `daawo start` creates a new one",
			data)
	}
	return err
}

// lockPatience is how long Lock retries. Locked, which many commands call, holds the lock for a
// shorter time.
const lockPatience = 100 * time.Millisecond

// endPatience is how long Lock retries while the holder takes no commands: it is ending, or
// starting.
const endPatience = 15 * time.Second

// Lock locks the data folder for this process until the returned file is closed. The kernel
// closes a killed process's file. Lock waits for a server that is ending.
func Lock(data string) (*os.File, error) {
	// the user that runs Postgres must be able to access it; each file inside has its own mode
	if err := atomicfile.MkdirAll(data, 0o755); err != nil {
		return nil, Error(data, err)
	}
	lock, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, Error(data, err)
	}
	for begun := time.Now(); ; time.Sleep(lockPatience / 20) {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		waited := time.Since(begun)
		if _, serr := os.Stat(filepath.Join(data, serverFile)); waited > endPatience || waited > lockPatience && serr == nil {
			break
		}
	}
	_ = lock.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("data folder %s: %w", data, err)
	}
	if file, rerr := ReadServer(data); rerr == nil {
		return nil, fmt.Errorf("a server already runs on %s (process %d); stop it with `daawo stop --data %s`, or with `systemctl stop daawo` if systemd started it", data, file.PID, data)
	}
	return nil, fmt.Errorf("another process has locked %s: it may be starting or stopping; try again later", data)
}

// Error adds to an error of the data folder what the operator can do about it.
func Error(data string, err error) error {
	const choose = "choose another folder with --data or DAAWO_DATA"
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("data folder %s: %w: %s", data, err, choose)
	}
	me := userName(os.Geteuid())
	info, statErr := os.Stat(data)
	if statErr != nil {
		return fmt.Errorf("data folder %s: %w: create it as root and give it to this user (install -d -m 0700 -o %s %s), or %s", data, err, me, data, choose)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("data folder %s: %w: it belongs to the user %s, and this is %s: run the command as %[3]s, or %[5]s",
			data, err, userName(int(stat.Uid)), me, choose)
	}
	return fmt.Errorf("data folder %s: %w: a file in it is not this user's: give the folder to the user %s (chown -R), or %s", data, err, me, choose)
}

// userName returns the name of a user of this machine, or the number if it has no name.
func userName(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}

// Locked reports whether a process has locked the data folder.
func Locked(data string) bool {
	lock, err := os.Open(filepath.Join(data, "lock"))
	if err != nil {
		return false
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// RemoveNew returns a function that removes what a failed command created of the data folder: its
// lock file, and empty folders.
func RemoveNew(data string) func() {
	var created []string // the innermost first
	for dir := data; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		created = append(created, dir)
	}
	return func() {
		if len(created) == 0 {
			return
		}
		_ = os.Remove(filepath.Join(data, "lock"))
		for _, dir := range created {
			if os.Remove(dir) != nil { // only if empty
				return
			}
		}
	}
}
