package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBackupWithoutInstallation checks that a wrong data folder is an error, and creates neither an
// installation nor a store.
func TestBackupWithoutInstallation(t *testing.T) {
	data := dataFolder(t)
	store := filepath.Join(filepath.Dir(data), "store")
	_, err := newApp(t, data, nil).Backup(t.Context(), store, func(string, int64, int64) {})
	if err == nil || !strings.Contains(err.Error(), data+" holds no installation") {
		t.Errorf("backup: %v", err)
	}
	for _, name := range []string{data, store} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists: %v", name, err)
		}
	}
}

// TestFailedRestoreLeavesNoFolder checks that a restore that cannot begin leaves no data folder.
func TestFailedRestoreLeavesNoFolder(t *testing.T) {
	data := filepath.Join(dataFolder(t), "deep", "data")
	for _, store := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		_, err := newApp(t, data, nil).Restore(t.Context(), store, time.Time{}, nil, func(string, int64, int64) {})
		if err == nil {
			t.Error("a restore from an empty store succeeds")
		}
		if _, err := os.Lstat(filepath.Dir(filepath.Dir(data))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the restore left %s behind: %v", data, err)
		}
	}
}

// TestBrokenDataFolder starts on data folders that lost a part. The error names the part and the
// command that restores a backup.
func TestBrokenDataFolder(t *testing.T) {
	data := dataFolder(t)
	store := filepath.Join(filepath.Dir(data), "store")
	a := newApp(t, data, nil)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	info := a.Info()
	if status, body := call(t, "POST", info.Get("API_URL")+"/storage/v1/object/avatars/a.png", onePixel, "apikey",
		info.Get("SECRET_KEY"), "Content-Type", "image/png"); status != 200 {
		t.Fatalf("upload: %d %s", status, body)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(path string) error{
		"postgres/global/pg_control": os.Remove,
		"postgres/PG_VERSION":        os.Remove,
		"postgres/pg_wal":            os.RemoveAll,
		"postgres/base":              os.RemoveAll,
		"storage":                    os.RemoveAll,
		"postgres/pg_wal/*":          removeMatches,
		"postgres":                   os.RemoveAll, // a new database would have no row for the stored file
		"postgres/global/pg_control*": func(path string) error {
			return os.WriteFile(strings.TrimSuffix(path, "*"), make([]byte, 8192), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken := dataFolder(t)
			copyFolder(t, data, broken)
			if err := damage(filepath.Join(broken, name)); err != nil {
				t.Fatal(err)
			}
			again := newApp(t, broken, map[string]string{"BACKUP_TO": store})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			err := again.Start(ctx)
			if err == nil {
				t.Error("it starts")
				_ = again.Close(t.Context())
				return
			}
			command := "daawo restore --from " + store + " --data " + broken
			if part := strings.TrimRight(filepath.Join(broken, name), "/*"); !strings.Contains(err.Error(), command) ||
				!strings.Contains(err.Error(), part) {
				t.Errorf("the error is %q,\nwant %s and %s", err, part, command)
			}
		})
	}
}

// TestStartAfterInterruptedRestore starts on the folder of a killed restore. A new database
// would take its place.
func TestStartAfterInterruptedRestore(t *testing.T) {
	data := dataFolder(t)
	rest := filepath.Join(data, "postgres.restoring")
	if err := os.MkdirAll(rest, 0o755); err != nil {
		t.Fatal(err)
	}
	a := newApp(t, data, map[string]string{"BACKUP_TO": "/mnt/usb/daawo"})
	err := a.Start(t.Context())
	if err == nil {
		t.Error("it starts")
		_ = a.Close(t.Context())
	} else if want := "daawo restore --from /mnt/usb/daawo --data " + data; !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), rest) {
		t.Errorf("the error is %q, want %s", err, want)
	}
	if _, err := os.Lstat(filepath.Join(data, "postgres")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database was made: %v", err)
	}
}

func removeMatches(pattern string) error {
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		if info, e := os.Stat(name); e == nil && !info.IsDir() {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// copyFolder copies a data folder with its owners, which differ if root runs the test.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
