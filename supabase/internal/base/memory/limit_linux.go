package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// Limit makes the garbage collector work harder near the memory limit of the container or the
// systemd unit, unless GOMEMLIMIT is set. Postgres in the same cgroup gets half of the limit.
func Limit(withPostgres bool) {
	limit := cgroupLimit("/proc/self/cgroup", "/sys/fs/cgroup")
	if os.Getenv("GOMEMLIMIT") != "" || limit == 0 {
		return
	}
	if withPostgres {
		debug.SetMemoryLimit(limit / 2)
		return
	}
	debug.SetMemoryLimit(limit / 10 * 9)
}

// cgroupLimit returns the smallest memory limit in bytes of the cgroups (version 2) that a process
// is in, or 0 for none. membership is the process's /proc/PID/cgroup, root the mount of the
// hierarchy. Inside a container the own group is the root.
func cgroupLimit(membership, root string) int64 {
	text, err := os.ReadFile(membership)
	if err != nil {
		return 0
	}
	least := int64(math.MaxInt64)
	for line := range strings.Lines(string(text)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
			if value, err := os.ReadFile(filepath.Join(root, dir, "memory.max")); err == nil {
				// not "max"
				if n, err := strconv.ParseInt(strings.TrimSpace(string(value)), 10, 64); err == nil && n > 0 {
					least = min(least, n)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// Available returns the bytes of memory of this machine or, if it is less, the limit of the
// container or the systemd unit. It returns 0 if that is not known.
func Available() int64 {
	machine := int64(0)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, rest, _ := strings.Cut(string(text), "MemTotal:")
		if words := strings.Fields(rest); len(words) > 0 {
			kilobytes, _ := strconv.ParseInt(words[0], 10, 64) // 0 means unknown
			machine = kilobytes << 10
		}
	}
	if limit := cgroupLimit("/proc/self/cgroup", "/sys/fs/cgroup"); limit > 0 && (machine == 0 || limit < machine) {
		return limit
	}
	return machine
}
