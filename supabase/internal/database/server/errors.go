package server

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Reasons why a server cannot start or run. Start wraps them in a message that
// states the fact and the fix.
var (
	ErrPortTaken      = errors.New("port taken")
	ErrNotTraversable = errors.New("folder not traversable")
	ErrDiskFull       = errors.New("disk full")
	ErrOtherVersion   = errors.New("data of another Postgres version")
	ErrInUse          = errors.New("data folder in use")
	ErrForeignFolder  = errors.New("not a data folder")
	ErrNoPackage      = errors.New("package of Postgres not found")
	ErrNotDurable     = errors.New("durability is off")
	ErrBroken         = errors.New("data folder damaged")
	ErrStopped        = errors.New("server stopped")
)

// userError is a message for the operator that unwraps to its reason.
type userError struct {
	reason error
	text   string
}

func (e *userError) Error() string { return e.text }
func (e *userError) Unwrap() error { return e.reason }

func userErrorf(reason error, format string, args ...any) error {
	return &userError{reason, fmt.Sprintf(format, args...)}
}

// explain turns a failure into a userError if it knows the cause. what names
// the failed step. lines are the last messages of the Postgres program, if one
// failed.
func explain(what string, o Options, cause error, lines ...string) error {
	output := strings.Join(lines, "\n")
	matches := func(reason error, message string) bool {
		return errors.Is(cause, reason) || strings.Contains(output, message)
	}
	switch {
	case matches(syscall.ENOSPC, "No space left on device"), matches(syscall.EDQUOT, "Disk quota exceeded"):
		return userErrorf(ErrDiskFull, "%s: the disk that holds %s is full: free some space and start again", what,
			o.Data)
	case matches(syscall.EADDRINUSE, "Address already in use"):
		return portTaken(o.Port)
	case explainBroken(o.Data, output) != nil:
		return explainBroken(o.Data, output)
	case strings.Contains(output, "database files are incompatible with server"):
		return userErrorf(ErrOtherVersion,
			"%s: %s was written by an incompatible build of Postgres; export it with the program that made it, "+
				"then `daawo migrate` and `daawo import` into a new folder", what, o.Data)
	case matches(fs.ErrPermission, "Permission denied"):
		if output == "" {
			output = cause.Error()
		}
		return userErrorf(ErrNotTraversable, "%s: permission denied for %s: %s", what, o.Data, output)
	case output == "":
		return fmt.Errorf("%s: %w", what, cause)
	}
	return fmt.Errorf("%s: %w: %s", what, cause, output)
}

func portTaken(port int) error {
	return userErrorf(ErrPortTaken,
		"port %d of 127.0.0.1 is used by another program: stop that program, or choose another port "+
			"with --db-port or db.port of config.toml (0 picks a free port)", port)
}
