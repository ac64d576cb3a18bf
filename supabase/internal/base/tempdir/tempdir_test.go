package tempdir

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestMain also is the process of TestSweepAfterKill, which makes a folder, prints its path and
// waits.
func TestMain(m *testing.M) {
	base := os.Getenv("TEMPDIR_TEST_BASE")
	if base == "" {
		os.Exit(m.Run())
	}
	d, err := New(base, "test")
	if err == nil {
		err = os.WriteFile(filepath.Join(d.Path, "socket"), nil, 0o600)
	}
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(d.Path + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// TestSweepAfterKill checks that Sweep keeps the folder of a process that runs, and removes it
// after the process was killed.
func TestSweepAfterKill(t *testing.T) {
	base := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEMPDIR_TEST_BASE="+base)
	_, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	defer kill()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the process printed no path")
	}
	path := lines.Text()
	if err := Sweep(base); err != nil || !exists(filepath.Join(path, "socket")) {
		t.Fatalf("while the process runs: %v, the folder exists: %v", err, exists(path))
	}
	kill()
	if err := Sweep(base); err != nil || exists(path) {
		t.Errorf("after its end: %v, the folder exists: %v", err, exists(path))
	}
}

// TestSweepKeepsOthers checks that Sweep leaves the folders of this process, folders and files that
// New has not made, and what a symbolic link names.
func TestSweepKeepsOthers(t *testing.T) {
	base, target := t.TempDir(), t.TempDir()
	own, err := New(base, "test")
	if err != nil {
		t.Fatal(err)
	}
	kept := []string{own.Path, filepath.Join(base, "daawo-0123456789"), filepath.Join(base, prefix+"file"),
		filepath.Join(base, prefix+"link"), target}
	err = errors.Join(os.Mkdir(kept[1], 0o700), os.WriteFile(kept[2], nil, 0o600), os.Symlink(target, kept[3]))
	if err != nil {
		t.Fatal(err)
	}
	if err := Sweep(base); err != nil {
		t.Error(err)
	}
	for _, path := range kept {
		if !exists(path) {
			t.Errorf("%s was removed", path)
		}
	}
	for range 2 {
		if err := own.Remove(); err != nil || exists(own.Path) {
			t.Errorf("Remove: %v, the folder exists: %v", err, exists(own.Path))
		}
	}
	if err := Sweep(filepath.Join(base, "absent")); err != nil {
		t.Errorf("a base that does not exist: %v", err)
	}
	if err := (*Dir)(nil).Remove(); err != nil {
		t.Error(err)
	}
}

// TestNewWhileSweeping checks that processes which make folders and sweep at the same moment never
// lose a folder in use.
func TestNewWhileSweeping(t *testing.T) {
	base := t.TempDir()
	var makers, sweepers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := Sweep(base); err != nil {
					t.Error(err)
					return
				}
			}
		})
		makers.Go(func() {
			for range 100 {
				d, err := New(base, "test")
				if err == nil {
					err = os.WriteFile(filepath.Join(d.Path, "socket"), nil, 0o600)
				}
				if err == nil {
					err = d.Remove()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	makers.Wait()
	close(done)
	sweepers.Wait()
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("%d folders are left: %v", len(left), err)
	}
}
