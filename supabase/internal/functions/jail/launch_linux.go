package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// launch is what the launcher does. The launcher is this program again, as the process that becomes
// the jailed one: it gives up its rights by itself, so that no code of the jailed program ever runs
// with them or outside of its cgroup.
type launch struct {
	Policy    Policy
	User      int    // 0 keeps that of this process
	Folder    string // which the program may write
	Group     string // folder of its cgroup, "" for none
	Processes bool   // a resource limit counts its processes
	Path      string // of the program
	Args      []string
	Parent    int // process that waits for the program
}

// launcherName is the first argument of a launcher. The second is the number of the file that holds
// its launch.
const launcherName = "daawo-jail"

// init runs before main in every program that contains this package. It does nothing, except in a
// launcher.
func init() {
	if len(os.Args) != 2 || os.Args[0] != launcherName {
		return
	}
	runtime.LockOSThread() // rights are those of a thread
	err := become(os.Args[1])
	fmt.Fprintln(os.Stderr, "the jail of functions:", err)
	os.Exit(1)
}

// launch starts the launcher.
func (c *Cell) launch(l launch) error {
	file, err := os.OpenFile(filepath.Join(c.temp.Path, "launch"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := json.NewEncoder(file).Encode(l); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	cmd := c.Cmd
	cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	cmd.Path, cmd.Args = "/proc/self/exe", []string{launcherName, strconv.Itoa(2 + len(cmd.ExtraFiles))}
	if !l.Policy.Bound {
		return cmd.Start()
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel ends the program with the thread that has started it
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-c.closed
		}
	}()
	return <-started
}

// become turns this process into the jailed program. It returns only an error. number is that of
// the file with the launch.
func become(number string) error {
	fd, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	var l launch
	file := os.NewFile(uintptr(fd), "launch")
	if err := json.NewDecoder(file).Decode(&l); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := l.restrict(); err != nil {
		return err
	}
	return startWritten(func() error { return syscall.Exec(l.Path, l.Args, os.Environ()) })
}

// restrict joins the group of the program and takes priority and rights from this thread.
func (l launch) restrict() error {
	if err := lower(l.Policy.Nice); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	if l.Group != "" {
		if err := os.WriteFile(filepath.Join(l.Group, "cgroup.procs"), []byte("0"), 0o600); err != nil {
			return fmt.Errorf("join the cgroup: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := restrictFiles(l.Policy, l.Folder); err != nil {
		return err
	}
	if err := changeUser(l.User, len(l.Policy.Read) > 0); err != nil {
		return err
	}
	if l.Policy.Bound { // again, because a change of the user ends it
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
			return err
		}
		if os.Getppid() != l.Parent {
			return errors.New("the server has ended")
		}
	}
	if err := limit(l.Processes, l.Policy.Listens); err != nil {
		return fmt.Errorf("limit resources: %w", err)
	}
	return restrictCalls(l.Policy.Listens)
}

// lower lowers the priority of this thread, and so that of the program.
func lower(by int) error {
	if by == 0 {
		return nil
	}
	now, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 minus its value of nice(1)
	if err != nil {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-now+by, 19))
}

// Limits of a program without a cgroup, and of files.
const (
	maxProcesses = 256 // processes and threads
	maxListening = 32  // programs with Policy.Listens, which have one user
	maxOpenFiles = 4096
	maxFileSize  = 1 << 30
)

// limit limits the resources of this process. The kernel counts the processes of a user, so that
// limit is only for a program with a user of its own.
func limit(processes, listens bool) error {
	set := func(which int, n uint64) error {
		var present syscall.Rlimit
		if err := syscall.Getrlimit(which, &present); err != nil {
			return err
		}
		n = min(n, present.Max) // only root may raise it
		return syscall.Setrlimit(which, &syscall.Rlimit{Cur: n, Max: n})
	}
	err := errors.Join(set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_NOFILE, maxOpenFiles),
		set(unix.RLIMIT_FSIZE, maxFileSize))
	switch {
	case processes && listens:
		err = errors.Join(err, set(unix.RLIMIT_NPROC, maxProcesses*maxListening))
	case processes:
		err = errors.Join(err, set(unix.RLIMIT_NPROC, maxProcesses))
	}
	return err
}
