package physical

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/server"

	"filippo.io/age"
)

// RestoreOptions configure a restore.
type RestoreOptions struct {
	Store      Store
	Identities []age.Identity // for encrypted backups

	// To is the moment to restore to; zero for the newest.
	To time.Time

	// Data is the folder to restore the cluster to. It must not exist.
	Data string

	// Trees are the target paths. Trees that are not listed are not restored.
	Trees []Tree

	// Package is the Postgres that replays the WAL. Extensions is the name of the tree with the
	// extensions that were added to it, which the checks of the cluster need; "" for none.
	Package    fs.FS
	Extensions string

	Progress func(step string, done, total int64)
	Log      *slog.Logger
}

// Restored describes the result of a restore.
type Restored struct {
	Backup   Manifest
	Segments int // WAL segments replayed
	Files    int
	Last     time.Time        // time of the last replayed commit; zero if there was none
	Tables   map[string]int64 // row counts
}

// ErrNothingToRestore: the store holds no backup that is old enough.
var ErrNothingToRestore = errors.New("nothing to restore")

// Restore restores an installation to a moment: the newest base backup before
// it, the WAL up to it, and the files of that time. It checks the cluster before
// it renames it to its final folder. A failed restore leaves nothing behind.
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
	repo := repository{o.Store, codec.Codec{Identities: o.Identities}}
	all, damage := List(ctx, o.Store)
	if damage != nil && !errors.Is(damage, codec.ErrDamaged) {
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
		o.Log.Warn("damaged backups ignored", "backup", base.ID, "error", damage)
	}
	r.Backup = base

	work := workDir(o.Data)
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(work, 0o755)); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	defer os.RemoveAll(work)
	if o.Package, err = o.packageOf(ctx, repo, work, r); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	if err := o.restoreCluster(ctx, repo, work, base, next, log, &r); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	var files createdPaths
	if r.Files, err = o.restoreTrees(ctx, repo, r, &files); err == nil {
		err = os.Rename(filepath.Join(work, "data"), o.Data)
	}
	if err != nil {
		return r, errors.Join(fmt.Errorf("restore: %w", err), files.undo())
	}
	return r, atomicfile.SyncDir(filepath.Dir(o.Data))
}

// workDir returns the folder in which a restore to data works.
func workDir(data string) string { return data + ".restoring" }

// Unfinished returns the folder that a killed restore to data has left, or "".
func Unfinished(data string) string {
	if _, err := os.Lstat(workDir(data)); err != nil {
		return ""
	}
	return workDir(data)
}

// choose returns the newest backup that ended before to, and the backup after it.
// It ignores backups on branches that an earlier restore has abandoned.
func choose(all []Manifest, log history, to time.Time) (base Manifest, next *Manifest, err error) {
	all = slices.DeleteFunc(slices.Clone(all), func(m Manifest) bool {
		_, ok := log.of(m)
		return !ok
	})
	if len(all) == 0 {
		return base, nil, fmt.Errorf("%w: the store has no good backup", ErrNothingToRestore)
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
		return base, nil, fmt.Errorf("%w: the oldest backup is of %s", ErrNothingToRestore,
			all[0].End.Format(time.RFC3339))
	}
	if at+1 < len(all) {
		next = &all[at+1]
	}
	return all[at], next, nil
}

// packageOf returns the Postgres with the added extensions of the backup, which it puts into work.
func (o RestoreOptions) packageOf(ctx context.Context, repo repository, work string, r Restored) (fs.FS, error) {
	if o.Extensions == "" {
		return o.Package, nil
	}
	added := filepath.Join(work, "extensions")
	o.Trees = []Tree{{Name: o.Extensions, Path: added}}
	o.Progress = func(string, int64, int64) {}
	r.Last = r.Backup.End
	var made createdPaths // removed with work
	if _, err := o.restoreTrees(ctx, repo, r, &made); err != nil {
		return nil, err
	}
	return server.WithExtensions(o.Package, os.DirFS(added)), nil
}

