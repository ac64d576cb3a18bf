// Package jail starts programs with few rights: functions must not be as powerful as the server. On
// Linux the kernel enforces it by Landlock, seccomp, an own user where the server runs as root, and
// a cgroup where one can be made. Elsewhere, a program has the rights of the server.
package jail

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"daawo/supabase/internal/base/tempdir"
)

// Policy is what a program may use.
type Policy struct {
	Program string   // its file
	Memory  int64    // bytes of the program with all that it starts; 0 means no limit
	Read    []string // more files and folders that it may read, also those that only this process's user may
	Write   []string // folders that it may write too; they become its user's
	Listens bool     // it may make Unix sockets, and listens on them; such programs have a user of their own
	Bound   bool     // the kernel ends it with this process (Linux)
	Nice    int      // how much lower its priority is than that of this process, as nice(1) counts (Linux)
}

// Cell is a started program and what belongs to it.
type Cell struct {
	Cmd    *exec.Cmd
	Folder string // its TMPDIR, which it may write
	temp   *tempdir.Dir
	group  *cgroup
	closed chan struct{}
}

// passed are the variables of this process that programs get: where to find other programs, proxies
// and certificates, and how to write times.
var passed = []string{"PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "TZ", "LANG"}

// Command returns a command for the policy's program. files are open in the program from number 3
// on. TMPDIR and HOME are a folder that the program may write. Close the Cell after all, also if
// Start fails.
func Command(p Policy, files ...*os.File) (*Cell, error) {
	temp, err := tempdir.New(tempBase(), "jail")
	if err != nil {
		return nil, err
	}
	c := &Cell{temp: temp, Folder: filepath.Join(temp.Path, "tmp"), closed: make(chan struct{})}
	// The program may have another user. The outer folder stays this one's, so that it is swept
	// after a crash.
	if err := errors.Join(os.Chmod(temp.Path, 0o711), os.Mkdir(c.Folder, 0o700)); err != nil {
		return nil, errors.Join(err, temp.Remove())
	}
	c.Cmd = exec.Command(p.Program)
	c.Cmd.Dir, c.Cmd.ExtraFiles = c.Folder, files
	c.Cmd.Env = []string{"TMPDIR=" + c.Folder, "HOME=" + c.Folder}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			c.Cmd.Env = append(c.Cmd.Env, name+"="+value)
		}
	}
	return c, nil
}

// tempBase returns the folder of temporary files, or /tmp if other users may not enter that, or if
// Deno lets no program with limited permissions open files there.
func tempBase() string {
	base, err := filepath.Abs(os.TempDir())
	for _, special := range []string{"/dev", "/proc", "/sys"} {
		if Below(special, base) {
			return "/tmp"
		}
	}
	for dir := base; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return "/tmp"
		}
	}
	return base
}

// Below reports whether path is folder or below it.
func Below(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// startWritten calls start for a program that was just written. While another goroutine forks, its
// child holds the file open for writing for a moment, and the kernel refuses to run it.
func startWritten(start func() error) error {
	for attempt := 1; ; attempt++ {
		err := start()
		if !errors.Is(err, syscall.ETXTBSY) || attempt == 100 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Kill ends all processes of the program at once. It returns false where the program has no cgroup;
// then the caller must find them.
func (c *Cell) Kill() bool { return c.group.kill() }

// Close removes what belonged to the program. Call it once, after the end of all its processes.
func (c *Cell) Close() error {
	close(c.closed)
	return errors.Join(c.group.remove(), c.temp.Remove())
}

// OutOfMemory reports whether the kernel has ended the program because it exceeded Policy.Memory.
// It is false where the program has no cgroup.
func (c *Cell) OutOfMemory() bool { return c.group.outOfMemory() }

// Report says which protections this system gives. A missing one has its reason.
type Report struct {
	Files, Calls, User, Limits error
}

// Lacks returns the missing protections as texts, each with its reason.
func (r Report) Lacks() (all []string) {
	for _, one := range []struct {
		what string
		why  error
	}{
		{"other files and signals (Landlock)", r.Files},
		{"Unix sockets and dangerous system calls (seccomp)", r.Calls},
		{"a user of their own", r.User},
		{"limits of processes and memory (cgroup)", r.Limits},
	} {
		if one.why != nil {
			all = append(all, one.what+": "+one.why.Error())
		}
	}
	return all
}
