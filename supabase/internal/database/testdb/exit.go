package testdb

import (
	"io"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// atExit is the process that StopAtExit starts once.
var atExit struct {
	sync.Once
	alive io.WriteCloser // its standard input; held until this process ends
	err   error
}

// stopScript waits for the end of the test binary, which holds the other end of its standard input.
const stopScript = `
cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid") && kill -INT "$pid"
for i in 1 2 3 4 5 6 7 8 9 10; do
  test -e "$1/data/postmaster.pid" || break
  sleep 1
done
rm -rf "$1"`

// StopAtExit stops the server after this process has ended. It is for test binaries whose TestMain
// is not Main.
func StopAtExit(t testing.TB) {
	t.Helper()
	Server(t)
	atExit.Do(func() {
		cmd := exec.Command("sh", "-c", stopScript, "sh", shared.dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C must not end it
		if atExit.alive, atExit.err = cmd.StdinPipe(); atExit.err == nil {
			atExit.err = cmd.Start()
		}
	})
	if atExit.err != nil {
		t.Fatalf("testdb: %v", atExit.err)
	}
}

// Template makes a database that Copy can copy. fill gets the connection string of role postgres.
func Template(t testing.TB, fill func(url string) error) (name string, err error) {
	t.Helper()
	db := newFrom(keeping{t}, template)
	return db.Name, fill(db.URL("postgres"))
}

// Copy makes a database as a copy of one that Template made, and drops it when the test ends.
func Copy(t testing.TB, name string) *DB {
	t.Helper()
	return newFrom(t, name)
}

// keeping is a test without clean-up: the database outlives it.
type keeping struct{ testing.TB }

func (keeping) Cleanup(func()) {}
