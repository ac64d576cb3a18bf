package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"daawo/supabase/internal/base/atomicfile"
)

// ensureCluster creates the data folder if it is missing, and reports whether it did. It returns an
// error for a folder that this Postgres cannot open.
func ensureCluster(o Options, w owner, run string) (created bool, err error) {
	if err := checkParts(o.Data); err != nil {
		return false, err
	}
	version, err := os.ReadFile(filepath.Join(o.Data, "PG_VERSION"))
	switch {
	case err == nil:
		if got := strings.TrimSpace(string(version)); got != major {
			return false, userErrorf(ErrOtherVersion,
				"%s holds data of Postgres %s, but this is Postgres %s: export it with the program that made it, "+
					"then `daawo migrate` and `daawo import` into a new folder", o.Data, got, major)
		}
		return false, checkDistribution(o)
	case !errors.Is(err, fs.ErrNotExist):
		return false, userErrorf(ErrNotTraversable, "the data folder cannot be read: %v", err)
	}
	if entries, err := os.ReadDir(o.Data); err == nil && len(entries) > 0 {
		return false, userErrorf(ErrForeignFolder, "%s is neither empty nor a Postgres data folder: choose another folder",
			o.Data)
	}
	return true, createCluster(o, w, run)
}

// createCluster creates the cluster in a temporary folder and renames it, so a crash leaves no
// incomplete data folder.
func createCluster(o Options, w owner, run string) error {
	tmp := o.Data + ".tmp"
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o700), w.chown(tmp)); err != nil {
		return explain("make the data folder", o, err)
	}
	prepared, err := prepareCluster(o, w, tmp)
	if err != nil {
		err = explain("unpack the prepared cluster", o, err)
	} else if !prepared {
		err = initdb(o, w, run, tmp)
	}
	if err != nil {
		os.RemoveAll(tmp)
		return err
	}
	os.Remove(o.Data) // an empty folder may exist there
	if err := os.Rename(tmp, o.Data); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if o.Volatile {
		return nil
	}
	return atomicfile.SyncDir(filepath.Dir(o.Data))
}

// initdb makes the cluster at dir.
func initdb(o Options, w owner, run, dir string) error {
	args := []string{
		"--pgdata", dir, "--username", Superuser,
		"--auth", "peer", "--encoding", "UTF8", "--no-instructions",
		"--data-checksums", "--wal-segsize", "1",
		// Text sorts as in supabase/postgres.
		"--locale", "C", "--lc-ctype", ctype(), "--locale-provider", "icu", "--icu-locale", "en-US",
	}
	switch {
	case o.Volatile:
		args = append(args, "--no-sync")
	case runtime.GOOS == "linux":
		args = append(args, "--sync-method", "syncfs") // one call instead of one per file
	}
	p, err := spawn(w, slog.New(slog.DiscardHandler), run, filepath.Join(run, "bin", "initdb"), args...)
	if err != nil {
		return explain("initdb", o, err)
	}
	<-p.exited
	if p.err != nil {
		return explain("initdb", o, p.err, p.lastMessages()...)
	}
	if err := writeDistribution(o, dir, w); err != nil {
		return explain("initdb", o, err)
	}
	return nil
}

// ctype returns a UTF-8 locale that every system of this kind has. Trigrams and
// text search need one for letters beyond ASCII.
func ctype() string {
	if runtime.GOOS == "darwin" {
		return "en_US.UTF-8"
	}
	return "C.UTF-8"
}
