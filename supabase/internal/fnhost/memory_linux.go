package fnhost

import (
	"fmt"
	"os"
	"strings"
)

// usage is what a process uses.
type usage struct {
	memory int64 // resident bytes
	cpu    int64 // ticks of 10 ms
}

// usageOf returns the usage of a process, false if it has ended.
func usageOf(pid int) (usage, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, false
	}
	// The name of the program is in parentheses and may contain anything. Fields after it begin with the third (proc(5)).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system, pages int64
	const utime, stime, rss = 14 - 3, 15 - 3, 24 - 3
	if len(fields) <= rss {
		return usage{}, false
	}
	for at, into := range map[int]*int64{utime: &user, stime: &system, rss: &pages} {
		if _, err := fmt.Sscan(fields[at], into); err != nil {
			return usage{}, false
		}
	}
	return usage{memory: pages * int64(os.Getpagesize()), cpu: user + system}, true
}

// preferForOOM makes the kernel end this process before others when the machine has no memory left.
func preferForOOM(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0o644)
}
