package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"daawo/supabase/internal/app"
)

// stuck names a variable. With it, this test program runs a command that ignores its context.
const stuck = "DAAWO_TEST_STUCK"

// A second Ctrl-C ends a command that ignores the first.
func TestSecondInterruptKills(t *testing.T) {
	if os.Getenv(stuck) != "" {
		Main(context.Background(), Env{
			Args: []string{"status"}, Stdout: os.Stdout, Stderr: os.Stderr,
			Options: app.Options{Project: fstest.MapFS{}, Getenv: func(string) (string, bool) {
				os.Stdout.WriteString("running\n")
				time.Sleep(time.Minute)
				return "", false
			}},
		})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecondInterruptKills$")
	cmd.Env = append(os.Environ(), stuck+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
		t.Fatal(line, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 200 {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "interrupt") {
				t.Error(err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	t.Error("the command still runs")
}

func TestInterruptEndsPrompt(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var prompt strings.Builder
	inv := &Invocation{Env: &Env{Stdin: in, Stderr: &prompt}}
	time.AfterFunc(10*time.Millisecond, cancel)
	if inv.Confirm(ctx, "Delete?") {
		t.Error("an interrupt counts as yes")
	}
	if body, err := inv.readInput(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%q %v", body, err)
	}
}

func TestAwaitStop(t *testing.T) {
	running := func() bool { return true }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitStop(ctx, time.Minute, running); !errors.Is(err, context.Canceled) {
		t.Error("interrupted:", err)
	}
	if err := awaitStop(t.Context(), time.Millisecond, running); err == nil ||
		!strings.Contains(err.Error(), "has not stopped after") {
		t.Error("too long:", err)
	}
	if err := awaitStop(t.Context(), time.Minute, func() bool { return false }); err != nil {
		t.Error(err)
	}
}
