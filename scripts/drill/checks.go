package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Drills whose experiment is a test of the module: it needs the inside of a part, or a clock of its own.

func accessDrill(ctx context.Context, _ settings) (string, error) {
	return tests(ctx, "TestAccess|TestExposed|TestFunctionsForVisitors|TestRESTAccess", "migrate", "app")
}

func attacksDrill(ctx context.Context, _ settings) (string, error) {
	return tests(ctx, "TestAttacks|TestNormalise|TestPanicsTellNothing|TestBodyLimit|TestRateOfOneAddress|TestSlow|TestBodies", "app", "gateway", "auth", "storage", "photo")
}

func clockDrill(ctx context.Context, _ settings) (string, error) {
	return tests(ctx, "Clock", "app", "auth", "fnhost", "keys", "outbox")
}

func upgradeDrill(ctx context.Context, _ settings) (string, error) {
	return tests(ctx, "TestCutAtEveryStatement|TestOlderRelease", "migrate", "app")
}

// tests runs the matching tests of some packages below supabase/internal and counts them. That none matches is a failure,
// too: the drill would prove nothing.
func tests(ctx context.Context, pattern string, packages ...string) (string, error) {
	args := []string{"test", "-count=1", "-json", "-run", pattern}
	for _, p := range packages {
		args = append(args, "./supabase/internal/"+p)
	}
	out, err := goCommand(ctx, args...)
	passed, failed := 0, []string{}
	var said strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			said.WriteString(lines.Text() + "\n")
			continue
		}
		switch {
		case event.Action == "pass" && event.Test != "":
			passed++
		case event.Action == "fail" && event.Test != "":
			failed = append(failed, event.Test)
		}
	}
	figures := fmt.Sprintf("%d tests passed, %d failed", passed, len(failed))
	switch {
	case len(failed) > 0:
		return figures, fmt.Errorf("failed: %s (go %s)", strings.Join(failed, ", "), strings.Join(args, " "))
	case err != nil:
		return figures, fmt.Errorf("%w: %s", err, said.String())
	case passed == 0:
		return figures, errors.New("no test matches: the drill proves nothing")
	}
	return figures, nil
}

// goCommand runs the go command in the module and returns what it printed.
func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text, rerr := io.ReadAll(io.LimitReader(&errs, 4000)); rerr == nil && len(text) > 0 {
			err = fmt.Errorf("%w: %s", err, text)
		}
	}
	return out, err
}
