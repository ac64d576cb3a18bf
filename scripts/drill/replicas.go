package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

// Clients of the drill of replicas, of each server and kind.
const peersEach = 5

// healWithin is how long clients may take to be subscribed again and to know every row, on a
// machine that is busy with others.
const healWithin = 30 * time.Second

// installation is two servers on one database with NATS between them. A third server owns the
// database and has no clients.
type installation struct {
	database *server.Stack
	servers  [2]*server.Stack
	links    [2]*link // between each server and NATS
	nats     *broker
	peers    []*peer
	rows     atomic.Int64 // ids 1 to rows are committed
}

// replicasDrill kills one of two servers, cuts off one or both from NATS, kills NATS, and ends the
// replication. The members of a lost server leave the other one within 5 s, its clients connect to
// the other one, every client is subscribed again and knows all rows and all members, and no
// broadcast arrives twice.
func replicasDrill(ctx context.Context, s settings) (string, error) {
	in := &installation{nats: &broker{}}
	defer in.close()
	if err := in.open(ctx, s.binary); err != nil {
		return "", err
	}
	running, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	for _, p := range in.peers {
		wait.Go(func() { p.run(running) })
	}
	failed := make(chan error, 1)
	wait.Go(func() { failed <- in.write(running) })
	if _, _, err := in.settled(ctx, healWithin); err != nil {
		return "", fmt.Errorf("before the first strike: %w", err)
	}
	plan := []strikeKind{killServer, cutServer, killNATS, silenceServer, endReplication}
	if s.short {
		plan = []strikeKind{killServer, flickNATS, endReplication}
	}
	slowest := map[string]time.Duration{}
	rounds := s.rounds(4, 1) * len(plan)
	for round := range rounds {
		kind := plan[round%len(plan)]
		if err := in.strike(ctx, kind, (round/len(plan))%2, slowest); err != nil {
			return fmt.Sprintf("round %d of %d", round+1, rounds), fmt.Errorf("%s: %w", kind, err)
		}
	}
	stop()
	wait.Wait()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(slowest)) {
		parts = append(parts, fmt.Sprintf("%s %s", name, slowest[name].Round(10*time.Millisecond)))
	}
	var received int64
	for _, p := range in.peers {
		received += p.received
	}
	return fmt.Sprintf("%d strikes, %d clients, %d rows, %d broadcasts received, slowest: %s", rounds, len(in.peers),
		in.rows.Load(), received, strings.Join(parts, ", ")), errors.Join(<-failed, in.faults())
}

// open starts NATS, the database and the servers, and makes the clients.
func (in *installation) open(ctx context.Context, binary string) (err error) {
	if err := in.nats.start(); err != nil {
		return err
	}
	if in.database, err = server.New(ctx, binary); err != nil {
		return err
	}
	if err := execute(ctx, in.database, drillRows); err != nil {
		return err
	}
	for i := range in.servers {
		if in.links[i], err = newLink(in.nats.address()); err != nil {
			return err
		}
		in.servers[i], err = server.New(ctx, binary, "DATABASE_URL="+in.database.Get("DB_URL"), "NATS_URL=nats://"+
			in.links[i].address(), server.PublicChannels)
		if err != nil {
			return err
		}
	}
	for i, server := range in.servers {
		for n := range peersEach {
			in.peers = append(in.peers,
				newPeer(fmt.Sprintf("stays-%d-%d", i, n), n == 0, server),
				newPeer(fmt.Sprintf("moves-%d-%d", i, n), n == 0, server, in.servers[1-i]))
		}
	}
	return nil
}

func (in *installation) close() {
	for i := range in.servers {
		if in.servers[i] != nil {
			in.servers[i].Close()
		}
		if in.links[i] != nil {
			in.links[i].close()
		}
	}
	if in.database != nil {
		in.database.Close()
	}
	in.nats.stop()
}

// write inserts rows until ctx ends.
func (in *installation) write(ctx context.Context) error {
	conn, err := in.database.DB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		if _, err := conn.Exec(ctx, `insert into public.drill_rows values ($1)`, in.rows.Load()+1); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		in.rows.Add(1)
		pause(ctx, 50*time.Millisecond)
	}
}

// strikeKind is what a strike does. Its text is the name in the figures.
type strikeKind string

const (
	killServer     strikeKind = "kill of a server"
	cutServer      strikeKind = "cut to NATS"
	silenceServer  strikeKind = "silent NATS"
	killNATS       strikeKind = "kill of NATS"
	flickNATS      strikeKind = "restart of NATS"
	endReplication strikeKind = "end of replication"
)

// strike breaks something, checks what the clients see, repairs it, and waits until all is as
// before.
func (in *installation) strike(ctx context.Context, kind strikeKind, victim int,
	slowest map[string]time.Duration) error {
	note := func(what string, took time.Duration) {
		what = string(kind) + " " + what
		slowest[what] = max(slowest[what], took)
	}
	present := [2]map[string]bool{in.members(0), in.members(1)}
	var confirms map[*peer]int
	watchers := []int{0, 1} // servers on which the members of the other one must leave
	struck := time.Now()
	switch kind {
	case killServer:
		in.servers[victim].KillServer()
		watchers = []int{1 - victim}
	case cutServer:
		in.links[victim].set(true, false)
	case silenceServer:
		in.links[victim].set(false, true)
	case killNATS, flickNATS:
		for _, l := range in.links {
			l.set(true, false)
		}
		in.nats.stop()
		if kind == flickNATS {
			watchers = nil
		}
	case endReplication:
		watchers, confirms = nil, map[*peer]int{}
		for _, p := range in.peers {
			confirms[p] = p.view().confirms
		}
		if err := in.endReplication(ctx); err != nil {
			return err
		}
	}
	for _, at := range watchers {
		took, err := in.left(ctx, struck, in.servers[at], present[1-at])
		if err != nil {
			return err
		}
		note("leave", took)
	}
	if err := in.repair(ctx, kind, victim); err != nil {
		return err
	}
	subscribed, agreed, err := in.settled(ctx, presenceWithin)
	note("subscribe", subscribed)
	note("agree", agreed)
	for p, before := range confirms { // the servers read on where they ended
		if err == nil && p.view().confirms != before {
			err = fmt.Errorf("%s was told to read the table again", p.name)
		}
	}
	return err
}

