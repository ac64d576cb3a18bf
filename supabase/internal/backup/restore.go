package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/postgres"

	"filippo.io/age"
)

// RestoreOptions say what to bring back and where to.
type RestoreOptions struct {
	Store      Store
	Identities []age.Identity // that open an encrypted backup

	// To is the moment to go back to; zero for the newest there is.
	To time.Time

	// Data is the folder the cluster is restored to, which must not exist.
	Data string

	// Trees say where each tree goes. Trees that are not named here are left out.
	Trees []Tree

	// Package is the Postgres that replays the log.
	Package fs.FS

	Progress func(step string, done, total int64)
	Log      *slog.Logger
}

// Restored says what a restore has brought back.
type Restored struct {
	Backup   Manifest
	Segments int // of the log, replayed on top
	Files    int
	Last     time.Time        // of the last commit replayed; zero when there was none
	Tables   map[string]int64 // rows
}

// ErrNothingToRestore says that a store holds no backup old enough.
var ErrNothingToRestore = errors.New("nothing to restore")

// Restore brings an installation back to a moment: the newest base backup
// before it, the log up to it, and the files of that time. The cluster is looked
// through before it gets its place; a restore that fails leaves nothing behind.
func Restore(ctx context.Context, o RestoreOptions) (r Restored, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if _, err := os.Lstat(o.Data); err == nil {
		return r, fmt.Errorf("restore: %s exists: move it away, or choose another folder", o.Data)
	}
	repo := repository{o.Store, sealer{identities: o.Identities}}
	all, damage := List(ctx, o.Store)
	if damage != nil && !errors.Is(damage, ErrDamaged) {
		return r, fmt.Errorf("restore: %w", damage)
	}
	log, err := readHistory(ctx, repo)
	if err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	base, next, err := choose(all, log, o.To)
	if err != nil {
		return r, fmt.Errorf("restore from %s: %w", o.Store, errors.Join(err, damage))
	}
	if damage != nil {
		o.Log.Warn("restoring from another backup than those that are damaged", "backup", base.ID, "error", damage)
	}
	r.Backup = base

	work := o.Data + ".restoring"
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(work, 0o755)); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	defer os.RemoveAll(work)
	if err := o.restoreCluster(ctx, repo, work, base, next, log, &r); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	var files placed
	if r.Files, err = o.restoreTrees(ctx, repo, r, &files); err == nil {
		err = os.Rename(filepath.Join(work, "data"), o.Data)
	}
	if err != nil {
		return r, errors.Join(fmt.Errorf("restore: %w", err), files.undo())
	}
	return r, syncDir(filepath.Dir(o.Data))
}

// choose returns the newest backup that ended before to, and the one after it,
// of those that the log leads on from. What was backed up on a branch that an
// earlier restore has left is not among them.
func choose(all []Manifest, log history, to time.Time) (base Manifest, next *Manifest, err error) {
	all = slices.DeleteFunc(slices.Clone(all), func(m Manifest) bool {
		_, ok := log.of(m)
		return !ok
	})
	if len(all) == 0 {
		return base, nil, fmt.Errorf("%w: there is no good backup", ErrNothingToRestore)
	}
	if to.IsZero() {
		return all[len(all)-1], nil, nil
	}
	at := -1
	for i, m := range all {
		if !m.End.After(to) {
			at = i
		}
	}
	if at < 0 {
		return base, nil, fmt.Errorf("%w: the oldest backup is of %s", ErrNothingToRestore, all[0].End.Format(time.RFC3339))
	}
	if at+1 < len(all) {
		next = &all[at+1]
	}
	return all[at], next, nil
}

func (o RestoreOptions) restoreCluster(ctx context.Context, repo repository, work string, base Manifest, next *Manifest, newest history, r *Restored) error {
	var d details
	if err := getJSON(ctx, repo, base.Details.Name, &d); err != nil {
		return err
	}
	o.Progress("database", 0, 2)
	data, log := filepath.Join(work, "data"), filepath.Join(work, "log")
	if err := repo.extract(ctx, base, d.Cluster, data); err != nil {
		return err
	}
	o.Progress("database", 1, 2)
	var last uint64
	if next != nil { // the moment lies before it; one segment more ends the wait for it
		_, own, err := next.segments()
		if err != nil {
			return err
		}
		last = own + 2
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		return err
	}
	h, _ := newest.of(base)
	n, gap, err := fetchLog(ctx, repo, log, base, h, last)
	if err != nil {
		return err
	}
	if r.Segments = n; gap != nil && o.To.IsZero() {
		return fmt.Errorf("%w: what was written after it cannot be had; say with --to which moment between %s and then to go back to", gap, base.End.UTC().Format(time.RFC3339))
	}
	if err := postgres.ChownTree(data, log); err != nil {
		return err
	}
	if err := o.replay(ctx, data, log, h.newest(), r); err != nil {
		if gap != nil && errors.Is(err, ErrNothingToRestore) {
			err = fmt.Errorf("%w, and it was written before %s: choose an earlier moment", gap, o.To.UTC().Format(time.RFC3339))
		}
		return err
	}
	o.Progress("database", 2, 2)
	return nil
}

