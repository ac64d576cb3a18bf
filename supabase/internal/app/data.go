package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"daawo/supabase/internal/postgres"
)

// rootData is where root keeps data when Postgres' user may not enter the place of the default folder.
const rootData = "/var/lib/daawo"

// DataDir is the data folder as an absolute path. Postgres refuses to run as root and its own user may not be able to
// enter root's home: then a folder that was not chosen moves to /var/lib/daawo. why says so.
func DataDir(data string, chosen bool) (dir, why string, err error) {
	if dir, err = filepath.Abs(data); err != nil {
		return "", "", err
	}
	if chosen || os.Geteuid() != 0 {
		return dir, "", nil
	}
	if cannot := postgres.CheckTraversable(filepath.Join(dir, "postgres")); cannot != nil {
		return rootData, cannot.Error(), nil
	}
	return dir, "", nil
}

// glance is longer than Locked, which many commands ask, holds the lock itself: that is nobody who runs on the folder.
const glance = 100 * time.Millisecond

// lockData takes the data folder for this process until the file is closed, which the kernel does for a killed one.
func lockData(data string) (*os.File, error) {
	if err := os.MkdirAll(data, 0o755); err != nil { // Postgres' user passes through; each file inside has its own mode
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	for end := time.Now().Add(glance); ; time.Sleep(glance / 20) {
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
		return nil, fmt.Errorf("a server already runs on %s (process %d); `daawo stop --data %s` ends it, where systemd started it `systemctl stop daawo`", data, file.PID, data)
	}
	return nil, fmt.Errorf("another program holds %s; it may be starting or stopping", data)
}

// Locked says whether a process holds the data folder.
func Locked(data string) bool {
	lock, err := os.Open(filepath.Join(data, "lock"))
	if err != nil {
		return false
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
