package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/supabase/internal/postgres"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"
)

// Options say what is backed up and where to.
type Options struct {
	Store Store

	// Recipients are whom backups are encrypted to; none for no encryption.
	Recipients []age.Recipient

	// URL connects to the cluster as a superuser.
	URL string

	// Trees are the files that belong to the installation.
	Trees []Tree

	// Archive is the folder into which Postgres puts finished segments of its
	// log (postgres.Options.Archive); "" when it archives nothing.
	Archive string

	// StateDir keeps what later backups need, and the cluster that a backup is
	// restored to for its proof. Postgres' user must be able to enter it.
	StateDir string

	// Package is the Postgres that proves backups by running on them.
	Package fs.FS

	// Every is the time between base backups, Keep their number.
	// Defaults: 24 h, 7.
	Every time.Duration
	Keep  int

	// Progress, when given, is told of the steps of a backup.
	Progress func(step string, done, total int64)

	Log *slog.Logger
}

// Service makes the backups of one installation.
type Service struct {
	opt   Options
	repo  repository
	trees *trees

	pause time.Duration               // between two rounds: shipPause
	spare func(string) (int64, error) // postgres.WritableSpace

	listing sync.Mutex // held while files are stored and listed, and while they are pruned

	timeline uint32    // the server's, once it is known that the stored log leads up to now
	warned   string    // the damage that was last warned of
	latest   time.Time // that the clock has shown since the last backup
	unpruned bool      // a backup was made and older ones are not deleted yet
}

// ErrOtherSystem says that a store holds the backups of another installation.
var ErrOtherSystem = errors.New("another installation's backups")

// Open prepares the backups of an installation whose server is running. It
// refuses a store that belongs to another one.
func Open(ctx context.Context, o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
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
	s := &Service{opt: o, repo: repository{Store: o.Store}, pause: shipPause, spare: postgres.WritableSpace}
	if len(o.Recipients) > 0 {
		// The operator's identity is not on this machine. To read back what we
		// write we also encrypt to one of our own, which lives and dies with
		// this process.
		own, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, err
		}
		s.repo.recipients = append([]age.Recipient{own.Recipient()}, o.Recipients...)
		s.repo.identities = []age.Identity{own}
	}
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	var err error
	s.trees, err = openTrees(ctx, s.repo, o.StateDir, o.Trees)
	return s, err
}

// claim marks the store with the cluster's identity, which a restored cluster
// keeps.
func (s *Service) claim(ctx context.Context) error {
	system, err := value[string](ctx, s.opt.URL, `select system_identifier::text from pg_control_system()`)
	if err != nil {
		return err
	}
	r, err := s.repo.Open(ctx, "SYSTEM")
	if errors.Is(err, fs.ErrNotExist) {
		return s.repo.Put(ctx, "SYSTEM", strings.NewReader(system+"\n"))
	} else if err != nil {
		return fmt.Errorf("open %s: %w", s.repo, err)
	}
	defer r.Close()
	mark, err := io.ReadAll(io.LimitReader(r, 100))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(mark)) != system {
		return fmt.Errorf("%w: %s was filled from another database cluster: choose an empty place", ErrOtherSystem, s.repo)
	}
	return nil
}

// value runs a query that yields one value.
func value[T any](ctx context.Context, url, sql string, args ...any) (v T, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return v, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return v, conn.QueryRow(ctx, sql, args...).Scan(&v)
}

// Ship stores what is new since the last time: finished segments of the log and
// files. What is committed and shipped can be restored.
func (s *Service) Ship(ctx context.Context) error {
	return errors.Join(s.shipLog(ctx), s.shipFiles(ctx))
}

func (s *Service) shipLog(ctx context.Context) error {
	if s.opt.Archive == "" {
		return nil
	}
	if _, err := shipLog(ctx, s.repo, s.opt.Archive); err != nil {
		return fmt.Errorf("ship the log: %w", err)
	}
	return nil
}

func (s *Service) shipFiles(ctx context.Context) error {
	s.listing.Lock()
	defer s.listing.Unlock()
	return s.trees.sync(ctx, time.Now())
}

// shipPause is the time between two shipments. With the 30 seconds that Postgres
// keeps a segment at most, a lost machine costs less than a minute of work.
const shipPause = 10 * time.Second

