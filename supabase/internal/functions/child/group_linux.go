package child

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killOthers ends the processes with the mark of the group. It looks again after each that it has
// found, because that may have started another one.
func (g *Group) killOthers() {
	for ended := map[int]bool{}; ; {
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
		for _, file := range files {
			text, err := os.ReadFile(file) // it is empty after the process has ended
			if err != nil || !bytes.Contains(text, []byte(g.mark)) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil || ended[pid] {
				continue
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			ended[pid], found = true, true
		}
		if !found {
			return
		}
	}
}
