package jail

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cgroup is the control group of a program; nil means none.
type cgroup struct{ path string }

var (
	errNoHierarchy = errors.New("there is no cgroup hierarchy of version 2")
	errNoGroups    = errors.New("the server may not make groups: let systemd delegate one (Delegate=yes and " +
		"DelegateSubgroup=server), or run as root")
)

// controllers are those that a program's group needs.
const controllers = "+memory +pids +cpu"

// findHierarchy returns the folder below which this process can make groups, or why there is none:
// beside its own group if systemd has delegated that, or at the root of the machine.
var findHierarchy = sync.OnceValues(func() (string, error) {
	const root = "/sys/fs/cgroup"
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", errNoHierarchy
	}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		return "", errNoHierarchy
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(own)), "0::")
	if !ok {
		return "", errNoHierarchy
	}
	parent := root
	if filepath.Base(path) == "server" {
		parent = filepath.Join(root, filepath.Dir(path))
	}
	if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte(controllers), 0); err != nil {
		return "", errNoGroups
	}
	return parent, nil
})

// newCgroup makes a group with limits. It returns nil if this process cannot make groups.
func newCgroup(memory int64) (*cgroup, error) {
	parent, err := findHierarchy()
	if err != nil {
		return nil, nil // Check says so
	}
	g := &cgroup{filepath.Join(parent, "daawo-functions-"+strings.ToLower(rand.Text()))}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, err
	}
	limits := map[string]string{"pids.max": strconv.Itoa(maxProcesses), "cpu.weight": "50"}
	if memory > 0 {
		limits["memory.max"], limits["memory.oom.group"] = strconv.FormatInt(memory+memory/4, 10), "1"
	}
	for name, value := range limits {
		err = errors.Join(err, os.WriteFile(filepath.Join(g.path, name), []byte(value), 0))
	}
	if err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

// add moves a process into the group.
func (g *cgroup) add(pid int) error {
	if g == nil {
		return nil
	}
	err := os.WriteFile(filepath.Join(g.path, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
	if errors.Is(err, syscall.ESRCH) {
		return nil // it has ended
	}
	return err
}

// remove ends what is left in the group and removes it.
func (g *cgroup) remove() error {
	if g == nil {
		return nil
	}
	_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0) // kernels before 5.14 have no such file
	var err error
	for range 100 {
		if err = os.Remove(g.path); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond) // the processes end
	}
	return err
}
