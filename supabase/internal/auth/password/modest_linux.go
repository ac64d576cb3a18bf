package password

import "syscall"

// stepBack gives this thread a third of the usual share of a processor that others want, too. A tenth (10 steps) served reads
// beside it no better, and beside four busy programs a sign-in took longer than its request may.
func stepBack() {
	// Failing only means that the share is the usual one.
	if n, err := nice(); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), n+5)
	}
}

// nice is this thread's nice value: the system call answers with 20 minus it.
func nice() (int, error) {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
	return 20 - raw, err
}
