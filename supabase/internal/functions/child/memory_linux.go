package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTicks is the unit of times in /proc, per second. It is 100 on all platforms (USER_HZ).
const clockTicks = 100

// Usage returns the resident bytes of a process and the processor time that it has used. It returns
// false if the process has ended, also while its parent has not waited for it.
func Usage(pid int) (bytes int64, processor time.Duration, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name of the program is in parentheses and may contain anything. Fields after it begin
	// with the third (proc(5)).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, utime, stime, vsize, rss = 0, 14 - 3, 15 - 3, 23 - 3, 24 - 3
	// A killed process gives up its address space first and then takes a while to end. Its resident
	// pages do not tell: the kernel counts them in batches, so a process that has just started has
	// none.
	if len(fields) <= rss || fields[state] == "Z" || fields[state] == "X" || fields[vsize] == "0" {
		return 0, 0, false
	}
	var n [3]int64
	for i, field := range []int{rss, utime, stime} {
		if n[i], err = strconv.ParseInt(fields[field], 10, 64); err != nil {
			return 0, 0, false
		}
	}
	return n[0] * int64(os.Getpagesize()), time.Duration(n[1]+n[2]) * time.Second / clockTicks, true
}

// PreferForOOM makes the kernel end this process before others when the machine has no memory left.
func PreferForOOM(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0o644)
}
