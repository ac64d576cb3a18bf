package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"daawo/supabase/internal/base/atomicfile"
)

// lockData takes the lock that allows one server per data folder. The kernel
// releases it when the process ends.
func lockData(o Options) (*os.File, error) {
	if err := atomicfile.MkdirAll(filepath.Dir(o.Data), 0o755); err != nil {
		return nil, userErrorf(ErrNotTraversable, "the parent of the data folder cannot be created: %v", err)
	}
	name := o.Data + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, explain("lock the data folder", o, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(name)
		f.Close()
		return nil, userErrorf(ErrInUse,
			"another server (process %s) is running on %s: stop it, or choose another data folder",
			strings.TrimSpace(string(holder)), o.Data)
	}
	err = errors.Join(f.Truncate(0), writeAt(f, strconv.Itoa(os.Getpid())+"\n"))
	if err != nil {
		f.Close()
		return nil, explain("lock the data folder", o, err)
	}
	return f, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// pidFile is the content of postmaster.pid in the data folder.
type pidFile struct {
	pid       int
	port      int
	socketDir string
	ready     bool
}

func readPidFile(data string) (pidFile, error) {
	raw, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return pidFile{}, err
	}
	lines := strings.Split(string(raw), "\n")
	at := func(i int) string {
		if i < len(lines) {
			return strings.TrimSpace(lines[i])
		}
		return ""
	}
	var f pidFile
	f.pid, _ = strconv.Atoi(at(0))
	f.port, _ = strconv.Atoi(at(3))
	f.socketDir = at(4)
	f.ready = at(7) == "ready"
	return f, nil
}

// removeStale removes the pid and lock files of a dead postmaster. A new
// postmaster checks only the pid in them. It would refuse to start if the dead
// process was not reaped or another process has the pid now.
func removeStale(data string, f pidFile) error {
	files := []string{filepath.Join(data, "postmaster.pid")}
	if f.socketDir != "" && f.port != 0 {
		socket := filepath.Join(f.socketDir, ".s.PGSQL."+strconv.Itoa(f.port))
		files = append(files, socket, socket+".lock")
	}
	for _, name := range files {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove files of a dead server: %w", err)
		}
	}
	return nil
}

// postgresPids returns the Postgres processes whose working directory is the
// data folder: the postmaster and its children. On a system without /proc it
// relies on the pid file.
func postgresPids(data string, f pidFile) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil || len(entries) == 0 {
		if f.pid > 0 && syscall.Kill(f.pid, 0) == nil {
			return []int{f.pid}
		}
		return nil
	}
	want, err := os.Stat(data)
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// Compare inodes, not names: the folder may have been renamed.
		cwd, err := os.Stat("/proc/" + e.Name() + "/cwd")
		if err == nil && os.SameFile(cwd, want) && isPostgres(e.Name()) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// isPostgres reports whether the process runs a program named postgres, even if
// the program's file was deleted. It also returns true for a dying process,
// which has no program: it may still hold the shared memory that would keep a
// new server from starting.
func isPostgres(pid string) bool {
	exe, err := os.Readlink("/proc/" + pid + "/exe")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	name := filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
	return err == nil && (name == "postgres" || name == ".postgres-wrapped") // the latter in Supabase's archive
}