func (o RestoreOptions) restoreCluster(ctx context.Context, repo repository, work string, base Manifest, next *Manifest,
	newest history, r *Restored) error {
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
	if next != nil { // the moment is before it; one more segment lets recovery reach the target
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
		return fmt.Errorf("%w: later data cannot be restored: use --to with a moment after %s and before the "+
			"missing segment", gap, base.End.UTC().Format(time.RFC3339))
	}
	if err := server.ChownTree(data, log); err != nil {
		return err
	}
	if err := o.replay(ctx, data, log, h.newest(), r); err != nil {
		if gap != nil && errors.Is(err, ErrNothingToRestore) {
			err = fmt.Errorf("%w before %s: choose an earlier moment", gap, o.To.UTC().Format(time.RFC3339))
		}
		return err
	}
	o.Progress("database", 2, 2)
	return nil
}

// replay starts Postgres to recover the cluster with the WAL, checks the cluster
// and stops Postgres.
func (o RestoreOptions) replay(ctx context.Context, data, log string, timeline uint32, r *Restored) error {
	// Without hot standby Postgres refuses connections until all WAL is replayed.
	// With an empty archive_command, the history file of the new timeline stays
	// in the cluster until the first start with backups.
	settings := map[string]string{"archive_mode": "on", "archive_command": "", "hot_standby": "off"}
	// Recovery begins a timeline also without stored WAL: on the old one, the copy and its original
	// would give one name to different WAL.
	if err := os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o600); err != nil {
		return err
	}
	if err := server.ChownTree(data, data); err != nil {
		return err
	}
	settings["restore_command"] = copyCommand(log)
	settings["recovery_target_action"] = "promote"
	settings["recovery_target_timeline"] = strconv.FormatUint(uint64(timeline), 10)
	switch {
	case o.To.IsZero():
	case r.Segments > 0:
		settings["recovery_target_time"] = o.To.UTC().Format("2006-01-02 15:04:05.999999+00")
	case o.To.Sub(r.Backup.End) > time.Second:
		return fmt.Errorf("%w: the WAL after the backup of %s is missing", ErrNothingToRestore,
			r.Backup.End.Format(time.RFC3339))
	}
	pg, err := server.Start(ctx, server.Options{Source: o.Package, Data: data, Log: o.Log, Settings: settings})
	if err != nil {
		if strings.Contains(err.Error(), "before configured recovery target was reached") {
			return fmt.Errorf("%w: the stored WAL ends before %s: omit the time to restore everything",
				ErrNothingToRestore, o.To.Format(time.RFC3339))
		}
		return err
	}
	r.Tables, err = examine(ctx, pg.URL(server.Superuser))
	if err == nil {
		r.Last, err = lastCommit(ctx, pg.URL(server.Superuser))
	}
	return errors.Join(err, pg.Stop(context.WithoutCancel(ctx)))
}

// lastCommit returns the time of the last replayed commit.
func lastCommit(ctx context.Context, url string) (time.Time, error) {
	t, err := value[*time.Time](ctx, url, `select pg_last_xact_replay_timestamp()`)
	if err != nil || t == nil {
		return time.Time{}, err
	}
	return t.UTC(), nil
}

// copyCommand returns a restore_command that copies segments from a folder.
func copyCommand(dir string) string {
	dir = strings.ReplaceAll(dir, "%", "%%")
	return "cp '" + strings.ReplaceAll(dir, "'", `'\''`) + "/%f' '%p'"
}

// restoreTrees restores the files of the moment that the database was restored
// to. Without a target time, that is the time of the last replayed commit: the
// newest list may already lack files that were deleted after it. made records the
// created paths.
func (o RestoreOptions) restoreTrees(ctx context.Context, repo repository, r Restored, made *createdPaths) (int,
	error) {
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
			return n, fmt.Errorf("%w: %q is not a valid file path", codec.ErrDamaged, f.Path)
		}
		if err := repo.restoreFile(ctx, f, filepath.Join(place, filepath.FromSlash(f.Path)), made); err != nil {
			return n, err
		}
		n++
	}
	o.Progress("files", int64(len(files)), int64(len(files)))
	return n, nil
}
