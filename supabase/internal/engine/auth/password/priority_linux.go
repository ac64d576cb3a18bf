package password

import "syscall"

// yield raises the nice value of this thread by 5: on a busy processor the thread gets a third of a
// normal share. With 10 (a tenth of a share) concurrent reads were no faster, and beside four busy
// programs a sign-in exceeded its time limit.
func yield() {
	// On failure the thread keeps its normal share.
	if n, err := nice(); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), n+5)
	}
}

// nice returns the nice value of this thread. The system call returns 20 minus that value.
func nice() (int, error) {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
	return 20 - raw, err
}
