package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the longest allowed path of the socket's folder, in bytes:
// the kernel's limit minus the longest file name that Postgres adds
// (.s.PGSQL.65535.lock).
const maxSocketPath = 103 - len("/.s.PGSQL.65535.lock")

// makeSocketDir returns a private folder for the socket. The name is a hash of
// the data folder's path, so a restart finds and cleans the same folder.
func makeSocketDir(o Options, w owner) (string, error) {
	sum := sha256.Sum256([]byte(o.Data))
	name := "daawo-" + hex.EncodeToString(sum[:5])
	bases := []string{os.TempDir(), "/tmp"}
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" && !w.other {
		bases = append([]string{run}, bases...)
	} else if w.other {
		bases = append([]string{"/run"}, bases...)
	}
	if o.SocketDir != "" {
		name, bases = filepath.Base(o.SocketDir), []string{filepath.Dir(o.SocketDir)}
	}
	var last error
	for _, base := range bases {
		dir := filepath.Join(base, name)
		if len(dir) > maxSocketPath {
			last = fmt.Errorf("path %s is too long for a unix socket", dir)
			continue
		}
		if last = ensurePrivateDir(dir, w); last == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("make a folder for the database socket: %w", last)
}

// ensurePrivateDir creates dir, or accepts an existing folder that only the
// owner can use. Another user may have created it in a shared place like /tmp.
func ensurePrivateDir(dir string, w owner) error {
	if err := os.Mkdir(dir, 0o700); err == nil {
		return w.chown(dir)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st := info.Sys().(*syscall.Stat_t); !info.IsDir() || st.Uid != w.uid || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s exists and is not a private folder of user %s", dir, w.name)
	}
	return nil
}

// clearSocketDir removes the socket and lock files that dead postmasters left. A postmaster that is
// killed before it writes the socket into its pid file leaves only a lock file. That lock looks
// valid if another process has the pid now, or if the dead process was not reaped. Removing it is
// safe: the folder is private and no server runs on our data.
func (s *Server) clearSocketDir() error {
	left, err := filepath.Glob(filepath.Join(s.socketDir, ".s.PGSQL.*"))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove files of a dead server: %w", err)
		}
	}
	return nil
}
