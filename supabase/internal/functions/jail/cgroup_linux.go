package jail

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup is the control group of a program; nil means none.
type cgroup struct{ path string }

var (
	errNoHierarchy = errors.New("there is no cgroup hierarchy of version 2")
	errNoGroups    = errors.New("the server may not make groups: run it as a service of systemd with Delegate=yes " +
		"and ProtectControlGroups=no, or as root")
)

const (
	groupPrefix = "daawo-functions-"
	serverGroup = "server" // of this process beside those of its programs
)

// controllers are those that a program's group needs.
var controllers = []string{"memory", "pids", "cpu"}

// divide returns the folder below which this process can make groups, or why there is none: its own
// group if systemd has delegated that, or the root of the machine. mount is the folder of the
// hierarchy, own the content of /proc/self/cgroup. A group with processes cannot have others with
// limits, so it moves those of a delegated group into one below.
func divide(mount, own string) (string, error) {
	path, ok := "", false
	for line := range strings.Lines(own) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			path, ok = filepath.Join(mount, name), true
		}
	}
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err != nil || !ok {
		return "", errNoHierarchy
	}
	parent := mount
	switch {
	case filepath.Base(path) == serverGroup:
		parent = filepath.Dir(path)
	case delegated(path):
		if err := moveInto(path, serverGroup); err != nil {
			return "", err
		}
		parent = path
	}
	text, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return "", err
	}
	for _, name := range controllers {
		if !slices.Contains(strings.Fields(string(text)), name) {
			return "", fmt.Errorf("the group %s has no controller %s", parent, name)
		}
	}
	enable := "+" + strings.Join(controllers, " +")
	if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte(enable), 0); err != nil {
		return "", errNoGroups
	}
	removeOld(parent)
	return parent, nil
}

// delegated reports whether systemd lets a service divide its own group: it gives that to the user
// of the service, or marks it.
func delegated(path string) bool {
	if !strings.HasSuffix(path, ".service") {
		return false // the groups of a terminal contain other programs
	}
	if os.Geteuid() == 0 {
		value := make([]byte, 1)
		n, err := unix.Getxattr(path, "trusted.delegate", value)
		return err == nil && string(value[:n]) == "1"
	}
	var info unix.Stat_t
	return unix.Stat(path, &info) == nil && int(info.Uid) == os.Geteuid()
}

// moveInto moves the processes of a group into one below it.
func moveInto(path, name string) error {
	target := filepath.Join(path, name)
	if err := os.Mkdir(target, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return errNoGroups
	}
	for range 100 { // processes start while others are moved
		text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return err
		}
		pids := strings.Fields(string(text))
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			err := os.WriteFile(filepath.Join(target, "cgroup.procs"), []byte(pid), 0)
			if err != nil && !errors.Is(err, syscall.ESRCH) { // it has ended
				return err
			}
		}
	}
	return fmt.Errorf("the group %s gets new processes again and again", path)
}

// removeOld removes empty groups of processes that were killed. Their names have the number of the
// process.
func removeOld(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*")) // the pattern is valid
	for _, path := range old {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), groupPrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			_ = os.Remove(path) // refused while it has processes
		}
	}
}

// newCgroup makes a group with limits. It returns nil if this process cannot make groups.
func newCgroup(p Policy) (*cgroup, error) {
	parent, err := findHierarchy()
	if err != nil {
		return nil, nil // Check says so
	}
	return newCgroupIn(parent, p)
}

func newCgroupIn(parent string, p Policy) (*cgroup, error) {
	name := fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), strings.ToLower(rand.Text()))
	g := &cgroup{filepath.Join(parent, name)}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, err
	}
	limits := map[string]string{"pids.max": strconv.Itoa(maxProcesses), "cpu.weight": "50"}
	if p.Nice > 0 {
		limits["cpu.weight"] = strconv.Itoa(100 / maxListening) // all have at most the share of the server
	}
	if p.Memory > 0 {
		limits["memory.max"], limits["memory.oom.group"] = strconv.FormatInt(p.Memory+p.Memory/4, 10), "1"
	}
	var err error
	for name, value := range limits {
		err = errors.Join(err, os.WriteFile(filepath.Join(g.path, name), []byte(value), 0o600))
	}
	if err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

// outOfMemory reports whether the kernel has ended a process of the group for its memory.
func (g *cgroup) outOfMemory() bool {
	if g == nil {
		return false
	}
	text, _ := os.ReadFile(filepath.Join(g.path, "memory.events"))
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return count != "0"
		}
	}
	return false
}

// kill ends all processes of the group. It returns false if there is no group, or if the kernel is
// older than 5.14 and cannot end one.
func (g *cgroup) kill() bool {
	return g != nil && os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0) == nil
}

// remove ends what is left in the group and removes it.
func (g *cgroup) remove() error {
	if g == nil {
		return nil
	}
	g.kill()
	var err error
	for range 100 {
		if err = os.Remove(g.path); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond) // the processes end
	}
	return err
}
