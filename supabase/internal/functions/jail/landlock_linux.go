package jail

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock (landlock(7)).
const (
	execute  = 1 << 0
	writing  = 1 << 1
	reading  = 1 << 2
	listing  = 1 << 3
	allFiles = 1<<13 - 1 // version 1

	linking    = 1 << 13 // version 2: refer
	truncating = 1 << 14 // version 3
	ioctl      = 1 << 15 // version 5

	binding = 1 << 0 // version 4: TCP ports

	abstractSockets = 1 << 0 // version 6
	signals         = 1 << 1
)

// rules is struct landlock_ruleset_attr. Older kernels accept the fields that they do not know if
// these are 0.
type rules struct{ files, network, scoped uint64 }

// landlockVersion returns the version of Landlock, or why there is none.
var landlockVersion = sync.OnceValues(func() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1) // LANDLOCK_CREATE_RULESET_VERSION
	switch {
	case errno == unix.ENOSYS || errno == unix.EOPNOTSUPP:
		return 0, errors.New("the kernel has no Landlock, or it is not enabled")
	case errno != 0:
		return 0, fmt.Errorf("landlock: %w", errno)
	case version < 6:
		return int(version), fmt.Errorf("the kernel's Landlock has version %d: signals to other processes are not "+
			"restricted before 6", version)
	}
	return int(version), nil
})

// rulesOf returns what a version of Landlock can restrict.
func rulesOf(version int) rules {
	r := rules{files: allFiles}
	for _, more := range []struct {
		version int
		rules
	}{{2, rules{linking, 0, 0}}, {3, rules{truncating, 0, 0}}, {4, rules{0, binding, 0}}, {5, rules{ioctl, 0, 0}},
		{6, rules{0, 0, abstractSockets | signals}}} {
		if version >= more.version {
			r.files, r.network, r.scoped = r.files|more.files, r.network|more.network, r.scoped|more.scoped
		}
	}
	return r
}

// system are the files of the system that programs need: programs and their libraries, names,
// certificates and time zones. None of them is secret. Other files of /etc/ssl and /etc/pki are.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache",
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services", "/etc/passwd", "/etc/group",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/ca-certificates",
	"/etc/ca-certificates.conf", "/etc/localtime", "/etc/timezone", "/etc/mime.types",
	"/dev/urandom", "/dev/random", "/dev/zero", "/sys/kernel/mm/transparent_hugepage"}

// restrictFiles takes from this thread all files but those of the policy, signals to other programs
// and TCP ports of its own.
func restrictFiles(p Policy, temp string) error {
	version, _ := landlockVersion()
	if version == 0 {
		return nil // Check says so
	}
	all := rulesOf(version)
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&all)),
		unsafe.Sizeof(all), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer unix.Close(int(set))
	allow := func(path string, rights uint64) error { return allowPath(int(set), path, rights&all.files) }
	err := errors.Join(allow(temp, all.files&^execute), allow("/dev/null", reading|writing|truncating),
		allow(p.Program, execute|reading))
	for _, path := range p.Read {
		err = errors.Join(err, allow(path, reading|listing))
	}
	for _, path := range p.Write {
		err = errors.Join(err, allow(path, all.files&^execute))
	}
	for _, path := range system {
		if !Below(path, p.Program) { // a folder that holds the program may hold the data of the server
			err = errors.Join(err, allow(path, execute|reading|listing))
		}
	}
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allowPath adds a file, or a folder with all below it, to a set of rules. It does nothing if it is
// missing.
func allowPath(set int, path string, rights uint64) error {
	file, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(file)
	var info unix.Stat_t
	if err := unix.Fstat(file, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= execute | writing | reading | truncating | ioctl // others are refused for a file
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(file)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %s: %w", path, errno)
	}
	return nil
}
