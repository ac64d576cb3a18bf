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
	"sync"
	"syscall"
	"time"

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/server"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"
)

// Options configure the backups of an installation.
type Options struct {
	Store Store

	// Recipients can decrypt the backups; none means no encryption.
	Recipients []age.Recipient

	// URL connects to the cluster as a superuser.
	URL string

	// Trees are the files that belong to the installation.
	Trees []Tree

	// Archive is the folder of archived WAL segments
	// (server.Options.Archive); "" if archiving is off.
	Archive string

	// StateDir holds the state that later backups need, and the clusters of
	// test restores. Postgres' user must be able to enter it.
	StateDir string

	// Package is the Postgres that runs the test restores.
	Package fs.FS

	// Every is the time between base backups and Keep their number.
	// Defaults: 24 h, 7.
	Every time.Duration
	Keep  int

	// Own means that the store is a part of the installation, so no other installation uses it.
	Own bool

	// Status, if set, learns what is stored.
	Status *Status

	// Progress, if set, receives the steps of a backup.
	Progress func(step string, done, total int64)

	Log *slog.Logger

	beat time.Duration // between two marks of the writer; beatPause except in tests
}

// withDefaults returns the options with the defaults of those that are not set.
func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Status == nil {
		o.Status = &Status{}
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Every == 0 {
		o.Every = 24 * time.Hour
	}
	if o.Keep == 0 {
		o.Keep = 7
	}
	if o.beat == 0 {
		o.beat = beatPause
	}
	return o
}

// Service makes the backups of one installation.
type Service struct {
	opt   Options
	repo  repository
	trees *trees

	writer   string                      // the id of this installation in the mark
	pause    time.Duration               // between two rounds; shipPause except in tests
	writable func(string) (int64, error) // server.WritableSpace

	listing sync.Mutex // held while files are stored, listed or pruned

	timeline uint32    // the server's timeline, set once the stored WAL is known to be complete
	warned   string    // the damage in the last warning
	latest   time.Time // the latest time of the clock since the last backup
	unpruned bool      // older backups are not deleted yet
}

