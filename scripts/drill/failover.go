package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"daawo/scripts/drill/cluster"
	"daawo/scripts/stack"
)

// failoverDrill runs two servers on a Patroni cluster of three Postgres nodes and takes its primary away again and again
// while visitors report to both servers and read from them. One server knows the three hosts, the other one an HAProxy in
// front of them: the two ways that docker/cluster offers.
func failoverDrill(ctx context.Context, s settings) (figures string, err error) {
	c, err := cluster.New(ctx)
	if err != nil {
		return "", err
	}
	defer func() {
		if c.KeepLogs = err != nil; c.KeepLogs {
			fmt.Println("  the cluster's logs are in", c.Dir)
		}
		c.Close()
	}()
	proxy, err := c.StartProxy()
	if err != nil {
		return "", err
	}
	defer proxy.Close()
	files, err := newObjectStore()
	if err != nil {
		return "", err
	}
	defer files.close()

	var servers []*stack.Stack
	for _, way := range [][2]string{
		{c.URL("read-write"), c.URL("prefer-standby")},
		{cluster.URL(proxy.Write), cluster.URL(proxy.Read)},
	} {
		st, err := stack.New(ctx, s.binary, append(files.environment(), "DATABASE_URL="+way[0], "DATABASE_READ_URL="+way[1])...)
		if err != nil {
			return "", err
		}
		defer st.Close()
		servers = append(servers, st)
	}
	f := &failover{cluster: c, servers: servers, history: &history{}, writes: make([]gaps, 2), pages: make([]gaps, 2), lists: make([]gaps, 2)}
	return f.run(ctx, s)
}

// failover is the state of a run.
type failover struct {
	cluster *cluster.Cluster
	servers []*stack.Stack
	history *history
	direct  directWriter

	writes, pages, lists []gaps // by server
	outages, away        []time.Duration
}

// blow is a way to take the primary away, and back.
type blow struct {
	what      string
	hit, mend func(*cluster.Node) error
}

func blows(s settings) []blow {
	kill := blow{"killed", func(n *cluster.Node) error { n.Kill(); return nil }, (*cluster.Node).StartPatroni}
	cut := blow{"cut off", (*cluster.Node).Cut, (*cluster.Node).Heal}
	isolate := blow{"cut off from its standbys", (*cluster.Node).Isolate, (*cluster.Node).Rejoin}
	var all []blow
	for range s.rounds(10, 2) {
		all = append(all, kill)
	}
	for i := range s.rounds(5, 2) {
		all = append(all, []blow{cut, isolate}[i%2])
	}
	return all
}

func (f *failover) run(ctx context.Context, s settings) (string, error) {
	working, stopWork := context.WithCancel(ctx)
	defer stopWork()
	var workers sync.WaitGroup
	for w := range 6 {
		workers.Go(func() { f.write(working, fmt.Sprintf("failover-%d-%d", s.seed, w)) })
	}
	for i, st := range f.servers {
		workers.Go(func() { f.read(working, st, "/so/learn/", &f.pages[i]) })
		list := "/rest/v1/resources?select=*&is_active=eq.true&apikey=" + st.Get("ANON_KEY")
		workers.Go(func() { f.read(working, st, list, &f.lists[i]) })
	}
	workers.Go(func() { f.direct.run(working, f.cluster) })
	var split error
	workers.Go(func() { split = f.cluster.Guard(working) })

	var err error
	all := blows(s)
	for i, b := range all {
		if err = f.round(ctx, i+1, b); err != nil {
			break
		}
	}
	err = errors.Join(err, f.cluster.WaitWhole(ctx, 2*time.Minute))
	pause(ctx, 2*time.Second)
	stopWork()
	workers.Wait()
	if err = errors.Join(err, split); err != nil {
		return "", err
	}
	return f.verdict(ctx, len(all))
}

