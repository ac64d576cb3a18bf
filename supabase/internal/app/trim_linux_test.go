package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// fileMemory is how many kB of files this process has in memory.
func fileMemory(t *testing.T) (kb int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("how much of it is in memory is not told here: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "RssFile:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}

// TestTrim: what the start has read of the program goes, and the program goes on.
func TestTrim(t *testing.T) {
	before := fileMemory(t)
	trim()
	after := fileMemory(t)
	if after > before-1024 {
		t.Errorf("%d kB of files were in memory, %d still are", before, after)
	}
}
