package postgres

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
)

// lockData takes the lock that one running server per data folder holds. The
// kernel drops it with the process, however that ends.
func lockData(o Options) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(o.Data), 0o755); err != nil {
		return nil, plainly(ErrNotTraversable, "the folder for the data cannot be made: %v", err)
	}
	name := o.Data + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, explain("lock the data folder", o, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(name)
		f.Close()
		return nil, plainly(ErrInUse, "another server (process %s) is running on %s: stop it, or choose another data folder", strings.TrimSpace(string(holder)), o.Data)
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

// pidFile is what a postmaster writes about itself into its data folder.
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

// removeStale removes the files by which a dead postmaster still blocks a new
// one: it checks them by pid, and a dead process that nobody has reaped, or a
// stranger with a recycled pid, looks alive to it.
func removeStale(data string, f pidFile) error {
	files := []string{filepath.Join(data, "postmaster.pid")}
	if f.socketDir != "" && f.port != 0 {
		socket := filepath.Join(f.socketDir, ".s.PGSQL."+strconv.Itoa(f.port))
		files = append(files, socket, socket+".lock")
	}
	for _, name := range files {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what a dead server left: %w", err)
		}
	}
	return nil
}

// live returns the processes of Postgres whose working folder is the data
// folder: the postmaster and its children, and no shell that stands there. Where
// the system has no /proc, it believes the pid file.
func live(data string, f pidFile) []int {
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
		// Stat follows the link to the very folder, whatever its name now.
		cwd, err := os.Stat("/proc/" + e.Name() + "/cwd")
		if err == nil && os.SameFile(cwd, want) && isPostgres(e.Name()) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// isPostgres tells by a process' program, whose file may be deleted by now. A
// process that is dying has none while its memory is still given back, and that
// may be the shared memory that keeps a new server from starting.
func isPostgres(pid string) bool {
	exe, err := os.Readlink("/proc/" + pid + "/exe")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && filepath.Base(strings.TrimSuffix(exe, " (deleted)")) == "postgres"
}
