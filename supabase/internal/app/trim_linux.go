package app

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// trim gives back what only the start needed: the heap's free pages, and the pages of the program's own file, among them
// the whole site, that were read once. The kernel keeps those in its cache while it has room, and the few that are needed
// again come from there.
func trim() {
	debug.FreeOSMemory()
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // without /proc they stay
	}
	defer maps.Close()
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	// proc_pid_smaps(5): a line "from-to mode offset device inode path", then lines "Name: value".
	var where string
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 6 && (fields[1] == "r--p" || fields[1] == "r-xp") && strings.Join(fields[5:], " ") == own:
			where = fields[0]
		case len(fields) >= 5:
			where = "" // another mapping
		// Pages that differ from the file, such as those that a dynamic linker has filled in, would be lost.
		case where != "" && len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0":
			giveBack(where)
		}
	}
}

// giveBack drops the pages of one mapping, written as in /proc, that hold nothing but what the file holds.
func giveBack(where string) {
	from, to, _ := strings.Cut(where, "-")
	begin, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil || end <= begin {
		return
	}
	// An advice: where it is not taken the pages stay.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
}
