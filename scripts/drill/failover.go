package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"daawo/scripts/drill/cluster"
	"daawo/scripts/server"
)

// failoverDrill runs two servers on a Patroni cluster of three Postgres nodes. It takes the primary
// away repeatedly while clients write to and read from both servers. One server connects to the
// three hosts, the other to an HAProxy in front of them: the two ways that docker/cluster
// describes.
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

	var servers []*server.Stack
	for _, way := range [][2]string{
		{c.URL("read-write"), c.URL("prefer-standby")},
		{cluster.URL(proxy.Write), cluster.URL(proxy.Read)},
	} {
		st, err := server.New(ctx, s.binary,
			append(files.environment(), "DATABASE_URL="+way[0], "DATABASE_READ_URL="+way[1])...)
		if err != nil {
			return "", err
		}
		defer st.Close()
		servers = append(servers, st)
	}
	f := &failover{cluster: c, servers: servers, history: &history{}, writes: make([]gaps, 2), pages: make([]gaps, 2),
		lists: make([]gaps, 2)}
	return f.run(ctx, s)
}

// failover is the state of a run.
type failover struct {
	cluster *cluster.Cluster
	servers []*server.Stack
	history *history
	direct  directWriter

	writes, pages, lists []gaps // by server
	outages, away        []time.Duration
}

// fault is a way to take the primary away and to bring it back.
type fault struct {
	what          string
	apply, repair func(*cluster.Node) error
}

func faults(s settings) []fault {
	kill := fault{"killed", func(n *cluster.Node) error { n.Kill(); return nil }, (*cluster.Node).StartPatroni}
	cut := fault{"disconnected", (*cluster.Node).Cut, (*cluster.Node).Heal}
	isolate := fault{"disconnected from its standbys", (*cluster.Node).Isolate, (*cluster.Node).Rejoin}
	var all []fault
	for range s.rounds(10, 2) {
		all = append(all, kill)
	}
	for i := range s.rounds(5, 2) {
		all = append(all, []fault{cut, isolate}[i%2])
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
	all := faults(s)
	for i, b := range all {
		if err = f.round(ctx, i+1, b); err != nil {
			break
		}
	}
	err = errors.Join(err, f.cluster.WaitHealthy(ctx, 2*time.Minute))
	pause(ctx, 2*time.Second)
	stopWork()
	workers.Wait()
	if err = errors.Join(err, split); err != nil {
		return "", err
	}
	return f.verdict(ctx, len(all))
}

// round applies a fault to the primary of a healthy cluster and waits until another node has taken
// over.
func (f *failover) round(ctx context.Context, n int, b fault) error {
	if err := f.cluster.WaitHealthy(ctx, 2*time.Minute); err != nil {
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
	if err := b.apply(old); err != nil {
		return err
	}
	next, after, err := f.cluster.WaitOther(ctx, old, time.Minute)
	if err != nil {
		return fmt.Errorf("round %d, %s %s: %w", n, old.Name, b.what, err)
	}
	elected := time.Since(begun)
	if after.Timeline <= before.Timeline {
		return fmt.Errorf("round %d: %s has timeline %d after %d", n, next.Name, after.Timeline, before.Timeline)
	}
	// Wait until both servers accept reports again, at most a minute.
	for end := time.Now().Add(time.Minute); time.Now().Before(end); pause(ctx, 100*time.Millisecond) {
		if f.writes[0].since() < time.Second && f.writes[1].since() < time.Second {
			break
		}
	}
	pause(ctx, 2*time.Second)
	line := fmt.Sprintf("  %2d  %s %s; %s is primary after %.1f s, timeline %d", n, old.Name, b.what, next.Name,
		elected.Seconds(), after.Timeline)
	for i := range f.servers {
		w, p, l := f.writes[i].longest(), f.pages[i].longest(), f.lists[i].longest()
		f.outages, f.away = append(f.outages, w), append(f.away, max(p, l))
		line += fmt.Sprintf("; server %d: no reports for %.1f s, no list for %.1f s, no page for %.1f s", i+1,
			w.Seconds(), l.Seconds(), p.Seconds())
	}
	fmt.Println(line)
	return b.repair(old)
}

// verdict compares the replies to clients with the stored data.
func (f *failover) verdict(ctx context.Context, rounds int) (string, error) {
	figures, err := f.history.check(ctx, f.servers[0])
	direct, derr := f.direct.check(ctx, f.cluster)
	p50, p99, away := percentile(f.outages, 0.5), percentile(f.outages, 0.99), percentile(f.away, 1)
	figures = fmt.Sprintf("%d rounds, %s, %s, write outages p50 %.1f s p99 %.1f s, read outages at most %.1f s, never two primaries",
		rounds, figures, direct, p50.Seconds(), p99.Seconds(), away.Seconds())
	err = errors.Join(err, derr)
	if p99 > 30*time.Second {
		err = errors.Join(err, fmt.Errorf("a write outage lasted %s", p99))
	}
	if away > 10*time.Second {
		err = errors.Join(err, fmt.Errorf("a read outage lasted %s", away))
	}
	return figures, err
}

// write sends one report after the other until ctx ends. Each attempt goes to a random server, as
// behind a load balancer, and keeps the report's key.
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

// read fetches a path from one server repeatedly.
func (f *failover) read(ctx context.Context, st *server.Stack, path string, g *gaps) {
	for ctx.Err() == nil {
		if code := get(ctx, st, path); code == 200 {
			g.served()
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// gaps measures the longest time without a served request.
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

// longest returns the longest gap since its last call, including a gap that has not ended.
func (g *gaps) longest() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	most := max(g.most, time.Since(g.last))
	g.most = 0
	return most
}
