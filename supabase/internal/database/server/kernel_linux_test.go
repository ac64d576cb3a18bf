package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mountSmall mounts a tmpfs of size bytes at dir for one test.
func mountSmall(t *testing.T, dir string, size int) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", size)); err != nil {
		t.Skipf("needs permission to mount: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

func TestUnreapedPostmaster(t *testing.T) {
	o := options(t)
	s := start(t, o)
	stop(t, s)
	// A dead child that was not reaped.
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, zombie.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%d\n%s\n1\n%d\n%s\n127.0.0.1\n1 1\nready   \n", zombie.Process.Pid, o.Data, s.Port(),
		s.socketDir)
	if err := os.WriteFile(filepath.Join(o.Data, "postmaster.pid"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, o).URL(Superuser), `select 1`)
}

// A killed server has no program any more, but may still hold its shared memory.
// The next start must wait for it.
func TestDyingProcessCountsAsPostgres(t *testing.T) {
	dead := exec.Command("true") // a zombie has no program either
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	defer dead.Wait()
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, dead.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if !isPostgres(strconv.Itoa(dead.Process.Pid)) {
		t.Error("isPostgres is false for a process without a program")
	}
	if isPostgres(strconv.Itoa(os.Getpid())) {
		t.Error("isPostgres is true for this test")
	}
}
