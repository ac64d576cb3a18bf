package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// fuzzTarget is one fuzz test of the module.
type fuzzTarget struct{ dir, name string }

// fuzzDrill gives every fuzz target of the module its time; in the short form only the corpus that is checked in.
func fuzzDrill(ctx context.Context, s settings) (string, error) {
	targets, err := fuzzTargets("supabase", "functions")
	if err != nil {
		return "", err
	}
	if len(targets) == 0 {
		return "", fmt.Errorf("no fuzz target was found: run the drill in the module's folder")
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
	executions := 0
	for i, t := range targets {
		out, err := goCommand(ctx, "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", s.fuzz.String(), "./"+t.dir)
		n := lastExecutions(out)
		executions += n
		fmt.Printf("  %s %s: %d inputs\n", t.dir, t.name, n)
		if err != nil {
			return fmt.Sprintf("target %d of %d", i+1, len(targets)), fmt.Errorf("%s in %s: %w: %s", t.name, t.dir, err, out)
		}
		if n == 0 {
			return fmt.Sprintf("target %d of %d", i+1, len(targets)), fmt.Errorf("%s in %s tried no input", t.name, t.dir)
		}
	}
	return fmt.Sprintf("%d targets, %s each, %d inputs, no crash", len(targets), s.fuzz, executions), nil
}

var (
	fuzzFunc   = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	fuzzedLine = regexp.MustCompile(`execs: (\d+)`)
)

// fuzzTargets finds the targets in the sources: listing them with the go command would build every test of the module.
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

// lastExecutions is how many inputs the go command says it has tried.
func lastExecutions(out []byte) int {
	all := fuzzedLine.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(all[len(all)-1][1])) // digits only
	return n
}
