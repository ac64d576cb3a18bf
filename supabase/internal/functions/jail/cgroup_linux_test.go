package jail

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCgroup checks the limits of a program on this machine's hierarchy.
func TestCgroup(t *testing.T) {
	parent, err := findHierarchy()
	if err != nil {
		t.Skip("this machine gives no cgroup:", err)
	}
	ended, err := exec.Command("/bin/sh", "-c", "echo $$").Output()
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(parent, groupPrefix+strings.TrimSpace(string(ended))+"-x")
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if removeOld(parent); isThere(old) {
		t.Error("the group of an ended process is left")
	}
	run := func(memory int64, script string) (*Cell, error) {
		policy := Policy{Program: "/bin/sh", Memory: memory}
		cell, err := Command(policy)
		if err != nil {
			t.Fatal(err)
		}
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		cell.Cmd.Stdin, cell.Cmd.Args = read, append(cell.Cmd.Args, "-c", "read line; "+script)
		if err := cell.Start(policy); err != nil {
			t.Fatal(err)
		}
		member, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", cell.Cmd.Process.Pid))
		if err != nil || !strings.Contains(string(member), filepath.Base(cell.group.path)) {
			t.Errorf("the program is in %s %v", member, err)
		}
		_ = write.Close() // the script begins
		return cell, cell.Cmd.Wait()
	}
	many, err := run(0, "for i in $(seq 300); do sleep 60 & done")
	if err == nil {
		t.Error("300 processes were started")
	}
	greedy, err := run(32<<20, "text=x; while :; do text=$text$text; done")
	if err == nil || !greedy.OutOfMemory() || many.OutOfMemory() {
		t.Errorf("a program used more memory than it may: %v", err)
	}
	for _, cell := range []*Cell{many, greedy} {
		begun := time.Now()
		if err := cell.Close(); err != nil || isThere(cell.group.path) {
			t.Errorf("the group is left: %v", err)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("its processes ended after %v", took)
		}
	}
}

// TestBornInGroup checks that a program has its limits and its group before it runs, and that all
// that it starts belongs to the group.
func TestBornInGroup(t *testing.T) {
	t.Run("joins first", func(t *testing.T) {
		group := t.TempDir()
		procs := filepath.Join(group, "cgroup.procs")
		if err := syscall.Mkfifo(procs, 0o600); err != nil { // the launcher waits until it is read
			t.Fatal(err)
		}
		cell := startIn(t, group, "ulimit -n > begun")
		begun := filepath.Join(cell.Folder, "begun")
		time.Sleep(300 * time.Millisecond)
		if isThere(begun) {
			t.Error("the program runs before it is in its group")
		}
		if text, err := os.ReadFile(procs); err != nil || string(text) != "0" {
			t.Errorf("joined with %q, %v", text, err)
		}
		if err := cell.Cmd.Wait(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(begun); err != nil || string(text) != fmt.Sprintln(maxOpenFiles) {
			t.Errorf("the program ran with the limit %q, %v", text, err)
		}
		cell.group = nil // a folder
		if err := cell.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("starts others", func(t *testing.T) {
		group := filepath.Join(unified(t), groupPrefix+"test-"+strings.ToLower(rand.Text()))
		if err := os.Mkdir(group, 0o755); err != nil {
			t.Skip("this machine gives no group:", err)
		}
		cell := startIn(t, group, "for i in 1 2 3 4 5 6 7; do sleep 60 & done; wait")
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			text, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
			if err == nil && strings.Count(string(text), "\n") == 8 {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("the group has %q, %v", text, err)
				break
			}
		}
		if killed := cell.Kill(); killed != isThere(filepath.Join(group, "cgroup.kill")) {
			t.Errorf("the group was ended: %t", killed)
		} else if killed {
			awaitEmpty(t, group)
		}
		if err := cell.Close(); err != nil { // it ends what is in the group
			t.Error(err)
		}
		if cell.Kill() {
			t.Error("a removed group was ended")
		}
		if err := cell.Cmd.Wait(); err == nil {
			t.Error("the program was not ended with its group")
		}
	})
}

// awaitEmpty waits until a group has no process that runs.
func awaitEmpty(t *testing.T, group string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(group, "cgroup.events"))
		if err == nil && strings.Contains(string(text), "populated 0") {
			return
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the killed group has %q, %v", text, err)
		}
	}
}

// startIn starts a script in a group.
func startIn(t *testing.T, group, script string) *Cell {
	t.Helper()
	policy := Policy{Program: "/bin/sh"}
	cell, err := Command(policy)
	if err != nil {
		t.Fatal(err)
	}
	cell.group = &cgroup{group}
	cell.Cmd.Args = append(cell.Cmd.Args, "-c", script)
	cell.Cmd.Stderr = os.Stderr
	if err := cell.start(policy); err != nil {
		t.Fatal(err)
	}
	return cell
}

// unified returns a folder of a hierarchy of version 2, also of one without controllers.
func unified(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "cgroup2" {
			return fields[1]
		}
	}
	t.Skip("this machine has no hierarchy of version 2")
	return ""
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestDivide checks where groups are made, in folders that look like a hierarchy.
func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		name, own, available string
		want, problem        string
	}{
		{"version 1", "4:memory:/\n", "memory pids cpu", "", "no cgroup hierarchy"},
		{"a subgroup of the service", "1:name=systemd:/\n0::/system.slice/daawo.service/server\n", "memory pids cpu",
			"system.slice/daawo.service", ""},
		{"a terminal", "0::/user.slice/a.scope\n", "cpu io memory pids", ".", ""},
		{"a controller is missing", "0::/user.slice/a.scope\n", "cpu memory", "", "no controller pids"},
	} {
		mount := t.TempDir()
		for _, folder := range []string{".", "system.slice/daawo.service", "user.slice/a.scope"} {
			path := filepath.Join(mount, filepath.FromSlash(folder))
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"cgroup.controllers": tt.available, "cgroup.subtree_control": ""} {
				if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := divide(mount, tt.own)
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: %q %v", tt.name, got, err)
			}
			continue
		}
		if want := filepath.Join(mount, tt.want); got != want || err != nil {
			t.Errorf("%s: %q %v", tt.name, got, err)
		}
		enabled, err := os.ReadFile(filepath.Join(got, "cgroup.subtree_control"))
		if err != nil || string(enabled) != "+memory +pids +cpu" {
			t.Errorf("%s: enabled %q %v", tt.name, enabled, err)
		}
	}
}
