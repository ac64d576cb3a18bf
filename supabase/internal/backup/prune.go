package backup

import (
	"context"
	"fmt"
	"strings"
)

// Prune deletes all but the newest Options.Keep backups, and what only the
// deleted ones needed: log, lists and files.
func (s *Service) Prune(ctx context.Context) error {
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	defer unlock()
	all, err := List(ctx, s.repo.Store)
	if err != nil || len(all) <= s.opt.Keep {
		return err
	}
	old, kept := all[:len(all)-s.opt.Keep], all[len(all)-s.opt.Keep:]
	// The manifest goes first of each: a half-deleted backup is none.
	for _, m := range old {
		if err := s.remove(ctx, "base/"+m.ID+"/manifest-"); err != nil {
			return err
		}
		if err := s.remove(ctx, "base/"+m.ID+"/"); err != nil {
			return err
		}
	}
	if err := s.pruneLog(ctx, kept[0]); err != nil {
		return fmt.Errorf("prune the log: %w", err)
	}
	if err := s.pruneFiles(ctx, kept[0]); err != nil {
		return fmt.Errorf("prune the files: %w", err)
	}
	return nil
}

func (s *Service) pruneLog(ctx context.Context, oldest Manifest) error {
	first, err := segment(oldest.StartLSN)
	if err != nil {
		return err
	}
	names, err := s.repo.List(ctx, "wal/")
	if err != nil {
		return err
	}
	for _, name := range names {
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		if at, ok := segmentOf(plain); ok && at < first {
			if err := s.repo.Delete(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) pruneFiles(ctx context.Context, oldest Manifest) error {
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

// neededFiles are the objects that the lists of a time or later need.
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
