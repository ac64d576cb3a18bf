package host

import (
	"errors"
	"os/exec"
	"testing"
	"time"
)

// TestSettleEnded checks that a bundle which ends during its trial is refused also before its
// parent has waited for it. The kernel then still lists it, without memory, which looked like a
// calm process.
func TestSettleEnded(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	if _, ok := usageOf(cmd.Process.Pid); !ok {
		t.Error("the usage of a running process is not known")
	}
	time.AfterFunc(observation/10, func() { _ = stdin.Close() })
	b := &deployed{memory: 1 << 30}
	if err := b.settle(t.Context(), &process{cmd: cmd, exited: make(chan struct{})}); !errors.Is(err, errEnded) {
		t.Errorf("%v, want %v", err, errEnded)
	}
	if _, ok := usageOf(cmd.Process.Pid); ok {
		t.Error("the usage of an ended process is known")
	}
}
