package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Reasons for which a server cannot start or run. Start wraps them in a
// sentence that says what happened and what to do.
var (
	ErrPortTaken      = errors.New("port taken")
	ErrNotTraversable = errors.New("folder not traversable")
	ErrDiskFull       = errors.New("disk full")
	ErrOtherVersion   = errors.New("data of another Postgres version")
	ErrInUse          = errors.New("data folder in use")
	ErrForeignFolder  = errors.New("not a data folder")
	ErrNoPackage      = errors.New("package of Postgres not found")
	ErrNotDurable     = errors.New("durability is off")
	ErrStopped        = errors.New("server stopped")
)

// plainError is a sentence for people that still matches its reason.
type plainError struct {
	reason error
	text   string
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.reason }

func plainly(reason error, format string, args ...any) error {
	return &plainError{reason, fmt.Sprintf(format, args...)}
}

// explain turns a failure into a plain error. what names the failed step; lines
// are the last messages of the Postgres program that failed, if it was one.
func explain(what string, o Options, cause error, lines ...string) error {
	said := strings.Join(lines, "\n")
	says := func(reason error, words string) bool {
		return errors.Is(cause, reason) || strings.Contains(said, words)
	}
	switch {
	case says(syscall.ENOSPC, "No space left on device"), says(syscall.EDQUOT, "Disk quota exceeded"):
		return plainly(ErrDiskFull, "%s: the disk that holds %s is full: free some space and start again", what, o.Data)
	case says(syscall.EADDRINUSE, "Address already in use"):
		return portTaken(o.Port)
	case strings.Contains(said, "database files are incompatible with server"):
		return plainly(ErrOtherVersion, "%s: %s was written by an incompatible build of Postgres; export it with the program that made it, then `daawo migrate` and `daawo import` into a new folder", what, o.Data)
	case says(fs.ErrPermission, "Permission denied"):
		if said == "" {
			said = cause.Error()
		}
		return plainly(ErrNotTraversable, "%s: %s may not be used: %s", what, o.Data, said)
	case said == "":
		return fmt.Errorf("%s: %w", what, cause)
	}
	return fmt.Errorf("%s: %w: %s", what, cause, said)
}

func portTaken(port int) error {
	return plainly(ErrPortTaken, "port %d of 127.0.0.1 is taken by another program: stop it, or choose another port for the database (0 picks a free one)", port)
}
