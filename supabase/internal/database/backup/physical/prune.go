package physical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/database/backup/codec"
)

// Prune deletes all backups except the newest Options.Keep, and the WAL, lists
// and files that only the deleted backups needed.
func (s *Service) Prune(ctx context.Context) error {
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	defer unlock()
	s.removeLeftovers(ctx)
	all, err := List(ctx, s.repo.Store)
	if err != nil && !errors.Is(err, codec.ErrDamaged) {
		return err
	}
	if len(all) <= s.opt.Keep {
		return nil
	}
	kept := all[len(all)-s.opt.Keep:]
	if err := s.pruneBases(ctx, all, kept); err != nil {
		return err
	}
	if err := s.pruneLog(ctx, kept); err != nil {
		return fmt.Errorf("prune the log: %w", err)
	}
	if err := s.pruneFiles(ctx, kept); err != nil {
		return fmt.Errorf("prune the files: %w", err)
	}
	return nil
}

// removeLeftovers removes the data of killed processes: clusters of test
// restores, incomplete backups and partly written files. Each can be as large as
// the database. The caller holds the lock, so no backup is running. An error is
// only logged, so that the next backup can still be made.
func (s *Service) removeLeftovers(ctx context.Context) {
	err := errors.Join(s.removeTestRestores(), s.removeUnfinished(ctx))
	if err != nil && ctx.Err() == nil {
		s.opt.Log.Warn("backup leftovers not removed", "place", s.repo.String(), "error", err)
	}
}

func (s *Service) removeTestRestores() error {
	entries, err := os.ReadDir(s.opt.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), testRestorePrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.opt.StateDir, e.Name())))
		}
	}
	return err
}

// abandoned is the time without a write after which a partial file counts as
// abandoned. WAL and files are stored without the lock.
const abandoned = time.Hour

// removeUnfinished deletes backups without a manifest and partly written files.
func (s *Service) removeUnfinished(ctx context.Context) error {
	if f, ok := s.repo.Store.(folder); ok {
		if err := errors.Join(f.sweep("base", 0), f.sweep("", abandoned)); err != nil {
			return err
		}
	}
	names, err := s.repo.List(ctx, "base/")
	if err != nil {
		return err
	}
	finished := map[string]bool{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "manifest-") {
			finished[path.Dir(name)] = true
		}
	}
	for _, name := range names {
		if !finished[path.Dir(name)] {
			err = errors.Join(err, s.repo.Delete(ctx, name))
		}
	}
	return err
}

// pruneBases deletes all good backups that are not kept. It also deletes backups
// with a damaged manifest that are older than the kept ones.
func (s *Service) pruneBases(ctx context.Context, all, kept []Manifest) error {
	var old []string
	names, err := s.repo.List(ctx, "base/")
	if err != nil {
		return err
	}
	oldest := slices.MinFunc(kept, func(a, b Manifest) int { return cmp.Compare(a.ID, b.ID) }).ID
	for _, name := range names {
		id := strings.Split(name, "/")[1]
		is := func(m Manifest) bool { return m.ID == id }
		if !slices.ContainsFunc(kept, is) && (id < oldest || slices.ContainsFunc(all, is)) &&
			!slices.Contains(old, id) {
			old = append(old, id)
		}
	}
	// Delete the manifest first: a backup without one does not count.
	for _, id := range old {
		if err := s.remove(ctx, "base/"+id+"/manifest-"); err != nil {
			return err
		}
		if err := s.remove(ctx, "base/"+id+"/"); err != nil {
			return err
		}
	}
	return nil
}

// pruneLog deletes the segments that no kept backup needs: those before the start
// of all kept backups on the same or an earlier timeline.
func (s *Service) pruneLog(ctx context.Context, kept []Manifest) error {
	names, err := s.repo.List(ctx, "wal/")
	if err != nil {
		return err
	}
	for _, name := range names {
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		timeline, at, ok := segmentOf(plain)
		if !ok {
			continue
		}
		needed := false
		for _, m := range kept {
			first, _, err := m.segments()
			if err != nil {
				return err
			}
			needed = needed || m.timeline() <= timeline && first <= at
		}
		if needed {
			continue
		}
		if err := s.repo.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) pruneFiles(ctx context.Context, kept []Manifest) error {
	s.listing.Lock() // a file that was just stored is not in a list yet
	defer s.listing.Unlock()
	oldest := slices.MinFunc(kept, func(a, b Manifest) int { return cmp.Compare(a.Lists, b.Lists) })
	first, _ := plainName(strings.TrimPrefix(oldest.Lists, "lists/"))
	needed, err := neededFiles(ctx, s.repo, first)
	if err != nil {
		return err
	}
	for _, prefix := range []string{"lists/", "needs/", "files/"} {
		names, err := s.repo.List(ctx, prefix)
		if err != nil {
			return err
		}
		for _, name := range names {
			rest := strings.TrimPrefix(name, prefix)
			if prefix == "files/" && needed[name] || prefix != "files/" && rest >= first {
				continue
			}
			if err := s.repo.Delete(ctx, name); err != nil {
				return err
			}
		}
	}
	return s.trees.reload(ctx)
}

// neededFiles returns the objects that the lists since a time need.
func neededFiles(ctx context.Context, repo repository, since string) (map[string]bool, error) {
	names, err := repo.List(ctx, "needs/")
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	for _, name := range names {
		if strings.TrimPrefix(name, "needs/") < since {
			continue
		}
		text, err := readClear(ctx, repo.Store, name)
		if err != nil {
			return nil, err
		}
		for object := range strings.Lines(string(text)) {
			needed[strings.TrimSpace(object)] = true
		}
	}
	return needed, nil
}
