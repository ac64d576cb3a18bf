package postgres

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

// maxSocketPath is what the kernel allows for a unix socket's path, in bytes,
// less the longest name Postgres puts there (.s.PGSQL.65535.lock).
const maxSocketPath = 103 - len("/.s.PGSQL.65535.lock")

// socketDir returns a private folder for the socket. Its name follows from the
// data folder's, so that a restart finds and cleans what a crash left.
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
			last = fmt.Errorf("the path of %s is too long for a unix socket", dir)
			continue
		}
		if last = claimPrivate(dir, w); last == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder for the database's socket: %w", last)
}

// claimPrivate makes dir, or accepts it when it is a real folder that nobody
// but the owner can use: in a shared place like /tmp a stranger may have made it.
func claimPrivate(dir string, w owner) error {
	if err := os.Mkdir(dir, 0o700); err == nil {
		return w.own(dir)
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

// clearSocketDir removes what dead postmasters left in the socket's folder. The pid file names it only once the socket is
// there: one killed before that leaves a lock which looks alive when its pid is somebody else's now, or nobody has reaped
// it. The folder is ours alone, and no server runs on our data.
func (s *Server) clearSocketDir() error {
	left, err := filepath.Glob(filepath.Join(s.socketDir, ".s.PGSQL.*"))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what a dead server left: %w", err)
		}
	}
	return nil
}
