package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/drill/cluster"
	"daawo/scripts/stack"
)

// failoverDrill runs two servers on a Patroni cluster of three Postgres nodes and takes its primary away again and again:
// killed, then cut off from the network, while writers report through both servers.
func failoverDrill(ctx context.Context, s settings) (string, error) {
	c, err := cluster.New(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	files, err := newObjectStore()
	if err != nil {
		return "", err
	}
	defer files.close()

	extra := append(files.environment(), "DATABASE_URL="+c.URL())
	var servers []*stack.Stack
	for range 2 {
		st, err := stack.New(ctx, s.binary, extra...)
		if err != nil {
			return "", err
		}
		defer st.Close()
		servers = append(servers, st)
	}

	h := &history{}
	working, stopWork := context.WithCancel(ctx)
	defer stopWork()
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() { write(working, servers[w%2], h, fmt.Sprintf("failover-%d-%d", s.seed, w)) })
	}
	var outages outageMeter
	for _, st := range servers {
		writers.Go(func() { outages.watch(working, st) })
	}

	strike := func(n int, what string, hit, mend func(*cluster.Node) error) error {
		for round := range n {
			// A run of ordinary minutes in small: the cluster is whole before it is struck again.
			if err := c.WaitWhole(ctx, 2*time.Minute); err != nil {
				return err
			}
			pause(ctx, 2*time.Second)
			primary, err := c.Primary(ctx)
			if err != nil {
				return err
			}
			if err := hit(primary); err != nil {
				return err
			}
			if _, err := c.WaitPrimary(ctx, time.Minute); err != nil {
				return fmt.Errorf("%s %d of %d: %w", what, round+1, n, err)
			}
			pause(ctx, 2*time.Second)
			if err := mend(primary); err != nil {
				return err
			}
		}
		return nil
	}
	kills, cuts := s.rounds(10, 1), s.rounds(5, 1)
	err = errors.Join(
		strike(kills, "kill", func(n *cluster.Node) error { n.Kill(); return nil }, (*cluster.Node).StartPatroni),
		strike(cuts, "cut", (*cluster.Node).Cut, (*cluster.Node).Heal),
		c.WaitWhole(ctx, 2*time.Minute),
	)
	pause(ctx, 2*time.Second)
	stopWork()
	writers.Wait()
	if err != nil {
		return "", err
	}

	figures, err := h.check(ctx, servers[0])
	p99 := percentile(outages.lengths, 0.99)
	figures = fmt.Sprintf("%d kills, %d cuts, %s, write outages p50 %s p99 %s, %d reads during them", kills, cuts, figures,
		percentile(outages.lengths, 0.5).Round(100*time.Millisecond), p99.Round(100*time.Millisecond), outages.reads.Load())
	if err == nil && p99 > 30*time.Second {
		err = fmt.Errorf("a write outage lasted %s", p99)
	}
	return figures, err
}

// outageMeter times how long a server acknowledges nothing, and counts the pages that it serves meanwhile.
type outageMeter struct {
	mu      sync.Mutex
	lengths []time.Duration
	reads   atomic.Int64
}

func (m *outageMeter) watch(ctx context.Context, st *stack.Stack) {
	last := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		got, _, _ := submit(ctx, st, fmt.Sprintf("meter-%d-%d", st.PID(), n))
		if got != accepted {
			if code, _ := get(ctx, st.Get("API_URL")+"/so/learn/"); code == 200 {
				m.reads.Add(1)
			}
			pause(ctx, 100*time.Millisecond)
			continue
		}
		if gap := time.Since(last); gap > time.Second {
			m.mu.Lock()
			m.lengths = append(m.lengths, gap)
			slices.Sort(m.lengths)
			m.mu.Unlock()
		}
		last = time.Now()
		pause(ctx, 100*time.Millisecond)
	}
}