// round strikes the primary of a whole cluster and waits until another one has taken over.
func (f *failover) round(ctx context.Context, n int, b blow) error {
	if err := f.cluster.WaitWhole(ctx, 2*time.Minute); err != nil {
		return err
	}
	pause(ctx, 2*time.Second)
	for i := range f.servers {
		f.writes[i].longest()
		f.pages[i].longest()
		f.lists[i].longest()
	}
	old, before, err := f.cluster.Primary(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := b.hit(old); err != nil {
		return err
	}
	next, after, err := f.cluster.WaitOther(ctx, old, time.Minute)
	if err != nil {
		return fmt.Errorf("round %d, %s %s: %w", n, old.Name, b.what, err)
	}
	elected := time.Since(begun)
	if after.Timeline <= before.Timeline {
		return fmt.Errorf("round %d: %s goes on with timeline %d after %d", n, next.Name, after.Timeline, before.Timeline)
	}
	// Until both servers take reports again, or a minute.
	for end := time.Now().Add(time.Minute); time.Now().Before(end); pause(ctx, 100*time.Millisecond) {
		if f.writes[0].since() < time.Second && f.writes[1].since() < time.Second {
			break
		}
	}
	pause(ctx, 2*time.Second)
	line := fmt.Sprintf("  %2d  %s %s; %s is primary after %.1f s, timeline %d", n, old.Name, b.what, next.Name, elected.Seconds(), after.Timeline)
	for i := range f.servers {
		w, p, l := f.writes[i].longest(), f.pages[i].longest(), f.lists[i].longest()
		f.outages, f.away = append(f.outages, w), append(f.away, max(p, l))
		line += fmt.Sprintf("; server %d: no reports for %.1f s, no list for %.1f s, no page for %.1f s", i+1, w.Seconds(), l.Seconds(), p.Seconds())
	}
	fmt.Println(line)
	return b.mend(old)
}

// verdict compares what clients were told with what is stored.
func (f *failover) verdict(ctx context.Context, rounds int) (string, error) {
	figures, err := f.history.check(ctx, f.servers[0])
	direct, derr := f.direct.check(ctx, f.cluster)
	p50, p99, away := percentile(f.outages, 0.5), percentile(f.outages, 0.99), percentile(f.away, 1)
	figures = fmt.Sprintf("%d rounds, %s, %s, write outages p50 %.1f s p99 %.1f s, reads away at most %.1f s, never two primaries",
		rounds, figures, direct, p50.Seconds(), p99.Seconds(), away.Seconds())
	err = errors.Join(err, derr)
	if p99 > 30*time.Second {
		err = errors.Join(err, fmt.Errorf("a write outage lasted %s", p99))
	}
	if away > 10*time.Second {
		err = errors.Join(err, fmt.Errorf("there was nothing to read for %s", away))
	}
	return figures, err
}

// write reports one product after the other until ctx ends. Each try goes to one of the servers at random, as behind a
// balancer, always with the report's own key.
func (f *failover) write(ctx context.Context, prefix string) {
	for n := 0; ctx.Err() == nil; n++ {
		e := entry{key: fmt.Sprintf("%s-%d", prefix, n)}
		for ctx.Err() == nil && e.outcome == unknown {
			i := rand.IntN(len(f.servers))
			var r reply
			e.outcome, r, _ = submit(ctx, f.servers[i], e.key)
			e.reference = r.Reference
			if e.outcome == accepted {
				f.writes[i].served()
			} else {
				pause(ctx, 50*time.Millisecond)
			}
		}
		f.history.add(e)
		pause(ctx, 20*time.Millisecond)
	}
}

// read fetches something from one server again and again.
func (f *failover) read(ctx context.Context, st *stack.Stack, path string, g *gaps) {
	for ctx.Err() == nil {
		if code, _ := get(ctx, st.Get("API_URL")+path); code == 200 {
			g.served()
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// gaps measures the longest time in which something was not served.
type gaps struct {
	mu   sync.Mutex
	last time.Time
	most time.Duration
}

func (g *gaps) served() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.last.IsZero() {
		g.most = max(g.most, time.Since(g.last))
	}
	g.last = time.Now()
}

func (g *gaps) since() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.last)
}

// longest gives the longest gap since it was asked before, with one that has not ended.
func (g *gaps) longest() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	most := max(g.most, time.Since(g.last))
	g.most = 0
	return most
}
