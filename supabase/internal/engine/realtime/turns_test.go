package realtime

import (
	"context"
	"errors"
	"testing"

	"daawo/supabase/internal/base/network"
)

// TestTurns: a client has a limited number of turns at the same time, which it does not take from
// its neighbours, and its networks have their shares.
func TestTurns(t *testing.T) {
	var all turns
	take := func(client string) (release func(), ok bool) {
		ctx, cancel := context.WithCancel(t.Context())
		if n := all.networks[network.Client(client)]; n != nil && len(n.taken) == cap(n.taken) {
			cancel() // it would wait
		}
		defer cancel()
		release, err := all.take(ctx, network.Of(client))
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return release, err == nil
	}
	var releases []func()
	for range turnsAtOnce {
		release, ok := take("192.0.2.7")
		if !ok {
			t.Fatal("no turn")
		}
		releases = append(releases, release)
	}
	if _, ok := take("192.0.2.7"); ok {
		t.Error("one turn too many")
	}
	if n := all.networks["192.0.2.0/24"]; len(n.taken) != turnsAtOnce || cap(n.taken) != 32*turnsAtOnce {
		t.Errorf("the network has %d of %d turns", len(n.taken), cap(n.taken))
	}
	release, ok := take("192.0.2.8")
	if !ok {
		t.Fatal("no turn for a neighbour")
	}
	waits := make(chan func())
	go func() {
		release, err := all.take(t.Context(), network.Of("192.0.2.7"))
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
	if local, ok := take(""); !ok {
		t.Error("a program of this machine waits")
	} else {
		local()
	}
	if len(all.networks) != 0 {
		t.Errorf("left: %v", all.networks)
	}
}