// Keep makes backups until ctx ends. A store that cannot be reached must not
// keep the site from serving: it is tried again, and the log says so.
func Keep(ctx context.Context, o Options) {
	for {
		s, err := Open(ctx, o)
		if err == nil {
			s.Run(ctx)
			return
		}
		if ctx.Err() == nil && o.Log != nil {
			o.Log.Error("backup: nothing can be stored, which is tried again in a minute", "place", o.Store.String(), "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Minute):
		}
	}
}

// Run ships continuously and makes a base backup whenever one is due, until ctx
// ends. Failures are logged and tried again. The log waits neither for files nor
// for base backups, however long these take.
func (s *Service) Run(ctx context.Context) {
	ship := func(work func(context.Context) error) func() {
		return func() {
			s.repeat(ctx, func() {
				if err := work(ctx); err != nil && ctx.Err() == nil {
					s.opt.Log.Error("backup: nothing can be stored", "place", s.repo.String(), "error", err)
				}
			})
		}
	}
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(ship(s.shipLog))
	loops.Go(ship(s.shipFiles))
	var backup, prune time.Time
	s.repeat(ctx, func() {
		s.try(ctx, &backup, "backup failed and is tried again in an hour", s.whenDue)
		s.try(ctx, &prune, "the backup is good, but older ones could not be deleted, which is tried again in an hour", s.pruneDue)
	})
}

// try calls work, but not before retry. When it fails, that is in an hour, and the
// log says so.
func (s *Service) try(ctx context.Context, retry *time.Time, failed string, work func(context.Context) error) {
	if time.Now().Before(*retry) {
		return
	}
	if err := work(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.Error(failed, "place", s.repo.String(), "error", err)
		*retry = time.Now().Add(time.Hour)
	}
}

// repeat calls work until ctx ends.
func (s *Service) repeat(ctx context.Context, work func()) {
	for {
		work()
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.pause):
		}
	}
}

func (s *Service) whenDue(ctx context.Context) error {
	all, err := List(ctx, s.repo.Store)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if err != nil && err.Error() != s.warned {
		s.warned = err.Error()
		s.opt.Log.Warn("a stored backup is damaged", "place", s.repo.String(), "error", err)
	}
	if due, err := s.due(ctx, all); err != nil || !due {
		return err
	}
	if _, err := s.Backup(ctx); err != nil {
		return err
	}
	s.latest, s.unpruned = time.Time{}, true
	return nil
}

// pruneDue prunes once after each backup.
func (s *Service) pruneDue(ctx context.Context) error {
	if !s.unpruned {
		return nil
	}
	if err := s.Prune(ctx); err != nil {
		return err
	}
	s.unpruned = false
	return nil
}

// ahead is by how much the clock may be set back without having been wrong.
const ahead = time.Minute

// due reports whether a base backup is to be made: when the newest is older than
// Options.Every, and at once when the stored log does not lead from it up to now,
// as after a restore to a moment before it, or after a time without archiving, or
// when the clock was ahead and set back since: Postgres goes along the log to the
// first time that is later than a moment, so moments after that can only be
// reached from a backup made after it.
// While the server archives, it stays as it was found at first.
func (s *Service) due(ctx context.Context, all []Manifest) (bool, error) {
	timeline := s.timeline
	if timeline == 0 {
		var err error
		if timeline, err = value[uint32](ctx, s.opt.URL, `select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int`); err != nil {
			return false, err
		}
	}
	all = slices.DeleteFunc(all, func(m Manifest) bool { return m.timeline() != timeline })
	if len(all) == 0 {
		return true, nil
	}
	now, end := time.Now().Round(0), all[len(all)-1].End // by the clock on the wall
	if now.After(s.latest) {
		s.latest = now
	}
	if back := max(end.Sub(now), s.latest.Sub(now)); back > ahead {
		s.opt.Log.Warn("backup: a full one is made now, as the clock was ahead and set back", "by", back.Round(time.Second))
		return true, nil
	}
	if now.Sub(end) >= s.opt.Every {
		return true, nil
	}
	if s.timeline == 0 && s.opt.Archive != "" {
		if whole, err := s.followed(ctx, all[len(all)-1]); err != nil || !whole {
			return !whole, err
		}
		s.timeline = timeline
	}
	return false, nil
}

// followed reports whether all of the log since a backup of the server's timeline
// is stored or on its way there.
func (s *Service) followed(ctx context.Context, m Manifest) (bool, error) {
	_, own, err := m.segments()
	if err != nil {
		return false, err
	}
	// A segment moves from Postgres to the archive and on to the store while we
	// look: we look in that order.
	lsn, err := value[string](ctx, s.opt.URL, `select pg_current_wal_lsn()::text`)
	if err != nil {
		return false, err
	}
	now, err := position(lsn)
	if err != nil {
		return false, err
	}
	names, err := value[[]string](ctx, s.opt.URL, `
		select coalesce(array_agg(left(name, 24)), '{}') from pg_ls_archive_statusdir() where name ~ '^[0-9A-F]{24}\.ready$'`)
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
			s.opt.Log.Warn("backup: a full one is made now, as the server ran without archiving its log", "missing", segmentName(m.timeline(), at))
			return false, nil
		}
	}
	return true, nil
}

// exclusive waits until no other process of this machine makes or deletes
// backups of this installation, and keeps others waiting until unlock.
func (s *Service) exclusive(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(s.opt.StateDir, 0o755); err != nil {
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

// proofPrefix begins the names of the folders that scratch makes.
const proofPrefix = "proof-"

// scratch is a new folder for a cluster to be proved in.
func (s *Service) scratch() (string, error) {
	if err := os.MkdirAll(s.opt.StateDir, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(s.opt.StateDir, proofPrefix)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}
