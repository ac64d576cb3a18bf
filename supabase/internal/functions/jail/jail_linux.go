package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Check returns the protections of this system.
func Check() Report {
	_, files := landlockVersion()
	_, limits := findHierarchy()
	return Report{Files: files, Calls: seccompMissing(), User: ownUser(), Limits: limits}
}

// Start starts the program under the policy, as far as the kernel can enforce it.
func (c *Cell) Start(p Policy) error {
	cmd, user := c.Cmd, userOf(p)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if p.Bound {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	// The path may lead through folders that the program's user may not enter. The file is checked
	// by itself if it is opened before.
	program, err := os.Open(p.Program)
	if err != nil {
		return err
	}
	defer program.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, program)
	// The link gives the process the name of the program.
	cmd.Path = filepath.Join(c.temp.Path, filepath.Base(p.Program))
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", 2+len(cmd.ExtraFiles)), cmd.Path); err != nil {
		return err
	}
	if err := c.giveTo(user, p, program); err != nil {
		return err
	}
	if c.group, err = newCgroup(p.Memory); err != nil {
		return err
	}
	return c.onRestrictedThread(p.Bound, func() error {
		if err := restrictFiles(p, c.Folder); err != nil {
			return err
		}
		if err := changeUser(user, len(p.Read) > 0); err != nil {
			return err
		}
		return restrictCalls(p.Listens)
	}, func() error {
		if err := startWritten(cmd); err != nil {
			return err
		}
		// On this thread, because only the program's user may limit it.
		return limit(cmd.Process.Pid, c.group == nil && user != 0, p.Listens)
	}, func() error { return c.group.add(cmd.Process.Pid) })
}

// giveTo gives the files that a program writes to its user, and lets that run the program. user is
// 0 for that of this process.
func (c *Cell) giveTo(user int, p Policy, program *os.File) error {
	if user == 0 {
		return nil
	}
	info, err := program.Stat()
	if err != nil {
		return err
	}
	if info.Mode()&0o005 != 0o005 {
		if err := program.Chmod(0o755); err != nil {
			return err
		}
	}
	for _, folder := range append([]string{c.Folder}, p.Write...) {
		if err := giveFolder(folder, user); err != nil {
			return err
		}
	}
	return nil
}

// giveFolder gives a folder with all its files to a user, if that has not been done before.
func giveFolder(folder string, user int) error {
	var info unix.Stat_t
	if err := unix.Stat(folder, &info); err != nil {
		return &os.PathError{Op: "stat", Path: folder, Err: err}
	}
	if int(info.Uid) == user {
		return nil
	}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		return os.Lchown(path, user, user)
	})
	if err != nil {
		return err
	}
	return os.Lchown(folder, user, user) // last: the next call finds it
}

// onRestrictedThread runs start on a thread of its own, after restrict has taken rights from that
// thread alone. What start starts inherits them. The thread ends afterwards, or if stay is true
// when the cell is closed. after runs on this one.
func (c *Cell) onRestrictedThread(stay bool, restrict, start, after func() error) error {
	result := make(chan error)
	run := func() {
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = restrict()
		}
		if err == nil {
			err = start()
		}
		result <- err
		if stay && err == nil {
			<-c.closed // the kernel ends the program with the thread that has started it
		}
	}
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			run() // the thread is never unlocked, so the runtime ends it
			return
		}
		// The main thread cannot end, and stands for the process: a program with the same user and
		// Landlock domain could signal it. While it is locked, another goroutine has another one.
		defer runtime.UnlockOSThread()
		running := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(running)
			run()
		}()
		<-running
	}()
	if err := <-result; err != nil {
		return err
	}
	return after()
}

// findHierarchy is divide for this process.
var findHierarchy = sync.OnceValues(func() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", errNoHierarchy
	}
	return divide("/sys/fs/cgroup", string(own))
})

// Limits of a program without a cgroup, and of files.
const (
	maxProcesses = 256 // processes and threads
	maxListening = 32  // programs with Policy.Listens, which have one user
	maxOpenFiles = 4096
	maxFileSize  = 1 << 30
)

// limit sets limits of resources. A limit of processes counts those of the user, so it needs an own
// one.
func limit(pid int, processes, listens bool) error {
	set := func(which int, n uint64) error {
		return unix.Prlimit(pid, which, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
	err := errors.Join(set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_NOFILE, maxOpenFiles),
		set(unix.RLIMIT_FSIZE, maxFileSize))
	switch {
	case processes && listens:
		err = errors.Join(err, set(unix.RLIMIT_NPROC, maxProcesses*maxListening))
	case processes:
		err = errors.Join(err, set(unix.RLIMIT_NPROC, maxProcesses))
	}
	if errors.Is(err, unix.ESRCH) {
		return nil // it has ended
	}
	return err
}
