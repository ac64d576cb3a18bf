package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Verified says what Verify has read.
type Verified struct {
	Backups, Segments, Files int
	Bytes                    int64
}

// Verify reads everything a store holds and compares it with the sums it was
// stored under. It needs no key, and so can run where the backups are kept. It
// goes on after damage and returns all of it.
func Verify(ctx context.Context, store Store, progress func(step string, done, total int64)) (v Verified, err error) {
	repo := repository{Store: store}
	all, err := List(ctx, store)
	if err != nil && !errors.Is(err, ErrDamaged) {
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
					continue // of a backup that never became good
				}
				want = o.SHA256
				delete(sums, name)
			}
			if !strings.HasPrefix(sum, want) || len(want) < sumChars {
				damage = errors.Join(damage, fmt.Errorf("%w: %s", ErrDamaged, name))
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
		damage = errors.Join(damage, fmt.Errorf("%w: %s is missing", ErrDamaged, name))
	}
	log, err := listLog(ctx, store)
	if err != nil {
		return v, err
	}
	missing, err := missingFiles(ctx, repo)
	return v, errors.Join(damage, log.holes(all), missing, err)
}

// holes names the pieces of the log that are missing between others and that no
// base backup bridges: nothing can be restored to a moment from them up to the
// next base backup.
func (l storedLog) holes(all []Manifest) (damage error) {
	for _, timeline := range slices.Sorted(maps.Keys(l.segments)) {
		numbers := slices.Sorted(maps.Keys(l.segments[timeline]))
		for i, at := range numbers[1:] {
			for missing := numbers[i] + 1; missing < at; missing++ {
				bridged := slices.ContainsFunc(all, func(m Manifest) bool {
					first, last, err := m.segments()
					return err == nil && m.timeline() == timeline && first <= missing && missing <= last
				})
				if !bridged {
					damage = errors.Join(damage, fmt.Errorf("%w: wal/%s is missing: there is no going back to moments between it and the next full backup",
						ErrDamaged, segmentName(timeline, missing)))
					break // the first of them says it
				}
			}
		}
	}
	return damage
}

// missingFiles names objects that a list needs and the store does not have.
func missingFiles(ctx context.Context, repo repository) (missing, err error) {
	have, err := repo.List(ctx, "files/")
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(have))
	for _, name := range have {
		there[name] = true
	}
	needed, err := neededFiles(ctx, repo, "")
	if err != nil {
		return nil, err // damage in the needs themselves is one, too
	}
	for name := range needed {
		if !there[name] {
			missing = errors.Join(missing, fmt.Errorf("%w: %s is missing", ErrDamaged, name))
		}
	}
	return missing, nil
}
