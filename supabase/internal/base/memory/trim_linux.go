package memory

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Trim returns memory that no request needs to the kernel: free pages of the heap, and pages of the
// executable, which contains the whole site. The kernel still has the latter in its page cache, so
// reading them again is cheap.
func Trim() {
	debug.FreeOSMemory()
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // no /proc
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
		// Skip mappings with changed pages, for example by the dynamic linker: the changes would be
		// lost.
		case where != "" && len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0":
			dropPages(where)
		}
	}
}

// dropPages drops the pages of one mapping, which is given as in /proc ("from-to"). All pages must
// equal the file.
func dropPages(where string) {
	from, to, _ := strings.Cut(where, "-")
	begin, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil || end <= begin {
		return
	}
	// If the kernel ignores this advice, the pages stay in memory.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
}
