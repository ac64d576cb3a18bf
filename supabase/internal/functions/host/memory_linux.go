package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a process uses.
type usage struct {
	memory int64         // resident bytes
	busy   time.Duration // see busyOf
}

// usageOf returns the usage of a process, false if it has ended, also while its parent has not
// waited for it.
func usageOf(pid int) (usage, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, false
	}
	// The name of the program is in parentheses and may contain anything. Fields after it begin
	// with the third (proc(5)).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, vsize, rss = 0, 23 - 3, 24 - 3
	// A killed process gives up its address space first and then takes a while to end. Its resident
	// pages do not tell: the kernel counts them in batches, so a process that has just started has
	// none.
	if len(fields) <= rss || fields[state] == "Z" || fields[state] == "X" || fields[vsize] == "0" {
		return usage{}, false
	}
	pages, err := strconv.ParseInt(fields[rss], 10, 64)
	return usage{memory: pages * int64(os.Getpagesize()), busy: busyOf(pid)}, err == nil
}

// busyOf returns how long the threads of a process have run or have waited for a processor. So a
// process that computes all the time is as busy on a loaded machine as on an idle one. It returns 0
// if the kernel does not count the time.
func busyOf(pid int) (busy time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is valid
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var running, waiting int64 // nanoseconds
		if _, err := fmt.Sscan(string(text), &running, &waiting); err == nil {
			busy += time.Duration(running + waiting)
		}
	}
	return busy
}

// preferForOOM makes the kernel end this process before others when the machine has no memory left.
func preferForOOM(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0o644)
}
