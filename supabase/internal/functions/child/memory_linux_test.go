package child

import (
	"os/exec"
	"testing"
	"time"
)

// TestMemoryOfEnded checks that the memory of a process is unknown once it has ended, also before
// its parent has waited for it. The kernel then still lists the process, without memory.
func TestMemoryOfEnded(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	if bytes, _, ok := Usage(cmd.Process.Pid); !ok || bytes == 0 {
		t.Errorf("a running process: %d bytes, %t", bytes, ok)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, _, ok := Usage(cmd.Process.Pid); !ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the memory of an ended process is known")
		}
	}
}
