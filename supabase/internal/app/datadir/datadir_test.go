package datadir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDataFolderErrors checks that each error of the data folder says what the operator can do.
func TestDataFolderErrors(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "lock", Err: syscall.EACCES}
	own := t.TempDir()
	missing := filepath.Join(own, "missing")
	for _, check := range []struct {
		data string
		err  error
		says []string
	}{
		{missing, denied, []string{"permission denied", "install -d -m 0700 -o " + userName(os.Geteuid()) + " " +
			missing, "--data"}},
		{own, denied, []string{"permission denied", "chown -R", "--data"}},
		{own, syscall.ENOTDIR, []string{"not a directory: choose another folder with --data or DAAWO_DATA"}},
	} {
		for _, want := range check.says {
			if err := Error(check.data, check.err); !strings.Contains(err.Error(), want) {
				t.Errorf("%v lacks %q", err, want)
			}
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(own, 65533, 65533); err != nil {
			t.Fatal(err)
		}
		if err := Error(own, denied); !strings.Contains(err.Error(), "belongs to the user 65533, and this is "+
			userName(0)+": run the command as 65533") {
			t.Error(err)
		}
	}
	file := filepath.Join(own, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(file); err == nil || !strings.Contains(err.Error(), "choose another folder with --data") {
		t.Error(err)
	}
}

// TestLockWhileLockedIsAsked checks that Locked never prevents another process from locking the
// folder.
func TestLockWhileLockedIsAsked(t *testing.T) {
	data := t.TempDir()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			Locked(data)
		}
	}()
	t.Cleanup(func() { <-done })
	for range 200 {
		lock, err := Lock(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockWaitsForEnd checks that a start waits for a server that ends, and not for one that
// serves.
func TestLockWaitsForEnd(t *testing.T) {
	data := t.TempDir()
	lock, err := Lock(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteServer(data, Server{PID: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(data); err == nil || !strings.Contains(err.Error(), "already runs") {
		t.Fatalf("locked beside a server: %v", err)
	}
	if err := os.Remove(filepath.Join(data, serverFile)); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(3*lockPatience, func() { _ = lock.Close() })
	again, err := Lock(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
