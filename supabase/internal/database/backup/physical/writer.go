package physical

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/backup/codec"
)

// A copy of an installation, such as one that was restored for an exercise, has the system
// identifier of the original. If both wrote into one store, a restore would follow the copy's
// branch of history and ignore all that the original stores. So one installation writes: it renews
// its mark, and another takes the store over only when the mark is not renewed.

// writerMark is the name of the object with the mark: the id of the installation that writes and
// the time.
const writerMark = "WRITER"

// beatPause is the time between two marks.
const beatPause = 30 * time.Second

var (
	// ErrOtherSystem: the store holds the backups of another installation.
	ErrOtherSystem = errors.New("another installation's backups")

	// ErrInUse: another installation writes into the store.
	ErrInUse = errors.New("another data folder with a copy of this database writes its backups there")

	// ErrOtherBranch: a restore of the store would ignore what this server adds.
	ErrOtherBranch = errors.New("a restored copy of this database has continued there")
)

// claim writes the cluster's system identifier to the store, or compares it. A
// restored cluster keeps its identifier.
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
		return fmt.Errorf("%w: %s belongs to another database cluster: choose an empty place", ErrOtherSystem, s.repo)
	}
	return nil
}

// take makes this installation the one that writes into the store.
func (s *Service) take(ctx context.Context) (err error) {
	if s.opt.Own {
		return nil
	}
	if s.writer, err = loadWriter(s.opt.StateDir); err != nil {
		return err
	}
	m, err := s.otherMark(ctx)
	if err != nil {
		return err
	}
	if m != (mark{}) {
		wait := s.opt.beat * 5 / 2
		s.opt.Log.Warn("another data folder has made the backups in this place; waiting to see whether it still does",
			"place", s.repo.String(), "wait", wait)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		again, err := s.otherMark(ctx)
		if err != nil {
			return err
		}
		if again != m {
			return s.inUse()
		}
	}
	if err := s.onNewestBranch(ctx); err != nil {
		return err
	}
	return s.putMark(ctx)
}

// beat renews the mark, or returns ErrInUse if another installation has taken the store over.
func (s *Service) beat(ctx context.Context) error {
	m, err := s.otherMark(ctx)
	if err != nil {
		return err
	}
	if m != (mark{}) {
		return s.inUse()
	}
	return s.putMark(ctx)
}

func (s *Service) inUse() error {
	return fmt.Errorf("%s: %w: stop that server, or choose an empty place for the backups of this one", s.repo, ErrInUse)
}

// mark is the content of the object writerMark.
type mark struct{ writer, time string }

func (m mark) text() string {
	sum := sha256.Sum256([]byte(m.writer + m.time))
	return m.writer + " " + m.time + " " + hex.EncodeToString(sum[:])[:sumChars] + "\n"
}

func (s *Service) putMark(ctx context.Context) error {
	m := mark{s.writer, time.Now().UTC().Format(time.RFC3339Nano)}
	if err := s.repo.Put(ctx, writerMark, strings.NewReader(m.text())); err != nil {
		return storeError(writerMark, s.repo, err)
	}
	return nil
}

// otherMark returns the mark of another installation, or the zero value if there is none.
func (s *Service) otherMark(ctx context.Context) (mark, error) {
	m, err := readWriter(ctx, s.repo.Store)
	if errors.Is(err, codec.ErrDamaged) || m.writer == s.writer {
		return mark{}, nil // is written again
	}
	return m, err
}

// readWriter returns the mark in a store, or the zero value if there is none.
func readWriter(ctx context.Context, store Store) (m mark, err error) {
	text, err := readSmall(ctx, store, writerMark)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	} else if err != nil {
		return m, fmt.Errorf("open %s: %w", store, err)
	}
	if fields := strings.Fields(text); len(fields) == 3 {
		m = mark{fields[0], fields[1]}
	}
	if text != m.text() {
		return mark{}, fmt.Errorf("%w: %s", codec.ErrDamaged, writerMark)
	}
	return m, nil
}

// CheckWriter returns ErrInUse if another installation than that of stateDir writes into a store.
func CheckWriter(ctx context.Context, store Store, stateDir string) error {
	m, err := readWriter(ctx, store)
	if err != nil || m == (mark{}) {
		return err
	}
	own, err := readWriterFile(writerFile(stateDir))
	if err == nil && own != m.writer {
		err = fmt.Errorf("%s: %w", store, ErrInUse)
	}
	return err
}

// onNewestBranch returns ErrOtherBranch if the store has a later timeline than this server. Then a
// restore would follow that one.
func (s *Service) onNewestBranch(ctx context.Context) error {
	own, err := s.currentTimeline(ctx)
	if err != nil {
		return err
	}
	names, err := s.repo.List(ctx, "wal/")
	if err != nil {
		return err
	}
	newest, _ := newestHistory(names)
	all, err := List(ctx, s.repo.Store)
	if err != nil && !errors.Is(err, codec.ErrDamaged) {
		return err
	}
	for _, m := range all {
		newest = max(newest, m.timeline())
	}
	if newest > own {
		return fmt.Errorf("%s: %w, so a restore would ignore what this server stores: choose an empty place for its backups",
			s.repo, ErrOtherBranch)
	}
	return nil
}

func (s *Service) currentTimeline(ctx context.Context) (uint32, error) {
	return value[uint32](ctx, s.opt.URL,
		`select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int`)
}

func writerFile(stateDir string) string { return filepath.Join(stateDir, "backup-writer") }

// loadWriter returns the id of the installation and creates it if necessary. No backup contains it,
// so a restored installation has another.
func loadWriter(stateDir string) (string, error) {
	name := writerFile(stateDir)
	if id, err := readWriterFile(name); err != nil || id != "" {
		return id, err
	}
	if err := atomicfile.MkdirAll(stateDir, 0o755); err != nil { // Postgres must enter the folder
		return "", err
	}
	tmp, err := os.CreateTemp(stateDir, "backup-writer-")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	random := make([]byte, 16)
	rand.Read(random)
	id := hex.EncodeToString(random)
	info, err := tmp.Stat()
	if err == nil {
		_, err = fmt.Fprintf(tmp, "%s %d\n", id, inodeOf(info))
	}
	// It is no secret, and the command line may run as another user than the server.
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return "", err
	}
	return id, atomicfile.Rename(tmp.Name(), name)
}

// readWriterFile returns the id in a file, or "" if there is none or if the file is a copy, which
// has another inode than the one that it names.
func readWriterFile(name string) (string, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	var id string
	var inode uint64
	if _, err := fmt.Sscanf(string(text), "%s %d\n", &id, &inode); err != nil || inode != inodeOf(info) {
		return "", nil
	}
	return id, nil
}

func inodeOf(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
