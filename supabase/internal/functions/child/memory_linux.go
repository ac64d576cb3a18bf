package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memoryOf returns the resident bytes of a process, false if it has ended, also while its parent
// has not waited for it.
func memoryOf(pid int) (bytes int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name of the program is in parentheses and may contain anything. Fields after it begin
	// with the third (proc(5)).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, vsize, rss = 0, 23 - 3, 24 - 3
	// A killed process gives up its address space first and then takes a while to end. Its resident
	// pages do not tell: the kernel counts them in batches, so a process that has just started has
	// none.
	if len(fields) <= rss || fields[state] == "Z" || fields[state] == "X" || fields[vsize] == "0" {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[rss], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// preferForOOM makes the kernel end this process before others when the machine has no memory left.
func preferForOOM(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0o644)
}
