package memory

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCgroupLimit(t *testing.T) {
	root := t.TempDir()
	membership := filepath.Join(root, "membership")
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("membership", "0::/system.slice/notes.service\n")
	if got := cgroupLimit(membership, root); got != 0 {
		t.Errorf("without a limit: %d", got)
	}
	write("system.slice/notes.service/memory.max", "max\n")
	write("system.slice/memory.max", "314572800\n")
	if got := cgroupLimit(membership, root); got != 300<<20 {
		t.Errorf("with the limit of the slice: %d", got)
	}
	write("system.slice/notes.service/memory.max", "1048576\n")
	if got := cgroupLimit(membership, root); got != 1<<20 {
		t.Errorf("with both: %d", got)
	}
	write("memory.max", "524288\n") // the root of a container
	if got := cgroupLimit(membership, root); got != 1<<19 {
		t.Errorf("in a container: %d", got)
	}
	if got := cgroupLimit(filepath.Join(root, "absent"), root); got != 0 {
		t.Errorf("without cgroups: %d", got)
	}
}
