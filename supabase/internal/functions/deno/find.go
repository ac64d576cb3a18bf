package deno

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/parts"
)

// Part is Deno in the version that was tested with this program, as npm's package has it.
var Part = parts.Part{Name: "deno", Version: "2.9.5", Program: "deno", Strip: "package"}

// Package returns the name of npm's package with Deno for this machine.
func Package() string { return "@deno/" + platform() }

// Advice says how to get Deno.
const Advice = "functions in TypeScript need Deno: `daawo deno add`, `npm install --save-dev deno` in the project, " +
	"or a program in DENO_PATH"

// MissingError means that this machine has no runtime. It says how to get it.
type MissingError string

// Error returns the advice.
func (e MissingError) Error() string { return string(e) }

// ErrNoDeno means that this machine has no Deno.
var ErrNoDeno error = MissingError(Advice)

// oldest is the first release of Deno with all flags that we use.
var oldest = [2]int{2, 4}

// Finder looks for Deno.
type Finder struct {
	Path   string       // DENO_PATH, "" for none
	Home   string       // folder of the project, whose node_modules may have Deno; "" for none
	Search string       // PATH
	Added  *parts.Store // may have Deno; nil for none
}

// Find returns the path of a Deno program: DENO_PATH, that of PATH, of the project's node_modules
// or the added one. The error is ErrNoDeno if there is none.
func (f Finder) Find(ctx context.Context) (string, error) {
	if f.Path != "" {
		if err := check(ctx, f.Path); err != nil {
			return "", fmt.Errorf("DENO_PATH: %w", err)
		}
		return f.Path, nil
	}
	var candidates []string
	for _, dir := range filepath.SplitList(f.Search) {
		if filepath.IsAbs(dir) {
			candidates = append(candidates, filepath.Join(dir, "deno"))
		}
	}
	if f.Home != "" {
		for dir := f.Home; ; dir = filepath.Dir(dir) {
			candidates = append(candidates, filepath.Join(dir, "node_modules", "@deno", platform(), "deno"))
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	var old error
	added, err := f.added()
	if err != nil {
		return "", err
	}
	for _, program := range append(slices.DeleteFunc(candidates, noProgram), added...) {
		err := check(ctx, program)
		if err == nil {
			return program, nil
		}
		old = errors.Join(old, err)
	}
	if old != nil {
		return "", old
	}
	return "", ErrNoDeno
}

// added returns the program that `daawo deno add` has added, if there is one.
func (f Finder) added() ([]string, error) {
	folder, ok, err := f.Added.FindLocked(Part)
	if !ok || err != nil {
		return nil, err
	}
	return []string{filepath.Join(folder, Part.Program)}, nil
}

// platform returns the part of the name of npm's package with Deno for this machine.
func platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	if runtime.GOOS == "linux" {
		return "linux-" + arch + "-glibc"
	}
	return runtime.GOOS + "-" + arch
}

// noProgram reports whether a file cannot be run or is a script: npm's script starts Deno as
// another process, whose memory we would not see.
func noProgram(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return true
	}
	file, err := os.Open(name)
	if err != nil {
		return true
	}
	defer file.Close()
	head, err := bufio.NewReader(file).Peek(2)
	return err != nil || string(head) == "#!"
}

// check returns an error if a program is no Deno or too old.
func check(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env = []string{"DENO_NO_UPDATE_CHECK=1", "NO_COLOR=1"}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s does not run: %w", program, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "deno" {
		return fmt.Errorf("%s is not Deno", program)
	}
	major, rest, _ := strings.Cut(words[1], ".")
	minor, _, _ := strings.Cut(rest, ".")
	version := [2]int{}
	for i, text := range []string{major, minor} {
		if version[i], err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%s has the version %s, which is not known", program, words[1])
		}
	}
	if version[0] < oldest[0] || version[0] == oldest[0] && version[1] < oldest[1] {
		return fmt.Errorf("%s is Deno %s; functions need %d.%d or later", program, words[1], oldest[0], oldest[1])
	}
	return nil
}
