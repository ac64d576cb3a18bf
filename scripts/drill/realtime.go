package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"daawo/scripts/server"
)

// Subscribers of the Realtime drill, and how long they may take to hear of a change and of each
// other again.
const (
	listeners       = 20
	listenPatience  = 30 * time.Second
	presenceWithin  = 5 * time.Second
	listenerRetries = 200 * time.Millisecond
)

// drillRows creates the table whose changes the clients follow.
const drillRows = `create table public.drill_rows (id bigint primary key);
	alter table public.drill_rows enable row level security;
	create policy everyone on public.drill_rows for select using (true);
	grant select on public.drill_rows to anon;
	alter publication supabase_realtime add table public.drill_rows`

// realtimeDrill kills the server, postgres or both while subscribers listen. After each strike
// every subscriber, which connects again as realtime-js does, gets a new row and sees all others,
// and no replication slot is left behind.
func realtimeDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary, server.PublicChannels)
	if err != nil {
		return "", err
	}
	defer st.Close()
	if err := execute(ctx, st, drillRows); err != nil {
		return "", err
	}
	listening, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	all := make([]*peer, listeners)
	for i := range all {
		all[i] = newPeer(fmt.Sprintf("listener-%d", i), false, st)
		wait.Go(func() { all[i].run(listening) })
	}
	next := int64(1)
	if _, err := heard(ctx, st, all, &next); err != nil {
		return "", fmt.Errorf("before the first strike: %w", err)
	}
	rounds := s.rounds(30, 3)
	var slowest time.Duration
	for round := range rounds {
		victim := victims[round%len(victims)]
		if err := strike(ctx, st, victim); err != nil {
			return "", err
		}
		took, err := heard(ctx, st, all, &next)
		if err != nil {
			return fmt.Sprintf("round %d of %d", round+1, rounds), fmt.Errorf("after killing %s: %w", victim, err)
		}
		slowest = max(slowest, took)
	}
	return fmt.Sprintf("%d strikes, %d subscribers each subscribed again, the slowest after %s", rounds, listeners,
		slowest.Round(time.Millisecond)), nil
}

// strike kills a victim and waits until the stack is ready.
func strike(ctx context.Context, st *server.Stack, victim string) error {
	switch victim {
	case "server":
		st.KillServer()
		return st.Start(ctx)
	case "postgres":
		if err := restarted(ctx, st, st.KillPostgres); err != nil {
			return err
		}
		return st.Ready(ctx)
	}
	_ = st.KillPostgres() // it may be starting
	st.KillServer()
	return st.Start(ctx)
}

func execute(ctx context.Context, st *server.Stack, sql string) error {
	conn, err := st.DB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// heard inserts rows until each listener has got the same one, and returns how long that took. Then
// it checks presence and the replication slots.
func heard(ctx context.Context, st *server.Stack, all []*peer, next *int64) (time.Duration, error) {
	start := time.Now()
	for {
		id := *next
		*next++
		// The first statements after a strike may meet a database that still starts.
		_ = execute(ctx, st, fmt.Sprintf("insert into public.drill_rows values (%d)", id))
		pause(ctx, 200*time.Millisecond)
		missing := missingOf(all, func(v peerView) bool { return v.last >= id })
		if len(missing) == 0 {
			break
		}
		if time.Since(start) > listenPatience {
			return 0, fmt.Errorf("no row reached %s within %s", strings.Join(missing, ", "), listenPatience)
		}
	}
	took := time.Since(start)
	for agreed := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		missing := missingOf(all, func(v peerView) bool { return v.members.keys() == listeners })
		if len(missing) == 0 {
			break
		}
		if time.Since(agreed) > presenceWithin {
			return 0, fmt.Errorf("%s do not see all %d members after %s", strings.Join(missing, ", "), listeners,
				presenceWithin)
		}
	}
	conn, err := st.DB(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	var slots, idle int
	if err := conn.QueryRow(ctx,
		`select count(*), count(*) filter (where not active) from pg_replication_slots`).Scan(&slots,
		&idle); err != nil {
		return 0, err
	}
	if slots > 1 || idle > 0 {
		return 0, fmt.Errorf("%d replication slots, %d of them not in use", slots, idle)
	}
	return took, nil
}

func missingOf(all []*peer, ok func(peerView) bool) (names []string) {
	for _, p := range all {
		if !ok(p.view()) {
			names = append(names, p.name)
		}
	}
	return names
}

// present is a state of presence, or one half of a difference.
type present map[string]struct {
	Metas []struct {
		Ref string `json:"phx_ref"`
	} `json:"metas"`
}

// roster has the key of each present member by its ref. It is nil before the first state.
type roster map[string]string

// keys returns the number of different keys.
func (r roster) keys() int {
	keys := map[string]bool{}
	for _, key := range r {
		keys[key] = true
	}
	return len(keys)
}

// attendance follows the presence of a channel as Phoenix's clients do: a difference that arrives
// before the state may be newer than it, so it is applied to the state.
type attendance struct {
	members roster
	early   []difference
}

type difference struct{ Joins, Leaves present }

// apply applies a message of presence.
func (a *attendance) apply(event string, payload []byte) error {
	if event == "presence_state" {
		var state present
		if err := json.Unmarshal(payload, &state); err != nil {
			return err
		}
		a.members = roster{}
		a.members.join(state)
		for _, d := range a.early {
			a.members.change(d)
		}
		a.early = nil
		return nil
	}
	var d difference
	if err := json.Unmarshal(payload, &d); err != nil {
		return err
	}
	if a.members == nil {
		a.early = append(a.early, d)
	} else {
		a.members.change(d)
	}
	return nil
}

func (r roster) change(d difference) {
	for _, member := range d.Leaves {
		for _, meta := range member.Metas {
			delete(r, meta.Ref)
		}
	}
	r.join(d.Joins)
}

func (r roster) join(state present) {
	for key, member := range state {
		for _, meta := range member.Metas {
			r[meta.Ref] = key
		}
	}
}