// replay lets Postgres recover the cluster with the log, looks through it, and
// stops it again.
func (o RestoreOptions) replay(ctx context.Context, data, log string, timeline uint32, r *Restored) error {
	// Without hot standby nobody is let in before all of the log is replayed.
	// Archiving is on but goes nowhere yet: the history of the branch that begins
	// here waits in the cluster for the first start that backs up.
	settings := map[string]string{"archive_mode": "on", "archive_command": "", "hot_standby": "off"}
	if r.Segments > 0 {
		if err := os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o600); err != nil {
			return err
		}
		if err := postgres.ChownTree(data, data); err != nil {
			return err
		}
		settings["restore_command"] = copyCommand(log)
		settings["recovery_target_action"] = "promote"
		settings["recovery_target_timeline"] = strconv.FormatUint(uint64(timeline), 10)
		if !o.To.IsZero() {
			settings["recovery_target_time"] = o.To.UTC().Format("2006-01-02 15:04:05.999999+00")
		}
	} else if !o.To.IsZero() && o.To.Sub(r.Backup.End) > time.Second {
		return fmt.Errorf("%w: the log after the backup of %s is missing", ErrNothingToRestore, r.Backup.End.Format(time.RFC3339))
	}
	server, err := postgres.Start(ctx, postgres.Options{Source: o.Package, Data: data, Log: o.Log, Settings: settings})
	if err != nil {
		if strings.Contains(err.Error(), "before configured recovery target was reached") {
			return fmt.Errorf("%w: the stored log ends before %s: leave the time out to get all there is", ErrNothingToRestore, o.To.Format(time.RFC3339))
		}
		return err
	}
	r.Tables, err = examine(ctx, server.URL(postgres.Superuser))
	if err == nil {
		r.Last, err = lastCommit(ctx, server.URL(postgres.Superuser))
	}
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}

// lastCommit is the time of the last commit that was replayed.
func lastCommit(ctx context.Context, url string) (time.Time, error) {
	t, err := value[*time.Time](ctx, url, `select pg_last_xact_replay_timestamp()`)
	if err != nil || t == nil {
		return time.Time{}, err
	}
	return t.UTC(), nil
}

// copyCommand is a restore_command that takes segments from a folder.
func copyCommand(dir string) string {
	dir = strings.ReplaceAll(dir, "%", "%%")
	return "cp '" + strings.ReplaceAll(dir, "'", `'\''`) + "/%f' '%p'"
}

// restoreTrees brings back the files of the moment that the database was brought
// to. Without a time that is the last commit whose log was shipped: files that
// were deleted after it may have left the newest list already. made is told what
// was put where.
func (o RestoreOptions) restoreTrees(ctx context.Context, repo repository, r Restored, made *placed) (int, error) {
	if len(o.Trees) == 0 {
		return 0, nil
	}
	moment := o.To
	if moment.IsZero() {
		moment = r.Last
	}
	files, err := repo.filesAt(ctx, r.Backup.Lists, moment, o.To.IsZero())
	if err != nil {
		return 0, err
	}
	places := map[string]string{}
	for _, t := range o.Trees {
		places[t.Name] = t.Path
	}
	n := 0
	for i, f := range files {
		o.Progress("files", int64(i), int64(len(files)))
		place, ok := places[f.Tree]
		if !ok {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) && f.Path != "" {
			return n, fmt.Errorf("%w: %q is no path of a file", ErrDamaged, f.Path)
		}
		if err := repo.restoreFile(ctx, f, filepath.Join(place, filepath.FromSlash(f.Path)), made); err != nil {
			return n, err
		}
		n++
	}
	o.Progress("files", int64(len(files)), int64(len(files)))
	return n, nil
}

// decodeJSON reads one value and then to the end, past the closing checksums.
func decodeJSON(r io.Reader, v any) error {
	if err := json.NewDecoder(r).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	_, err := io.Copy(io.Discard, r)
	return err
}