// Open prepares the backups of an installation with a running server. It returns
// an error if the store belongs to another installation, or if a copy of this one
// uses it.
func Open(ctx context.Context, o Options) (*Service, error) {
	o = o.withDefaults()
	s := &Service{opt: o, repo: repository{Store: o.Store}, pause: shipPause, writable: server.WritableSpace}
	if len(o.Recipients) > 0 {
		// This machine does not have the operator's identity. Also encrypt for
		// an identity of this process, so that test restores can decrypt.
		own, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, err
		}
		s.repo.Recipients = append([]age.Recipient{own.Recipient()}, o.Recipients...)
		s.repo.Identities = []age.Identity{own}
	}
	err := s.claim(ctx)
	if err == nil {
		err = s.take(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.trees, err = openTrees(ctx, s.repo, o.StateDir, o.Trees)
	return s, err
}

// value runs a query that returns one value.
func value[T any](ctx context.Context, url, sql string, args ...any) (v T, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return v, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return v, conn.QueryRow(ctx, sql, args...).Scan(&v)
}

// Ship stores new WAL segments and files. Shipped commits can be restored.
func (s *Service) Ship(ctx context.Context) error {
	return errors.Join(s.shipLog(ctx), s.shipFiles(ctx))
}

func (s *Service) shipLog(ctx context.Context) error {
	if s.opt.Archive == "" {
		return nil
	}
	if _, err := shipLog(ctx, s.repo, s.opt.Archive); err != nil {
		return fmt.Errorf("ship the WAL: %w", err)
	}
	s.opt.Status.shipped.Store(time.Now().UnixNano())
	return nil
}

func (s *Service) shipFiles(ctx context.Context) error {
	s.listing.Lock()
	defer s.listing.Unlock()
	return s.trees.sync(ctx, time.Now())
}

// shipPause is the time between two shipments. Postgres keeps a segment for at
// most 30 seconds, so losing the machine loses less than a minute of data.
const shipPause = 10 * time.Second

// Keep makes backups until ctx ends. If it cannot use the store, it logs the
// error and retries; the services keep running.
func Keep(ctx context.Context, o Options) {
	o = o.withDefaults()
	for {
		s, err := Open(ctx, o)
		if err == nil {
			err = s.Run(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		o.Status.forget()
		o.Log.Error("backup store cannot be used; retrying in 1m", "place", o.Store.String(), "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Minute):
		}
	}
}

// Run ships continuously and makes base backups when they are due, until ctx
// ends. It logs failures and retries. WAL shipping does not wait for files or
// base backups. It returns ErrInUse if another installation takes the store over.
func (s *Service) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			s.opt.Log.Error("backup shipping failed; retrying", "place", s.repo.String(), "error", err)
		}
	}
	var loops sync.WaitGroup
	defer loops.Wait()
	defer cancel()
	loops.Go(func() { s.repeat(ctx, s.pause, func() { failed(s.shipLog(ctx)) }) })
	loops.Go(func() { s.repeat(ctx, s.pause, func() { failed(s.shipFiles(ctx)) }) })
	taken := make(chan error, 1)
	loops.Go(func() {
		s.repeat(ctx, s.opt.beat, func() {
			err := s.beat(ctx)
			if errors.Is(err, ErrInUse) {
				taken <- err
				cancel()
				return
			}
			failed(err)
		})
	})
	var backup, prune attempts
	s.repeat(ctx, s.pause, func() {
		s.attempt(ctx, &backup, "backup failed", s.backupIfDue)
		s.attempt(ctx, &prune, "backup pruning failed", s.pruneIfDue)
	})
	select {
	case err = <-taken:
	default:
	}
	return err
}

// attempts are the failures of a work since it last succeeded.
type attempts struct {
	failed int
	next   time.Time
}

// attempt calls work unless its next attempt is in the future. If work fails, attempt logs the
// error and plans the next attempt: after a minute, then after twice the time, at most an hour.
// While there is no good backup it is the next round at first, and at most five minutes.
func (s *Service) attempt(ctx context.Context, a *attempts, failed string, work func(context.Context) error) {
	if time.Now().Before(a.next) {
		return
	}
	err := work(ctx)
	if err == nil {
		*a = attempts{}
		return
	}
	if ctx.Err() != nil {
		return
	}
	pause, most := time.Minute, time.Hour
	if s.opt.Status.backup.Load() == 0 {
		pause, most = s.pause, 5*time.Minute
	}
	pause = min(pause<<min(a.failed, 10), most)
	a.failed, a.next = a.failed+1, time.Now().Add(pause)
	s.opt.Log.Error(failed, "place", s.repo.String(), "retry", pause, "error", err)
}

