package memory

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// fileMemory returns the kB of mapped files that this process has in memory.
func fileMemory(t *testing.T) (kb int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("no figures about memory: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "RssFile:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}

// TestTrim checks that Trim releases memory of the program file.
func TestTrim(t *testing.T) {
	before := fileMemory(t)
	Trim()
	after := fileMemory(t)
	if after > before-1024 {
		t.Errorf("%d kB of files were in memory before, %d after", before, after)
	}
}
