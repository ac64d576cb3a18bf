package password

import "syscall"

// stepBack gives this thread a small share of a processor that others want, too.
func stepBack() {
	// Failing only means that the share is the usual one.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 5)
}
