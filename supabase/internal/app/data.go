package app

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"daawo/supabase/internal/postgres"
)

// rootData is the default data folder of root if the user that runs Postgres cannot access .daawo.
const rootData = "/var/lib/daawo"

// DataDir returns the data folder as an absolute path. Postgres refuses to run as root, so it runs as another user, who may
// be unable to access a folder in root's home. Unless the folder was chosen, DataDir then returns /var/lib/daawo and why, or a
// folder in it for a project that is not the program's.
func DataDir(data string, chosen bool, project string) (dir, why string, err error) {
	if dir, err = filepath.Abs(data); err != nil {
		return "", "", err
	}
	if chosen || os.Geteuid() != 0 {
		return dir, "", nil
	}
	if err := postgres.CheckTraversable(filepath.Join(dir, "postgres")); err != nil {
		if project != "" { // the path, because two projects can have the same name
			sum := sha256.Sum256([]byte(dir))
			return filepath.Join(rootData, "projects", fmt.Sprintf("%s-%x", project, sum[:4])), err.Error(), nil
		}
		return rootData, err.Error(), nil
	}
	return dir, "", nil
}

// lockPatience is how long lockData retries. Locked, which many commands call, holds the lock for a shorter time.
const lockPatience = 100 * time.Millisecond

// lockData locks the data folder for this process until the returned file is closed. The kernel closes a killed process's file.
func lockData(data string) (*os.File, error) {
	if err := os.MkdirAll(data, 0o755); err != nil { // the user that runs Postgres must be able to access it; each file inside has its own mode
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockPatience / 20) {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		if time.Now().After(end) {
			break
		}
	}
	_ = lock.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("data folder %s: %w", data, err)
	}
	if file, rerr := readControl(data); rerr == nil {
		return nil, fmt.Errorf("a server already runs on %s (process %d); stop it with `daawo stop --data %s`, or with `systemctl stop daawo` if systemd started it", data, file.PID, data)
	}
	return nil, fmt.Errorf("another process has locked %s: it may be starting or stopping; try again later", data)
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
