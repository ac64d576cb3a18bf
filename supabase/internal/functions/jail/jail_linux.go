package jail

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// userID is the user and group of jailed programs where this process may choose it. No other
// program uses it: it is in none of the ranges that distributions assign.
const userID = 64_737

// Check returns the protections of this system.
func Check() Report {
	_, files := landlockVersion()
	_, limits := findHierarchy()
	return Report{Files: files, Calls: seccompMissing(), User: ownUser(), Limits: limits}
}

var errNotRoot = errors.New("only a server that runs as root can choose one")

// ownUser returns nil if this process can start programs as userID.
var ownUser = sync.OnceValue(func() error {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(string(status), "\nCapEff:\t")
	effective, _, _ := strings.Cut(after, "\n")
	mask, err := strconv.ParseUint(effective, 16, 64)
	const wanted = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	if err != nil || mask&wanted != wanted {
		return errors.New("this process may not change its user")
	}
	for _, name := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		if !mapped(name) {
			return errors.New("this container has no user of that number")
		}
	}
	return nil
})

// mapped reports whether a user namespace knows userID.
func mapped(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count uint64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && userID >= inside &&
			userID < inside+count {
			return true
		}
	}
	return false
}

// Start starts the program under the policy, as far as the kernel can enforce it.
func (c *Cell) Start(p Policy) error {
	cmd := c.Cmd
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// The path may lead through folders that the program's user may not enter. The file is checked
	// by itself if it is opened before.
	program, err := os.Open(p.Program)
	if err != nil {
		return err
	}
	defer program.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, program)
	cmd.Path = fmt.Sprintf("/proc/self/fd/%d", 2+len(cmd.ExtraFiles))
	if ownUser() == nil {
		if err := errors.Join(os.Chown(c.writable, userID, userID), program.Chmod(0o755)); err != nil {
			return err
		}
	}
	if c.group, err = newCgroup(p.Memory); err != nil {
		return err
	}
	return onRestrictedThread(func() error {
		if err := restrictFiles(p, c.writable); err != nil {
			return err
		}
		if err := changeUser(); err != nil {
			return err
		}
		return restrictCalls()
	}, func() error {
		if err := startWritten(cmd); err != nil {
			return err
		}
		// On this thread, because only the program's user may limit it.
		return limit(cmd.Process.Pid, c.group == nil && ownUser() == nil)
	}, func() error { return c.group.add(cmd.Process.Pid) })
}

// changeUser gives this thread alone the user of jailed programs, if it may.
func changeUser() error {
	if ownUser() != nil {
		return nil // Check says so
	}
	calls := [][2]uintptr{{unix.SYS_SETGROUPS, 0}, {unix.SYS_SETRESGID, userID}, {unix.SYS_SETRESUID, userID}}
	for _, call := range calls {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[1], call[1]); errno != 0 {
			return fmt.Errorf("change the user: %w", errno)
		}
	}
	return nil
}

// onRestrictedThread runs start on a thread of its own, after restrict has taken rights from that
// thread alone. What start starts inherits them. The thread ends afterwards, and after runs on this
// one.
func onRestrictedThread(restrict, start, after func() error) error {
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
		other := make(chan struct{})
		go func() {
			defer close(other)
			runtime.LockOSThread()
			run()
		}()
		<-other
	}()
	if err := <-result; err != nil {
		return err
	}
	return after()
}

// Limits of a program without a cgroup, and of files.
const (
	maxProcesses = 256 // processes and threads
	maxOpenFiles = 4096
	maxFileSize  = 1 << 30
)

// limit sets limits of resources. A limit of processes counts those of the user, so it needs an own
// one.
func limit(pid int, processes bool) error {
	set := func(which int, n uint64) error {
		return unix.Prlimit(pid, which, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
	err := errors.Join(set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_NOFILE, maxOpenFiles),
		set(unix.RLIMIT_FSIZE, maxFileSize))
	if processes {
		err = errors.Join(err, set(unix.RLIMIT_NPROC, maxProcesses))
	}
	if errors.Is(err, unix.ESRCH) {
		return nil // it has ended
	}
	return err
}
