package realtime

import (
	"context"
	"sync"

	"daawo/supabase/internal/base/network"
)

// turnsAtOnce is how many turns one client may have at the same time.
const turnsAtOnce = 4

// turns lets clients take turns: each client, and each of its networks, has a limited number at the
// same time and waits for others. It is safe for concurrent use.
type turns struct {
	mu       sync.Mutex
	networks map[string]*networkTurns
}

type networkTurns struct {
	taken chan struct{} // has an element for each turn; callers wait in their order
	users int           // callers that have a turn or wait
}

// take waits for a turn, which the caller has to release. The smallest network comes first, so that
// a client which waits for itself takes no turn of its neighbours. Programs of this machine do not
// wait.
func (t *turns) take(ctx context.Context, client []network.Part) (release func(), err error) {
	var releases []func()
	release = func() {
		for _, fn := range releases {
			fn()
		}
	}
	for _, part := range client {
		n := t.enter(part)
		select {
		case n.taken <- struct{}{}:
			releases = append(releases, func() { <-n.taken; t.leave(part) })
		case <-ctx.Done():
			t.leave(part)
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

// enter returns the turns of a network and counts a user of them.
func (t *turns) enter(part network.Part) *networkTurns {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.networks[part.Key]
	if n == nil {
		n = &networkTurns{taken: make(chan struct{}, turnsAtOnce*part.Share)}
		if t.networks == nil {
			t.networks = map[string]*networkTurns{}
		}
		t.networks[part.Key] = n
	}
	n.users++
	return n
}

// leave counts one user less, and forgets a network without users.
func (t *turns) leave(part network.Part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.networks[part.Key]
	if n.users--; n.users == 0 {
		delete(t.networks, part.Key)
	}
}
