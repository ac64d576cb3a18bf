package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/base/config"
	dbserver "daawo/supabase/internal/database/server"
)

// tour is the page whose commands TestTour runs, in a folder of their own.
const tour = "docs/tour.md"

// TestTour runs the commands of the tour, which make a project that is not this one, and compares
// their output with the page.
func TestTour(t *testing.T) {
	t.Parallel() // TestCommandLine is parallel too
	before, after := tourSteps(t, tour)
	if len(before) < 3 || len(after) < 5 {
		t.Fatalf("%s has %d blocks before the start of the server and %d after it", tour, len(before), len(after))
	}
	takeTour(t, "notes", before, after)
}

// search is the tour of pgvector, pgTAP and plpgsql_check.
const search = "docs/search.md"

func TestTourOfSearch(t *testing.T) {
	t.Parallel()
	before, after := tourSteps(t, search)
	if len(before) < 2 || len(after) < 5 {
		t.Fatalf("%s has %d blocks before the start of the server and %d after it", search, len(before), len(after))
	}
	for _, name := range []string{"vector", "plpgsql_check", "pgtap"} {
		if !hasExtension(name) {
			t.Skip(dbserver.WhyAbsent(".", name))
		}
	}
	takeTour(t, "search", before, after)
}

// takeTour runs the commands of a page, which make a project, and compares their output with it.
func takeTour(t *testing.T, project string, before []string, after []tourStep) {
	t.Helper()
	dir := tourFolder(t)
	run := func(dir, script string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
		c.Dir, c.Env, c.WaitDelay = dir, tourEnvironment(t, dir), time.Minute // for what it leaves behind
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v %v\n%s\n%s", err, ctx.Err(), script, out)
		}
		return string(out)
	}
	run(dir, strings.Join(before, "\n"))
	if os.Getenv("SUPABASE_DB_DISTRIBUTION") == config.SupabasePostgres {
		run(dir+"/"+project, `daawo postgres add ${POSTGRES_ARCHIVE:+--from "$POSTGRES_ARCHIVE"}`)
	}

	startTour(t, dir+"/"+project, tourEnvironment(t, dir))

	compareTour(t, run(dir+"/"+project, tourScript(after)), after)
}

// tourMark separates the output of the blocks.
const tourMark = "---next---"

// tourScript returns the commands for one shell, as a reader has.
func tourScript(steps []tourStep) string {
	var script strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&script, "%s\necho; echo %s\n", step.commands, tourMark)
	}
	return script.String()
}

// compareTour compares the output of tourScript with the page.
func compareTour(t *testing.T, output string, steps []tourStep) {
	t.Helper()
	var got, want strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&want, "%s\n%s\n", strings.TrimSpace(step.output), tourMark)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(output, tourMark+"\n"), tourMark+"\n") {
		fmt.Fprintf(&got, "%s\n%s\n", strings.TrimSpace(part), tourMark)
	}
	if got.String() != want.String() {
		t.Errorf("the output is\n%s\nthe page says\n%s", got.String(), want.String())
	}
}

// startTour runs the server in a folder until the test ends. It returns when the server serves; its
// functions may still be built.
func startTour(t *testing.T, dir string, env []string) {
	t.Helper()
	server := exec.Command("daawo", "start")
	server.Dir, server.Env = dir, env
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // the server may have exited already
		kill := time.AfterFunc(time.Minute, func() { _ = server.Process.Kill() })
		defer kill.Stop()
		if err := <-exited; err != nil || t.Failed() {
			t.Errorf("the server: %v\n%s", err, log.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ; ; time.Sleep(100 * time.Millisecond) {
		c := exec.CommandContext(ctx, "daawo", "status")
		c.Dir, c.Env = dir, env
		if c.Run() == nil {
			return
		}
		select {
		case err := <-exited:
			exited <- err
			t.Fatal("the server exited before it was ready")
		default:
		}
		if ctx.Err() != nil {
			t.Fatal("the server is not ready after two minutes")
		}
	}
}

// tourStep is a block of commands and the output that the page shows for it.
type tourStep struct{ commands, output string }

// tourSteps reads the page: the commands before and after the start of the server.
func tourSteps(t *testing.T, page string) (before []string, after []tourStep) {
	t.Helper()
	text, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	started := false
	for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
		switch {
		case block[1] == "sh" && strings.TrimSpace(block[2]) == "daawo start":
			started = true
		case block[1] == "sh" && !started:
			before = append(before, block[2])
		case block[1] == "sh":
			after = append(after, tourStep{commands: block[2]})
		case block[1] == "text" && len(after) > 0:
			after[len(after)-1].output = block[2]
		}
	}
	return before, after
}

// tourFolder returns an empty folder below which Postgres may run.
func tourFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tour-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Chmod(dir, 0o755), // the user of Postgres must be able to enter
		os.Symlink(top+"/../node_modules", dir+"/node_modules"),
		os.Symlink(top+"/../bin", dir+"/bin"), // the compiled extensions
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tourEnvironment lets the server take free ports. The program daawo is this test binary: TestMain
// puts it into PATH.
func tourEnvironment(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	return append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+os.TempDir(),
		"GOMODCACHE="+values[0], "GOCACHE="+values[1], "GOPROXY="+values[2],
		"SUPABASE_API_PORT=0", "SUPABASE_DB_PORT=0", "SUPABASE_LOCAL_SMTP_PORT=0")
}
