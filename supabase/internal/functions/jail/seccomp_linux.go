package jail

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are the system calls that get EPERM: those that reach into other processes or the kernel,
// and that go around this filter.
var refused = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_SETHOSTNAME,
	unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_MOVE_PAGES,
	unix.SYS_MIGRATE_PAGES, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
}

// argument is the value of an argument of a system call.
type argument struct{ offset, value uint32 }

// ownOnly are the system calls that change a process, with the arguments that name the caller.
// Where the program has the user of the server, others would change the server.
var ownOnly = []struct {
	call uint32
	with []argument
}{
	{unix.SYS_PRLIMIT64, []argument{{offsetFirst, 0}}},
	{unix.SYS_SCHED_SETAFFINITY, []argument{{offsetFirst, 0}}},
	{unix.SYS_SCHED_SETSCHEDULER, []argument{{offsetFirst, 0}}},
	{unix.SYS_SCHED_SETPARAM, []argument{{offsetFirst, 0}}},
	{unix.SYS_SCHED_SETATTR, []argument{{offsetFirst, 0}}},
	{unix.SYS_SETPRIORITY, []argument{{offsetFirst, unix.PRIO_PROCESS}, {offsetSecond, 0}}},
	{unix.SYS_IOPRIO_SET, []argument{{offsetFirst, 1}, {offsetSecond, 0}}}, // IOPRIO_WHO_PROCESS
}

// families are the kinds of sockets that a program may make. Sockets of AF_UNIX lead to the
// server's own and to those of Postgres.
var families = []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// namespaces are the flags of clone that make namespaces.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// architecture is the kernel's name for this one, 0 if it is not known here.
var architecture = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// seccompMissing returns why there is no filter of system calls.
func seccompMissing() error {
	if architecture == 0 {
		return fmt.Errorf("no filter is known for %s", runtime.GOARCH)
	}
	// The kernel reads the filter only if it knows the operation.
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil
	}
	return errors.New("the kernel has no seccomp filters")
}

// Offsets in struct seccomp_data, on machines whose lowest byte comes first.
const (
	offsetCall         = 0
	offsetArchitecture = 4
	offsetFirst        = 16 // argument
	offsetSecond       = 24
	offsetThird        = 32
)

// filter returns the program of the filter. listens allows Unix sockets and listening.
func filter(listens bool) []unix.SockFilter {
	refused, families := refused, families
	if listens {
		families = append(slices.Clone(families), unix.AF_UNIX)
	} else {
		refused = append(slices.Clone(refused), unix.SYS_LISTEN)
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	reply := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	jump := func(test uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	refuse := func(errno unix.Errno) unix.SockFilter { return reply(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	program := []unix.SockFilter{
		load(offsetArchitecture), jump(unix.BPF_JEQ, architecture, 1, 0), reply(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetCall),
	}
	if runtime.GOARCH == "amd64" { // the calls of x32 have other numbers
		const x32 = 0x40000000
		program = append(program, jump(unix.BPF_JGE, x32, 0, 1), refuse(unix.ENOSYS))
	}
	for _, call := range refused {
		program = append(program, jump(unix.BPF_JEQ, call, 0, 1), refuse(unix.EPERM))
	}
	for _, own := range ownOnly {
		program = append(program, jump(unix.BPF_JEQ, own.call, 0, uint8(1+3*len(own.with))))
		for _, a := range own.with {
			program = append(program, load(a.offset), jump(unix.BPF_JEQ, a.value, 1, 0), refuse(unix.EPERM))
		}
		program = append(program, reply(unix.SECCOMP_RET_ALLOW))
	}
	// The filter cannot read the flags of clone3. Callers use clone if it is missing.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), refuse(unix.ENOSYS),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(offsetFirst), jump(unix.BPF_JSET, namespaces, 0, 1),
		refuse(unix.EPERM), reply(unix.SECCOMP_RET_ALLOW))
	// Landlock does not restrict the ports of multipath TCP. Callers use TCP if it is missing.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, uint8(5+2*len(families))), load(offsetThird),
		jump(unix.BPF_JEQ, unix.IPPROTO_MPTCP, 0, 1), refuse(unix.EPROTONOSUPPORT), load(offsetFirst))
	for _, family := range families {
		program = append(program, jump(unix.BPF_JEQ, family, 0, 1), reply(unix.SECCOMP_RET_ALLOW))
	}
	return append(program, refuse(unix.EPERM), reply(unix.SECCOMP_RET_ALLOW))
}

// restrictCalls takes system calls from this thread.
func restrictCalls(listens bool) error {
	if seccompMissing() != nil {
		return nil // Check says so
	}
	program := filter(listens)
	list := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&list)), 0, 0)
	runtime.KeepAlive(program)
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