// repeat calls work, with pauses, until ctx ends.
func (s *Service) repeat(ctx context.Context, pause time.Duration, work func()) {
	for {
		work()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (s *Service) backupIfDue(ctx context.Context) error {
	all, err := List(ctx, s.repo.Store)
	if err != nil && !errors.Is(err, codec.ErrDamaged) {
		return err
	}
	if err != nil && err.Error() != s.warned {
		s.warned = err.Error()
		s.opt.Log.Warn("stored backup damaged", "place", s.repo.String(), "error", err)
	}
	s.opt.Status.looked.Store(true)
	if len(all) > 0 {
		s.opt.Status.backup.Store(all[len(all)-1].End.UnixNano())
	}
	if due, err := s.due(ctx, all); err != nil || !due {
		return err
	}
	m, err := s.Backup(ctx)
	if err != nil {
		return err
	}
	s.opt.Status.backup.Store(m.End.UnixNano())
	s.latest, s.unpruned = time.Time{}, true
	return nil
}

// pruneIfDue prunes once after each backup.
func (s *Service) pruneIfDue(ctx context.Context) error {
	if !s.unpruned {
		return nil
	}
	if err := s.Prune(ctx); err != nil {
		return err
	}
	s.unpruned = false
	return nil
}

// clockTolerance is how far the clock may be set back without a new backup.
const clockTolerance = time.Minute

// due reports whether a base backup is due. That is so if the newest is older
// than Options.Every, or if the stored WAL does not continue it to now, as after
// a restore to an earlier moment or a time without archiving.
//
// It is also so if the clock was ahead and was set back. Point-in-time recovery
// stops at the first commit that is later than the target. So only a backup that
// is made afterwards can reach later moments.
//
// While the server archives, the stored WAL is checked only once.
func (s *Service) due(ctx context.Context, all []Manifest) (bool, error) {
	timeline := s.timeline
	if timeline == 0 {
		var err error
		if timeline, err = s.currentTimeline(ctx); err != nil {
			return false, err
		}
	}
	all = slices.DeleteFunc(all, func(m Manifest) bool { return m.timeline() != timeline })
	if len(all) == 0 {
		return true, nil
	}
	now, end := time.Now().Round(0), all[len(all)-1].End // wall clock
	if now.After(s.latest) {
		s.latest = now
	}
	if back := max(end.Sub(now), s.latest.Sub(now)); back > clockTolerance {
		s.opt.Log.Warn("full backup due: clock was set back", "by", back.Round(time.Second))
		return true, nil
	}
	if now.Sub(end) >= s.opt.Every {
		return true, nil
	}
	if s.timeline == 0 && s.opt.Archive != "" {
		if complete, err := s.logComplete(ctx, all[len(all)-1]); err != nil || !complete {
			return !complete, err
		}
		s.timeline = timeline
	}
	return false, nil
}

// logComplete reports whether all WAL since a backup of the server's timeline is
// stored or waiting to be stored.
func (s *Service) logComplete(ctx context.Context, m Manifest) (bool, error) {
	_, own, err := m.segments()
	if err != nil {
		return false, err
	}
	// Segments move from Postgres to the archive and then to the store, so look
	// for them in that order.
	lsn, err := value[string](ctx, s.opt.URL, `select pg_current_wal_lsn()::text`)
	if err != nil {
		return false, err
	}
	now, err := position(lsn)
	if err != nil {
		return false, err
	}
	names, err := value[[]string](ctx, s.opt.URL, `
		select coalesce(array_agg(left(name, 24)), '{}') from pg_ls_archive_statusdir()
		where name ~ '^[0-9A-F]{24}\.ready$'`)
	if err != nil {
		return false, err
	}
	waiting, err := os.ReadDir(s.opt.Archive)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, e := range waiting {
		names = append(names, e.Name())
	}
	log, err := listLog(ctx, s.repo.Store)
	if err != nil {
		return false, err
	}
	for at := own + 1; at < now/segmentSize; at++ {
		if len(log.segments[m.timeline()][at]) == 0 && !slices.Contains(names, segmentName(m.timeline(), at)) {
			s.opt.Log.Warn("full backup due: the server ran without archiving its WAL", "missing",
				segmentName(m.timeline(), at))
			return false, nil
		}
	}
	return true, nil
}

// exclusive waits until no other process of this machine makes or deletes backups
// of this installation. It blocks others until unlock is called.
func (s *Service) exclusive(ctx context.Context) (unlock func(), err error) {
	if err := atomicfile.MkdirAll(s.opt.StateDir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.opt.StateDir, "backup.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// testRestorePrefix is the prefix of the folders that testRestoreDir creates.
const testRestorePrefix = "proof-"

// testRestoreDir creates a folder for the cluster of a test restore.
func (s *Service) testRestoreDir() (string, error) {
	if err := atomicfile.MkdirAll(s.opt.StateDir, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(s.opt.StateDir, testRestorePrefix)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}
