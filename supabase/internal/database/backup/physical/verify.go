package physical

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"daawo/supabase/internal/database/backup/codec"
)

// Verified counts what Verify has read.
type Verified struct {
	Backups, Segments, Files int
	Bytes                    int64
}

// Verify reads every object in a store and compares it with its stored checksum.
// It needs no key, so it can run on the machine that holds the backups. It
// continues after damage and returns all errors joined.
func Verify(ctx context.Context, store Store, progress func(step string, done, total int64)) (v Verified, err error) {
	repo := repository{Store: store}
	all, err := List(ctx, store)
	if err != nil && !errors.Is(err, codec.ErrDamaged) {
		return v, err
	}
	damage := err
	sums := map[string]stored{}
	for _, m := range all {
		sums[m.Base.Name], sums[m.Details.Name] = m.Base, m.Details
	}
	v.Backups = len(all)
	for _, prefix := range []string{"base/", "wal/", "files/", "lists/"} {
		names, err := store.List(ctx, prefix)
		if err != nil {
			return v, err
		}
		for i, name := range names {
			if progress != nil {
				progress(strings.TrimSuffix(prefix, "/"), int64(i), int64(len(names)))
			}
			if strings.HasPrefix(path.Base(name), "manifest-") {
				continue // List has read it
			}
			n, sum, err := repo.sumOf(ctx, name)
			if err != nil {
				return v, fmt.Errorf("read %s: %w", name, err)
			}
			v.Bytes += n
			_, want := plainName(name)
			if prefix == "base/" {
				o, ok := sums[name]
				if !ok {
					continue // part of an incomplete backup
				}
				want = o.SHA256
				delete(sums, name)
			}
			if !strings.HasPrefix(sum, want) || len(want) < sumChars {
				damage = errors.Join(damage, fmt.Errorf("%w: %s", codec.ErrDamaged, name))
			}
			switch prefix {
			case "wal/":
				v.Segments++
			case "files/":
				v.Files++
			}
		}
	}
	for name := range sums {
		damage = errors.Join(damage, fmt.Errorf("%w: %s is missing", codec.ErrDamaged, name))
	}
	log, err := listLog(ctx, store)
	if err != nil {
		return v, err
	}
	end, badEnd := readEnd(ctx, store)
	_, badWriter := readWriter(ctx, store)
	missing, err := missingFiles(ctx, repo)
	return v, errors.Join(damage, checkSystem(ctx, store, all), badEnd, badWriter, log.holes(all, end), missing, err)
}

// checkSystem compares the system identifiers of the store and the backups.
func checkSystem(ctx context.Context, store Store, all []Manifest) error {
	if len(all) == 0 {
		return nil
	}
	text, err := readSmall(ctx, store, "SYSTEM")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: SYSTEM is missing", codec.ErrDamaged)
	} else if err != nil {
		return fmt.Errorf("read SYSTEM: %w", err)
	}
	if newest := all[len(all)-1]; text != newest.System+"\n" {
		return fmt.Errorf("%w: SYSTEM differs from the identifier in the backup %s, which is %s",
			codec.ErrDamaged, newest.ID,
			newest.System)
	}
	return nil
}

// readSmall returns the content of a small object.
func readSmall(ctx context.Context, store Store, name string) (string, error) {
	r, err := store.Open(ctx, name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(r, 100))
	return string(text), errors.Join(err, r.Close())
}

// holes returns an error for each gap in the WAL that no base backup covers. A
// restore to a moment between the gap and the next base backup is impossible.
// end is the last segment that was stored.
func (l storedLog) holes(all []Manifest, end segment) (damage error) {
	timelines := slices.Sorted(maps.Keys(l.segments))
	if l.segments[end.timeline] == nil && end.timeline > 0 { // all its segments may be missing
		timelines = append(timelines, end.timeline)
	}
	for _, timeline := range timelines {
		numbers := l.known(timeline, all, end)
		for i, at := range numbers[min(1, len(numbers)):] {
			for missing := numbers[i] + 1; missing < at; missing++ {
				bridged := slices.ContainsFunc(all, func(m Manifest) bool {
					first, last, err := m.segments()
					return err == nil && m.timeline() == timeline && first <= missing && missing <= last
				})
				if !bridged {
					damage = errors.Join(damage,
						fmt.Errorf("%w: wal/%s is missing: moments between it and the next full backup cannot be "+
							"restored",
							codec.ErrDamaged, segmentName(timeline, missing)))
					break // report only the start of the gap
				}
			}
		}
	}
	return damage
}

// known returns the numbers of a timeline's stored segments, in order, together
// with places at which the WAL must begin or end: after an archived base backup,
// and at the end.
func (l storedLog) known(timeline uint32, all []Manifest, end segment) []uint64 {
	stored := l.segments[timeline]
	numbers := slices.Sorted(maps.Keys(stored))
	most := uint64(0)
	if len(numbers) > 0 {
		most = numbers[len(numbers)-1]
	}
	if end.timeline == timeline && end.at > most {
		most = end.at
		numbers = append(numbers, end.at+1) // so that the end itself is in a gap
	}
	for _, m := range all {
		_, last, err := m.segments()
		// Segments are stored in order. Those after the newest may be on their way.
		if err == nil && m.Archived && m.timeline() == timeline && last < most && stored[last] == nil {
			numbers = append(numbers, last)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// missingFiles returns an error for each object that a list needs and the store
// does not have.
func missingFiles(ctx context.Context, repo repository) (missing, err error) {
	have, err := repo.List(ctx, "files/")
	if err != nil {
		return nil, err
	}
	exists := make(map[string]bool, len(have))
	for _, name := range have {
		exists[name] = true
	}
	needed, err := neededFiles(ctx, repo, "")
	if err != nil {
		return nil, err // includes damage of the needs themselves
	}
	for name := range needed {
		if !exists[name] {
			missing = errors.Join(missing, fmt.Errorf("%w: %s is missing", codec.ErrDamaged, name))
		}
	}
	return missing, nil
}
