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
	deadline := time.Now().Add(time.Minute)
	for bytes := int64(0); bytes == 0; time.Sleep(time.Millisecond) { // a process that was forked just now has none
		var ok bool
		if bytes, _, ok = Usage(cmd.Process.Pid); !ok || time.Now().After(deadline) {
			t.Fatalf("a running process: %d bytes, %t", bytes, ok)
		}
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	for ; ; time.Sleep(time.Millisecond) {
		if _, _, ok := Usage(cmd.Process.Pid); !ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the memory of an ended process is known")
		}
	}
}
