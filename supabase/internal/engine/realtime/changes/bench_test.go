package changes

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// BenchmarkChanges measures how long a committed row takes to reach 500 subscribers at 200 changes
// a second, with row level security: users that share their claims, users with claims of their own,
// and the same with a filter each.
func BenchmarkChanges(b *testing.B) {
	for _, c := range []struct {
		name   string
		claims func(n int) map[string]any
		filter func(n int) string
	}{
		{"one user", func(int) map[string]any { return user(alice) }, func(int) string { return "" }},
		{"500 users", func(n int) map[string]any { return user(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) },
			func(int) string { return "" }},
		{"500 users and filters",
			func(n int) map[string]any { return user(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) },
			func(n int) string { return fmt.Sprintf("room=eq.%d", n) }},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.claims, c.filter) })
	}
}

func benchmark(b *testing.B, claims func(int) map[string]any, filter func(int) string) {
	const subscribers, interval = 500, 5 * time.Millisecond
	d := testdb.New(b)
	d.Exec(`create table notes (id bigint primary key, room int, body text);
		alter table notes enable row level security;
		create policy members on notes for select to authenticated using ((select auth.uid()) is not null);
		alter publication supabase_realtime add table notes`)
	pool, err := pool.Open(b.Context(), pool.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 3})
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	s, err := Open(Options{Pool: pool, ReplicationURL: d.URL("supabase_realtime_admin"),
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	defer func() {
		cancel()
		running.Wait()
		eventually(b, "the slot is dropped", func() bool { return slots(d) == 0 })
	}()

	var mu sync.Mutex
	var received []time.Time
	for n := range subscribers {
		sub := Subscriber{Role: "authenticated", Claims: claims(n),
			Bindings: []Binding{{Schema: "public", Table: "notes", Event: "INSERT", Filter: filter(n)}}}
		sub.Deliver = func(Change) {
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			received = append(received, now)
		}
		if _, err := s.Subscribe(ctx, sub); err != nil {
			b.Fatal(err)
		}
	}
	conn := d.Conn("postgres")
	// Only flushed WAL is decoded. The server of the tests flushes it every 200 ms otherwise.
	if _, err := conn.Exec(ctx, `set synchronous_commit = on`); err != nil {
		b.Fatal(err)
	}
	var committed []time.Time
	tick := time.NewTicker(interval)
	defer tick.Stop()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		<-tick.C
		if _, err := conn.Exec(ctx, `insert into notes values ($1, $2, 'body')`, i, i%subscribers); err != nil {
			b.Fatal(err)
		}
		committed = append(committed, time.Now())
	}
	each := subscribers
	if filter(0) != "" {
		each = 1
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		n := len(received)
		mu.Unlock()
		if n >= each*len(committed) {
			break
		}
		if time.Now().After(end) {
			b.Fatalf("%d of %d deliveries", n, each*len(committed))
		}
	}
	var latencies []time.Duration
	for i, at := range received {
		latencies = append(latencies, at.Sub(committed[i/each]))
	}
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[len(latencies)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds())/1000, "p99-ms")
}
