package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// list is what files there were at a time.
type list struct {
	Time  time.Time `json:"time"`  // when they began to be looked for
	Ended time.Time `json:"ended"` // when all were stored; zero in older lists
	Files []file    `json:"files"`
}

// listTime is a time in a list's name. Names are in the order in which the lists
// were made, by their times; of one that was made after the clock had been set
// back, the name is a time after that of the newest list, _, and its own time.
const listTime = "20060102T150405.000Z"

// putList stores a list that differs from the one before, or, where always is
// said, any. now is when its files began to be looked for.
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
	// Which objects it needs, in the clear: what no list needs can then be
	// deleted without the key. It goes first: no list is without it.
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

// stamp is what names a list that is made now: it comes after all others.
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
		return "", fmt.Errorf("%w: lists/%s is no name of a list", ErrDamaged, t.newest)
	}
	t.newest = newest.Add(time.Millisecond).Format(listTime)
	return t.newest + "_" + stamp, nil
}

// findNewest learns the place of the newest list.
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

// timesOf returns the two times in the name of a list: by which it has its place,
// and when it was made.
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

// readListed returns the lists of a store in their order, and which of them is
// that of the base backup.
func readListed(ctx context.Context, repo repository, base string) (all []listed, from int, err error) {
	names, err := repo.List(ctx, "lists/")
	if err != nil {
		return nil, 0, err
	}
	from, found := slices.BinarySearch(names, base)
	if !found {
		names = slices.Insert(names, from, base) // reading it says what is wrong
	}
	for _, name := range names {
		_, text := timesOf(name)
		at, err := time.Parse(listTime, text)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s is no name of a list", ErrDamaged, name)
		}
		all = append(all, listed{name, at})
	}
	return all, from, nil
}

// passing returns where a moment lies between lists: before those of the
// returned numbers, len(all) being the end. There is one such place, and several
// where a clock was ahead and set back.
func passing(all []listed, from int, moment time.Time) (places []int) {
	for i := from; i <= len(all); i++ {
		if (i == from || !all[i-1].at.After(moment)) && (i == len(all) || all[i].at.After(moment)) {
			places = append(places, i)
		}
	}
	return places
}

// filesAt returns the files that there were at a moment after the end of a base
// backup with the list base. No single list has them: one from before lacks what
// was written after it, and one from after lacks what was deleted before it. So
// they are those of both, and of one that was being made at the moment those of
// the one before that, too; where they differ the later is right. A file too many
// has no row, does no harm, and is swept; one too few would be a loss. With
// newest, those of the newest list are among them.
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
	for _, at := range passing(all, from, moment) {
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
		files = joined(files, lists[i].Files)
	}
	return files, nil
}

// joined returns files and, of others, those in other places.
func joined(files, others []file) []file {
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
	return repo.read(ctx, name, func(r io.Reader) error { return decodeJSON(r, v) })
}
