package changes

import (
	"context"
	"errors"
	"testing"
)

// TestTurns: a key has a limited number of turns at the same time, and a caller that waits for one
// takes no other.
func TestTurns(t *testing.T) {
	var all Turns
	take := func(key string) (release func(), ok bool) {
		ctx, cancel := context.WithCancel(t.Context())
		if k := all.keys[key]; k != nil && len(k.taken) == cap(k.taken) {
			cancel() // it would wait
		}
		defer cancel()
		release, err := all.Take(ctx, Turn{key, 2}, Turn{"all", 3})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return release, err == nil
	}
	var releases []func()
	for range 2 {
		release, ok := take("a")
		if !ok {
			t.Fatal("no turn")
		}
		releases = append(releases, release)
	}
	if _, ok := take("a"); ok {
		t.Error("one turn too many")
	}
	if k := all.keys["all"]; len(k.taken) != 2 || cap(k.taken) != 3 {
		t.Errorf("%d of %d turns are taken", len(k.taken), cap(k.taken))
	}
	release, ok := take("b")
	if !ok {
		t.Fatal("no turn for another key")
	}
	waits := make(chan func())
	go func() {
		release, err := all.Take(t.Context(), Turn{"a", 2}, Turn{"all", 3})
		if err != nil {
			t.Error(err)
		}
		waits <- release
	}()
	releases[0]()
	releases[0] = <-waits
	for _, release := range append(releases, release) {
		release()
	}
	if len(all.keys) != 0 {
		t.Errorf("left: %v", all.keys)
	}
}
