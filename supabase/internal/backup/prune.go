package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	if err != nil && !errors.Is(err, ErrDamaged) {
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

// pruneBases deletes all good backups but those kept, and of others, whose
// manifests are damaged, what is older than these.
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
		if !slices.ContainsFunc(kept, is) && (id < oldest || slices.ContainsFunc(all, is)) && !slices.Contains(old, id) {
			old = append(old, id)
		}
	}
	// The manifest goes first of each: a half-deleted backup is none.
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

// pruneLog deletes what of a timeline's log lies before all backups of it and of
// the timelines that it may come from.
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
	s.listing.Lock() // a file that was just stored has no list yet
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
