package memory

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// fileMemory returns the kB of mapped files in the memory of this process. The kernel counts files
// on a file system in memory apart.
func fileMemory(t *testing.T) (kb int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("no figures about memory: %v", err)
	}
	for _, name := range []string{"RssFile:", "RssShmem:"} {
		_, rest, _ := strings.Cut(string(text), name)
		var part int
		if _, err := fmt.Sscan(rest, &part); err != nil {
			t.Fatal(err)
		}
		kb += part
	}
	return kb
}

// TestTrim checks that Trim releases memory of the program file.
func TestTrim(t *testing.T) {
	before := fileMemory(t)
	Trim()
	after := fileMemory(t)
	if after > before-256 {
		t.Errorf("%d kB of files were in memory before, %d after", before, after)
	}
}
