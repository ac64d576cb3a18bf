package server

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// parts are files and folders that every cluster has.
var parts = []string{"PG_VERSION", "base", "global/pg_control", "pg_wal", "pg_xact"}

// checkParts returns ErrBroken if a cluster has lost a part. A folder without most of them is not a
// cluster.
func checkParts(data string) error {
	var missing []string
	for _, part := range parts {
		if _, err := os.Stat(filepath.Join(data, part)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, filepath.Join(data, part))
		}
	}
	if len(missing) == 0 || len(missing) > len(parts)/2 {
		return nil
	}
	return userErrorf(ErrBroken, "the data folder is damaged: %s is missing", strings.Join(missing, ", "))
}

// brokenParts lists messages with which Postgres refuses to start, and the part of the data folder
// that they mean.
var brokenParts = []struct{ message, part string }{
	{"could not locate a valid checkpoint record", "pg_wal"},
	{"could not locate required checkpoint record", "pg_wal"},
	{"required WAL directory", "pg_wal"},
	{"incorrect checksum in control file", "global/pg_control"},
	{"could not read file \"global/pg_control\"", "global/pg_control"},
	{"global/pg_control\": No such file or directory", "global/pg_control"},
	{"could not open file \"pg_xact", "pg_xact"},
}

// explainBroken returns ErrBroken if Postgres' last messages mean a damaged data folder, or nil.
func explainBroken(data, output string) error {
	control := filepath.Join(data, "global", "pg_control")
	if head, err := os.ReadFile(control); err == nil && strings.Contains(output, "database files are incompatible") &&
		len(bytes.Trim(head, "\x00")) == 0 {
		return userErrorf(ErrBroken, "the data folder is damaged: %s is empty", control)
	}
	for _, b := range brokenParts {
		at := strings.Index(output, b.message)
		if at < 0 {
			continue
		}
		line, _, _ := strings.Cut(output[strings.LastIndexByte(output[:at], '\n')+1:], "\n")
		return userErrorf(ErrBroken, "the data folder is damaged: Postgres cannot use %s (%s)",
			filepath.Join(data, b.part), line)
	}
	return nil
}
