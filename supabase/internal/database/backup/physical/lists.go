package physical

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/database/backup/codec"
)

// list is the list of files at a time.
type list struct {
	Time  time.Time `json:"time"`  // when the search for files began
	Ended time.Time `json:"ended"` // when all files were stored; zero in older lists
	Files []file    `json:"files"`
}

// listTime is the format of the times in a list's name. Names sort in the order in which the lists
// were made. If the clock was set back, the name has two times: one just after the newest list's,
// then _ and the list's own time.
const listTime = "20060102T150405.000Z"

// putList stores the list of files if it differs from the previous one or if
// always is set. now is when the search for files began.
func (t *trees) putList(ctx context.Context, now time.Time, files []file, always bool) (string, error) {
	text, err := json.Marshal(files)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	same := t.last == string(text)
	t.mu.Unlock()
	if same && !always {
		return "", nil
	}
	stamp, err := t.stamp(ctx, now)
	if err != nil {
		return "", err
	}
	// Store the needed objects unencrypted, so that pruning needs no key.
	// Store them first, so that every list has them.
	var needs strings.Builder
	for _, f := range files {
		fmt.Fprintln(&needs, f.Object)
	}
	if err := putClear(ctx, t.repo.Store, "needs/"+stamp, "", []byte(needs.String())); err != nil {
		return "", err
	}
	l := list{Time: now.UTC(), Ended: t.clock().UTC(), Files: files}
	name, err := putJSON(ctx, t.repo, "lists/"+stamp, l)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	t.last = string(text)
	t.mu.Unlock()
	return name, nil
}

// stamp returns the name of a list that is made now. It sorts after all others.
func (t *trees) stamp(ctx context.Context, now time.Time) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stamp := now.UTC().Format(listTime)
	if stamp > t.newest {
		t.newest = stamp
		return stamp, nil
	}
	if err := t.findNewest(ctx); err != nil { // another process may have stored one
		return "", err
	}
	newest, err := time.Parse(listTime, t.newest)
	if err != nil {
		return "", fmt.Errorf("%w: lists/%s is not the name of a list", codec.ErrDamaged, t.newest)
	}
	t.newest = newest.Add(time.Millisecond).Format(listTime)
	return t.newest + "_" + stamp, nil
}

// findNewest reads the time that orders the newest list.
func (t *trees) findNewest(ctx context.Context) error {
	names, err := t.repo.List(ctx, "lists/")
	if err != nil {
		return fmt.Errorf("list %s: %w", t.repo, err)
	}
	if len(names) > 0 {
		place, _ := timesOf(names[len(names)-1])
		t.newest = max(t.newest, place)
	}
	return nil
}

// timesOf returns the two times in the name of a list: the time that orders it
// and the time when it was made.
func timesOf(name string) (place, at string) {
	plain, _ := plainName(strings.TrimPrefix(name, "lists/"))
	place, at, ok := strings.Cut(plain, "_")
	if !ok {
		at = place
	}
	return place, at
}

// listed is a list in the store.
type listed struct {
	name string
	at   time.Time // list.Time, to the millisecond
}

// readListed returns the lists of a store in order, and the index of the base
// backup's list.
func readListed(ctx context.Context, repo repository, base string) (all []listed, from int, err error) {
	names, err := repo.List(ctx, "lists/")
	if err != nil {
		return nil, 0, err
	}
	from, found := slices.BinarySearch(names, base)
	if !found {
		names = slices.Insert(names, from, base) // reading it returns the error
	}
	for _, name := range names {
		_, text := timesOf(name)
		at, err := time.Parse(listTime, text)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s is not the name of a list", codec.ErrDamaged, name)
		}
		all = append(all, listed{name, at})
	}
	return all, from, nil
}

// positionsAt returns the indexes before which a moment lies in the order of the
// lists; len(all) is the end. There is more than one if a clock was ahead and was
// set back.
func positionsAt(all []listed, from int, moment time.Time) (places []int) {
	for i := from; i <= len(all); i++ {
		if (i == from || !all[i-1].at.After(moment)) && (i == len(all) || all[i].at.After(moment)) {
			places = append(places, i)
		}
	}
	return places
}

// filesAt returns the files that existed at a moment after the end of a base
// backup with the list base. No single list has them all: an earlier list lacks
// files that were written after it, and a later list lacks files that were
// deleted before it. So the result merges the lists before and after the moment.
// If a list was being made at the moment, it also includes the list before that.
// If lists differ, the later list wins. An extra file has no row, does no harm
// and is swept later; a missing file would be lost. If newest is set, the result
// includes the newest list.
func (r repository) filesAt(ctx context.Context, base string, moment time.Time, newest bool) ([]file, error) {
	all, from, err := readListed(ctx, r, base)
	if err != nil {
		return nil, err
	}
	lists := map[int]list{}
	take := func(i int) (l list, err error) {
		l, ok := lists[i]
		if !ok {
			err = getJSON(ctx, r, all[i].name, &l)
			lists[i] = l
		}
		return l, err
	}
	for _, at := range positionsAt(all, from, moment) {
		if at < len(all) {
			if _, err := take(at); err != nil {
				return nil, err
			}
		}
		for i := at - 1; i >= 0 && !all[i].at.After(moment); i-- {
			l, err := take(i)
			if err != nil {
				return nil, err
			}
			if !l.Ended.After(moment) {
				break
			}
		}
	}
	if newest {
		if _, err := take(len(all) - 1); err != nil {
			return nil, err
		}
	}
	var files []file
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(lists))) {
		files = merge(files, lists[i].Files)
	}
	return files, nil
}

// merge returns files and the files of others that have other paths.
func merge(files, others []file) []file {
	type place struct{ tree, path string }
	taken := make(map[place]bool, len(files))
	for _, f := range files {
		taken[place{f.Tree, f.Path}] = true
	}
	for _, f := range others {
		if !taken[place{f.Tree, f.Path}] {
			files = append(files, f)
		}
	}
	return files
}

func putJSON(ctx context.Context, repo repository, name string, v any) (string, error) {
	return repo.putSummed(ctx, name, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
}

func getJSON(ctx context.Context, repo repository, name string, v any) error {
	return repo.read(ctx, name, func(r io.Reader) error { return codec.DecodeJSON(r, v) })
}
