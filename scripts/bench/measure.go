package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// result is the result of one measurement.
type result struct {
	name             string
	rate             float64
	answered, failed int
	p50, p99, p999   time.Duration
	longest          time.Duration
	server, postgres time.Duration // CPU time per answered request, including background work
	bytes            int64         // reply bytes per answered request
	byKind           map[string][]time.Duration
}

// percentile returns the time that a share of the sorted times does not exceed; 0 without times.
func percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*share))]
}

// measure sends requests at a rate (exponential gaps, as from independent visitors) for a while. as
// returns the context of a request, nil uses ctx.
func (m *model) measure(ctx context.Context, name string, kinds []kind, rate float64, length time.Duration,
	as func() context.Context) result {
	r := result{name: name, rate: rate, byKind: map[string][]time.Duration{}}
	if as == nil {
		as = func() context.Context { return ctx }
	}
	var mu sync.Mutex
	var took []time.Duration
	var shown bool
	var visits sync.WaitGroup

	serverBefore, postgresBefore := m.processorTime()
	m.received.Store(0)
	begun := time.Now()
	next := begun
	for next.Sub(begun) < length && ctx.Err() == nil {
		time.Sleep(time.Until(next))
		arrived := next
		k, visitor := pick(kinds), as()
		visits.Go(func() {
			err := k.do(visitor)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				r.failed++
				if !shown {
					fmt.Fprintln(os.Stderr, "first failure:", err)
					shown = true
				}
				return
			}
			// Measure from the arrival, so that a late start counts as latency.
			spent := time.Since(arrived)
			took = append(took, spent)
			r.byKind[k.name] = append(r.byKind[k.name], spent)
		})
		next = next.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second)))
	}
	visits.Wait()
	m.settle(ctx)
	server, postgres := m.processorTime()

	r.answered = len(took)
	if r.answered > 0 {
		slices.Sort(took)
		r.p50, r.p99, r.p999, r.longest = percentile(took, 0.5), percentile(took, 0.99), percentile(took, 0.999),
			took[len(took)-1]
		n := time.Duration(r.answered)
		r.server, r.postgres = (server-serverBefore)/n, (postgres-postgresBefore)/n
		r.bytes = m.received.Load() / int64(r.answered)
	}
	return r
}

// pick chooses a kind at random by its share.
func pick(kinds []kind) kind {
	total := 0.0
	for _, k := range kinds {
		total += k.share
	}
	at := rand.Float64() * total
	for _, k := range kinds {
		if at -= k.share; at <= 0 {
			return k
		}
	}
	return kinds[len(kinds)-1]
}

// warm waits until the server is idle.
func (m *model) warm(ctx context.Context) error {
	last, _ := m.processorTime()
	for quiet := 0; quiet < 3; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		now, _ := m.processorTime()
		if quiet++; now-last > 50*time.Millisecond {
			quiet = 0
		}
		last = now
	}
	return nil
}

// settle waits until the background work of the visits is done: notifications and cleaning of
// photos.
func (m *model) settle(ctx context.Context) {
	conn, err := m.st.DB(ctx)
	if err != nil {
		return // measure without the background work
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var open int
		err := conn.QueryRow(ctx,
			`select count(*) from river.river_job where state in ('available', 'running')`).Scan(&open)
		if err != nil || open == 0 {
			return
		}
	}
}

// processorTime returns the CPU time of the server and of its Postgres so far, each with its live
// and ended children. Linux only; 0 elsewhere.
func (m *model) processorTime() (server, postgres time.Duration) {
	const tick = time.Second / 100 // USER_HZ, fixed on Linux (proc(5))
	postmaster, err := m.st.Postmaster()
	if err != nil {
		return 0, 0
	}
	parents := map[int]int{}
	ticks := map[int]int64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		// The name in parentheses may hold spaces: fields are counted after it.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		parents[pid], _ = strconv.Atoi(string(fields[1]))
		for _, i := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime
			n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
			ticks[pid] += n
		}
	}
	for pid, n := range ticks {
		for p := pid; p > 1; p = parents[p] {
			if p == postmaster {
				postgres += time.Duration(n) * tick
				break
			}
			if p == m.st.PID() {
				server += time.Duration(n) * tick
				break
			}
		}
	}
	return server, postgres
}