// repair undoes a strike.
func (in *installation) repair(ctx context.Context, kind strikeKind, victim int) error {
	switch kind {
	case killServer:
		return restart(ctx, in.servers[victim])
	case killNATS, flickNATS:
		if err := in.nats.start(); err != nil {
			return err
		}
	}
	for _, l := range in.links {
		l.set(false, false)
	}
	return nil
}

// restart starts a server, again if it ends, as a supervisor of processes does.
func restart(ctx context.Context, server *server.Stack) (err error) {
	for range 3 {
		if err = server.Start(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// endReplication ends the replication connections of all servers.
func (in *installation) endReplication(ctx context.Context) error {
	conn, err := superuser(ctx, in.database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var ended int
	err = conn.QueryRow(ctx,
		`select count(pg_terminate_backend(active_pid)) from pg_replication_slots where active`).Scan(&ended)
	if err == nil && ended != len(in.servers) {
		err = fmt.Errorf("%d replication connections, not one of each server", ended)
	}
	return err
}

// members returns the refs of the clients of a server.
func (in *installation) members(server int) map[string]bool {
	names, refs := map[string]bool{}, map[string]bool{}
	var some roster
	for _, p := range in.peers {
		if v := p.view(); v.at == in.servers[server] {
			names[p.name], some = true, v.members
		}
	}
	for ref, key := range some {
		if names[key] {
			refs[ref] = true
		}
	}
	return refs
}

// left waits until no client of a server sees one of the refs, and returns how long after the
// strike that was.
func (in *installation) left(ctx context.Context, struck time.Time, server *server.Stack,
	refs map[string]bool) (time.Duration, error) {
	if len(refs) == 0 {
		return 0, errors.New("no client was present on the server")
	}
	for ; ; pause(ctx, 10*time.Millisecond) {
		watching, late := 0, []string{}
		for _, p := range in.peers {
			v := p.view()
			if v.at != server || v.members == nil {
				continue
			}
			watching++
			for ref := range v.members {
				if refs[ref] {
					late = append(late, p.name)
					break
				}
			}
		}
		took := time.Since(struck)
		switch {
		case watching > 0 && len(late) == 0:
			return took, nil
		case took > presenceWithin:
			return took, fmt.Errorf("after %s %s still see members of the lost server", presenceWithin,
				strings.Join(late, ", "))
		case ctx.Err() != nil:
			return took, ctx.Err()
		}
	}
}

// settled waits until every client is subscribed, and then until all see the same members, once
// each. It returns how long each took. Then it waits until every client has all rows and hears
// every sender.
func (in *installation) settled(ctx context.Context, agreeWithin time.Duration) (subscribed, agreed time.Duration,
	err error) {
	subscribed, err = in.until(ctx, healWithin, "is not subscribed",
		func(_ *peer, v peerView) bool { return v.current })
	if err != nil {
		return subscribed, 0, err
	}
	agreed, err = in.until(ctx, agreeWithin, "does not see all members once", func(_ *peer, v peerView) bool {
		return len(v.members) == len(in.peers) && v.members.keys() == len(in.peers)
	})
	if err != nil {
		return subscribed, agreed, err
	}
	rows, sent := in.rows.Load(), map[string]int64{}
	for _, p := range in.peers {
		if p.sending {
			sent[p.name] = p.view().sent
		}
	}
	if _, err = in.until(ctx, healWithin, "lacks rows",
		func(_ *peer, v peerView) bool { return v.floor >= rows }); err != nil {
		return subscribed, agreed, err
	}
	_, err = in.until(ctx, healWithin, "gets no broadcasts", func(p *peer, v peerView) bool {
		for sender, n := range sent {
			if sender != p.name && v.heard[sender] <= n {
				return false
			}
		}
		return true
	})
	return subscribed, agreed, errors.Join(err, in.faults())
}

// until waits until a condition holds for every client.
func (in *installation) until(ctx context.Context, limit time.Duration, what string,
	holds func(*peer, peerView) bool) (time.Duration, error) {
	for start := time.Now(); ; pause(ctx, 10*time.Millisecond) {
		var missing []string
		for _, p := range in.peers {
			if !holds(p, p.view()) {
				missing = append(missing, p.name)
			}
		}
		took := time.Since(start)
		switch {
		case len(missing) == 0:
			return took, nil
		case took > limit:
			return took, fmt.Errorf("after %s %s: %s", limit, what, strings.Join(missing, ", "))
		case ctx.Err() != nil:
			return took, ctx.Err()
		}
	}
}

// faults returns the broken promises that the clients have noted.
func (in *installation) faults() (err error) {
	for _, p := range in.peers {
		if v := p.view(); v.fault != "" {
			err = errors.Join(err, errors.New(v.fault))
		}
	}
	return err
}
