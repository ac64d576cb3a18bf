package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// procAttr makes the kernel end the program when this process dies. A process group of its own
// keeps the terminal's Ctrl-C from it. given may be nil.
func procAttr(given *syscall.SysProcAttr) *syscall.SysProcAttr {
	if given == nil {
		given = &syscall.SysProcAttr{}
	}
	given.Pdeathsig = syscall.SIGTERM
	given.Setpgid = true
	return given
}

// groupMemory returns the resident bytes of the processes of a group.
func groupMemory(group int) (bytes int64) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		// The name of the program is in parentheses and may contain anything. Fields after it begin
		// with the third (proc(5)).
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		const pgrp, rss = 5 - 3, 24 - 3
		if len(fields) <= rss || fields[pgrp] != fmt.Sprint(group) {
			continue
		}
		if pages, err := strconv.ParseInt(fields[rss], 10, 64); err == nil {
			bytes += pages * int64(os.Getpagesize())
		}
	}
	return bytes
}
