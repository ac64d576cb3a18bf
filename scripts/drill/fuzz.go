package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fuzzTarget is one fuzz test of the module.
type fuzzTarget struct{ dir, name string }

// fuzzDrill runs every fuzz target of the module; the short form runs only the checked-in corpus.
func fuzzDrill(ctx context.Context, s settings) (string, error) {
	targets, err := fuzzTargets("supabase", "functions")
	if err != nil {
		return "", err
	}
	if len(targets) == 0 {
		return "", fmt.Errorf("no fuzz target found: run the drill in the module's folder")
	}
	if s.short {
		args := []string{"test", "-count=1", "-run", "^Fuzz"}
		seen := map[string]bool{}
		for _, t := range targets {
			if !seen[t.dir] {
				seen[t.dir] = true
				args = append(args, "./"+t.dir)
			}
		}
		out, err := goCommand(ctx, args...)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return fmt.Sprintf("%d targets, corpus only", len(targets)), err
	}
	return fuzzAll(ctx, targets, s.fuzz)
}

// fuzzAll builds each package once. Then it runs one target per processor at a time, with one
// worker each, so that no fuzzing time goes into compiling.
func fuzzAll(ctx context.Context, targets []fuzzTarget, each time.Duration) (string, error) {
	work, err := os.MkdirTemp("", "daawo-fuzz-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	cache, err := goCommand(ctx, "env", "GOCACHE")
	if err != nil {
		return "", err
	}
	module, err := goCommand(ctx, "list", "-m")
	if err != nil {
		return "", err
	}
	kept := filepath.Join(string(bytes.TrimSpace(cache)), "fuzz", string(bytes.TrimSpace(module)))
	programs := map[string]string{}
	for _, t := range targets {
		if programs[t.dir] != "" {
			continue
		}
		programs[t.dir] = filepath.Join(work, strings.ReplaceAll(t.dir, "/", "-"))
		if out, err := goCommand(ctx, "test", "-c", "-fuzz", ".", "-o", programs[t.dir], "./"+t.dir); err != nil {
			return "", fmt.Errorf("build the fuzz targets of %s: %w: %s", t.dir, err, out)
		}
	}

	var (
		running    sync.WaitGroup
		mu         sync.Mutex
		executions int
		broken     []error
		places     = make(chan struct{}, runtime.NumCPU())
	)
	for _, t := range targets {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			// Keep interesting inputs in the go command's cache for the next run.
			n, err := t.run(ctx, programs[t.dir], filepath.Join(kept, t.dir), each)
			mu.Lock()
			defer mu.Unlock()
			executions += n
			verdict := ""
			if err != nil {
				broken, verdict = append(broken, err), ", broken"
			}
			fmt.Printf("  %s %s: %d inputs%s\n", t.dir, t.name, n, verdict)
		})
	}
	running.Wait()
	return fmt.Sprintf("%d targets, %s each, %d inputs, %d broken", len(targets), each, executions, len(broken)),
		errors.Join(broken...)
}

// run fuzzes for a time and returns the number of inputs. On a busy machine the time can be over
// before the corpus has been run once. Then run tries again with more time.
func (t fuzzTarget) run(ctx context.Context, program, cache string, each time.Duration) (int, error) {
	for tries := 1; ; tries++ {
		cmd := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$",
			"-test.fuzztime", each.String(), "-test.fuzzcachedir", cache, "-test.parallel", "1",
			"-test.fuzzminimizetime", "1s") // the default of a minute is too long
		cmd.Dir = t.dir // failing inputs are written to testdata/fuzz there
		out, err := cmd.CombinedOutput()
		n := lastExecutions(out)
		// If the time ends while a worker starts an input, package testing reports a failure, but
		// without a failing input.
		ended := bytes.Contains(out, []byte("context deadline exceeded")) &&
			!bytes.Contains(out, []byte("Failing input"))
		switch {
		case err != nil && ended && tries < 3:
		case err != nil:
			return n, fmt.Errorf("%s in %s: %w: %s", t.name, t.dir, err, out)
		case n > 0:
			return n, nil
		case tries == 3:
			return 0, fmt.Errorf("%s in %s: the corpus did not finish in %d tries, the last of %s: %s", t.name, t.dir,
				tries, each, out)
		}
		each *= 2
	}
}

var (
	fuzzFunc   = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	fuzzedLine = regexp.MustCompile(`execs: (\d+)`)
)

// fuzzTargets finds the targets in the sources, because listing them with the go command would
// build every test.
func fuzzTargets(roots ...string) ([]fuzzTarget, error) {
	var found []fuzzTarget
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
				found = append(found, fuzzTarget{filepath.Dir(path), string(m[1])})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// lastExecutions returns the number of inputs in the go command's output.
func lastExecutions(out []byte) int {
	all := fuzzedLine.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(all[len(all)-1][1])) // digits only
	return n
}
