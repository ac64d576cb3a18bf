package changes

import (
	"context"
	"sync"
)

// Turns lets callers take turns: each key has a limited number of them at the same time, and other
// callers wait in their order. The zero value is ready. It is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	keys map[string]*keyTurns
}

// Turn names what a caller takes a turn of, and how many turns of it there are.
type Turn struct {
	Key    string
	AtOnce int
}

type keyTurns struct {
	taken chan struct{} // has an element for each turn; callers wait in their order
	users int           // callers that have a turn or wait
}

// Take waits for all turns that the caller wants, which it has to release. The key with the fewest
// turns comes first, so that callers which wait for each other take no turn of other keys.
func (t *Turns) Take(ctx context.Context, wanted ...Turn) (release func(), err error) {
	var releases []func()
	release = func() {
		for _, fn := range releases {
			fn()
		}
	}
	for _, turn := range wanted {
		k := t.enter(turn)
		select {
		case k.taken <- struct{}{}:
			releases = append(releases, func() { <-k.taken; t.leave(turn) })
		case <-ctx.Done():
			t.leave(turn)
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

// enter returns the turns of a key and counts a user of them.
func (t *Turns) enter(turn Turn) *keyTurns {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.keys[turn.Key]
	if k == nil {
		k = &keyTurns{taken: make(chan struct{}, turn.AtOnce)}
		if t.keys == nil {
			t.keys = map[string]*keyTurns{}
		}
		t.keys[turn.Key] = k
	}
	k.users++
	return k
}

// leave counts one user less, and forgets a key without users.
func (t *Turns) leave(turn Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.keys[turn.Key]
	if k.users--; k.users == 0 {
		delete(t.keys, turn.Key)
	}
}
