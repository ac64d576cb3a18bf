package jail

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Users and groups of jailed programs where this process may choose them. No other program uses
// them: they are in none of the ranges that Debian and systemd assign.
const (
	userID          = 60_737
	listeningUserID = 60_738 // of programs with Policy.Listens
)

var errNotRoot = errors.New("only a server that runs as root can choose one")

// ownUser returns nil if this process can start programs as userID.
var ownUser = sync.OnceValue(func() error {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	const wanted = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	if mask, err := capabilities(); err != nil || mask&wanted != wanted {
		return errors.New("this process may not change its user")
	}
	for _, name := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		if !mapped(name) {
			return errors.New("this container has no user of that number")
		}
	}
	return nil
})

// capabilities returns those of this process that are in effect.
func capabilities() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "\nCapEff:\t")
	effective, _, _ := strings.Cut(after, "\n")
	return strconv.ParseUint(effective, 16, 64)
}

// mapped reports whether a user namespace knows userID and listeningUserID.
func mapped(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count uint64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && userID >= inside &&
			listeningUserID < inside+count {
			return true
		}
	}
	return false
}

// userOf returns the user of a program, 0 for that of this process. A user of its own can read
// Policy.Read by a capability, which is only safe where Landlock says what it may read.
func userOf(p Policy) int {
	if ownUser() != nil {
		return 0 // Check says so
	}
	if len(p.Read) > 0 {
		const wanted = 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_SETPCAP
		mask, err := capabilities()
		version, _ := landlockVersion()
		if err != nil || mask&wanted != wanted || version == 0 {
			return 0
		}
	}
	if p.Listens {
		return listeningUserID
	}
	return userID
}

// noSetuidFixup is SECBIT_NO_SETUID_FIXUP (capabilities(7)).
const noSetuidFixup = 1 << 2

// changeUser gives this thread alone a user, unless that is 0. reads lets it read files of others.
func changeUser(user int, reads bool) error {
	if user == 0 {
		return nil
	}
	if reads { // otherwise the change drops all capabilities, and access(2) of the program ignores them
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noSetuidFixup, 0, 0, 0); err != nil {
			return fmt.Errorf("keep capabilities: %w", err)
		}
	}
	for _, call := range [][2]uintptr{
		{unix.SYS_SETGROUPS, 0}, {unix.SYS_SETRESGID, uintptr(user)}, {unix.SYS_SETRESUID, uintptr(user)},
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[1], call[1]); errno != 0 {
			return fmt.Errorf("change the user: %w", errno)
		}
	}
	if !reads {
		return nil
	}
	const only = 1 << unix.CAP_DAC_READ_SEARCH
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	sets := [2]unix.CapUserData{{Effective: only, Permitted: only, Inheritable: only}}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("limit the capabilities: %w", err)
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_DAC_READ_SEARCH, 0, 0)
}
