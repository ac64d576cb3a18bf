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
// a second, with row level security: users that share their claims, users with claims of their own
// under policies of three kinds, and users with a filter each.
func BenchmarkChanges(b *testing.B) {
	none := func(int) string { return "" }
	own := func(n int) map[string]any { return user(fmt.Sprintf(ownerFormat, n)) }
	for _, c := range []changesBenchmark{
		{"one user", "(select auth.uid()) is not null", func(int) map[string]any { return user(alice) }, none, 500},
		{"500 users", "(select auth.uid()) is not null", own, none, 500},
		{"500 owners", "owner = (select auth.uid())", own, none, 1},
		{"500 members", "room in (select room from members where owner = (select auth.uid()))", own, none, 500},
		{"500 members of 100 rooms",
			"exists (select from members m where m.room = notes.room and m.owner = (select auth.uid()))",
			func(n int) map[string]any { return user(fmt.Sprintf(ownerFormat, 1000+n)) }, none, 5},
		{"500 users and filters", "(select auth.uid()) is not null", own,
			func(n int) string { return fmt.Sprintf("room=eq.%d", n) }, 1},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c) })
	}
}

const ownerFormat = "00000000-0000-4000-8000-%012d"

// changesBenchmark is a case of BenchmarkChanges.
type changesBenchmark struct {
	name, policy string
	claims       func(n int) map[string]any
	filter       func(n int) string
	receivers    int // of each change
}

func benchmark(b *testing.B, c changesBenchmark) {
	const subscribers, interval = 500, 5 * time.Millisecond
	d := testdb.New(b)
	d.Exec(`create table notes (id bigint primary key, room int, body text, owner uuid);
		alter table notes enable row level security;
		create table members (room int, owner uuid, primary key (owner, room));
		grant select on members to authenticated, service_role;
		insert into members select n, format('00000000-0000-4000-8000-%s', lpad(m::text, 12, '0'))::uuid
			from generate_series(0, 9) n, generate_series(0, 499) m;
		insert into members select m / 5, format('00000000-0000-4000-8000-%s', lpad((1000 + m)::text, 12, '0'))::uuid
			from generate_series(0, 499) m;
		analyze members;
		create policy members on notes for select to authenticated using (` + c.policy + `);
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
		sub := Subscriber{Role: "authenticated", Claims: c.claims(n),
			Bindings: []Binding{{Schema: "public", Table: "notes", Event: "INSERT", Filter: c.filter(n)}}}
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
		owner := fmt.Sprintf(ownerFormat, i%subscribers)
		if _, err := conn.Exec(ctx, `insert into notes values ($1, $2, 'body', $3)`, i, room(c, i), owner); err != nil {
			b.Fatal(err)
		}
		committed = append(committed, time.Now())
	}
	each := c.receivers
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		n := len(received)
		mu.Unlock()
		if n >= each*len(committed) {
			break
		}
		if time.Now().After(end) { // the machine is too slow for this rate
			b.ReportMetric(100*float64(n)/float64(each*len(committed)), "%delivered")
			return
		}
	}
	reportLatencies(b, received, committed, each)
}

// reportLatencies reports how long rows took, each of which has a number of receivers.
func reportLatencies(b *testing.B, received, committed []time.Time, each int) {
	var latencies []time.Duration
	for i, at := range received {
		latencies = append(latencies, at.Sub(committed[i/each]))
	}
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[len(latencies)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds())/1000, "p99-ms")
}

// room returns the room of the row i: members are in ten rooms, or five in each of 100. Filters
// name one of 500.
func room(c changesBenchmark, i int) int {
	switch {
	case c.filter(0) != "":
		return i % 500
	case c.receivers == 5:
		return i % 100
	}
	return i % 10
}
