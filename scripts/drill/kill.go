package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"daawo/scripts/server"
)

// victims lists what the rounds kill, in turn.
var victims = []string{"server", "postgres", "both"}

// killDrill kills the server, postgres or both at random moments while eight writers send reports
// over HTTP. A writer retries with the same key until it has a reply, as the page does.
func killDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	random := rand.New(rand.NewPCG(uint64(s.seed), 1))
	rounds := s.rounds(s.kills, 3)
	h := &history{}
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() { write(writing, st, h, fmt.Sprintf("kill-%d-%d", s.seed, w)) })
	}

	recoveries := map[string][]time.Duration{}
	for round := range rounds {
		pause(ctx, 100*time.Millisecond+time.Duration(random.IntN(400))*time.Millisecond)
		struck := time.Now()
		victim := victims[round%len(victims)]
		switch victim {
		case "server":
			st.KillServer()
			err = st.Start(ctx)
		case "postgres":
			if err = restarted(ctx, st, st.KillPostgres); err == nil {
				err = answers(ctx, st, h)
			}
		case "both":
			_ = st.KillPostgres()
			st.KillServer()
			err = st.Start(ctx)
		}
		if err != nil {
			stopWriting()
			writers.Wait()
			return fmt.Sprintf("round %d of %d", round+1, rounds), err
		}
		recoveries[victim] = append(recoveries[victim], time.Since(struck))
	}
	stopWriting()
	writers.Wait()

	figures, err := h.check(ctx, st)
	var all []time.Duration
	var parts []string
	for _, victim := range victims {
		all = append(all, recoveries[victim]...)
		parts = append(parts, fmt.Sprintf("%s p50 %s", victim,
			percentile(recoveries[victim], 0.5).Round(time.Millisecond)))
	}
	p99 := percentile(all, 0.99)
	figures = fmt.Sprintf("%d rounds, 8 writers, %s, recovery p50 %s p99 %s (%s)", rounds, figures,
		percentile(all, 0.5).Round(time.Millisecond), p99.Round(time.Millisecond), strings.Join(parts, ", "))
	if err == nil && !s.short && p99 > 3*time.Second { // the short form shares the CPU with other tests
		err = fmt.Errorf("recovery p99 %s is over 3 s", p99)
	}
	return figures, err
}

// restarted kills Postgres and waits for a new postmaster. Until then, children of the dead one may
// still answer.
func restarted(ctx context.Context, st *server.Stack, kill func() error) error {
	before, err := st.Postmaster()
	if err != nil {
		return err
	}
	if err := kill(); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); pause(ctx, 5*time.Millisecond) {
		if now, err := st.Postmaster(); err == nil && now != before {
			return nil
		}
	}
	return fmt.Errorf("postgres was not restarted within 30 s:\n%s", st.LogTail())
}

// write sends one report after the other until ctx ends and retries each with its key until it has
// a reply.
func write(ctx context.Context, st *server.Stack, h *history, prefix string) {
	for n := 0; ctx.Err() == nil; n++ {
		e := entry{key: fmt.Sprintf("%s-%d", prefix, n)}
		for ctx.Err() == nil && e.outcome == unknown {
			var r reply
			e.outcome, r, _ = submit(ctx, st, e.key)
			e.reference = r.Reference
			if e.outcome == accepted || ctx.Err() == nil { // otherwise the drill itself canceled the request
				h.tried(e.outcome, r.status)
			}
			if e.outcome == unknown {
				pause(ctx, 20*time.Millisecond)
			}
		}
		h.add(e)
		pause(ctx, 5*time.Millisecond)
	}
}

// answers waits until a new report is acknowledged.
func answers(ctx context.Context, st *server.Stack, h *history) error {
	key := fmt.Sprintf("probe-%d", time.Now().UnixNano())
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); pause(ctx, 10*time.Millisecond) {
		if got, r, _ := submit(ctx, st, key); got == accepted {
			h.add(entry{key: key, outcome: accepted, reference: r.Reference})
			return nil
		}
	}
	return fmt.Errorf("no report was acknowledged within 30 s after postgres was killed:\n%s", st.LogTail())
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// percentile returns the p-th quantile of ds (nearest rank).
func percentile(ds []time.Duration, p float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
