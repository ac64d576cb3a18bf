package deno

import (
	"fmt"
	"syscall"
)

// endWithParent ends a process with this program.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// niceness is how much lower the priority of functions is than that of this program: starts and
// computations of functions do not delay requests that need none.
const niceness = 10

// lowerPriority lowers the priority of the calling thread, which the processes that it starts
// inherit.
func lowerPriority() error {
	now, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // the kernel returns 20 minus the niceness
	if err == nil {
		err = syscall.Setpriority(syscall.PRIO_PROCESS, 0, min(20-now+niceness, 19))
	}
	if err != nil {
		return fmt.Errorf("priority of functions: %w", err)
	}
	return nil
}
