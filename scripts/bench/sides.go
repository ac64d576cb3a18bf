package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"daawo/scripts/server"
)

// Turns of the comparison. Within a round the servers take short turns, so that other work on the
// machine affects both alike. Each figure is compared in each round, which shows its spread.
const (
	sideRounds = 5
	sideTurn   = 250 * time.Millisecond
)

// sidesHeader is the header of the table of printSides.
const sidesHeader = "request\tclients\tserver\trate/s\tratio (median)\tspread\tp50\tp99\tp99.9\tlongest\t" +
	"server CPU\tPostgres CPU\tbound by\t"

// side is a server that answers the requests of a row: the stack under test, an older program, or
// the real server.
type side struct {
	name string
	do   func(ctx context.Context, client, i int) error // one request
}

// row is a kind of request, with the servers that answer it. The first is the stack under test.
type row struct {
	name  string
	sides []side
	// load reports whether a request only loads the server, so that its time is not counted; nil
	// counts all
	load func(client, i int) bool
}

// turns are the measurements of one server, by round.
type turns struct {
	rates []float64         // requests per second
	took  [][]time.Duration // by the counted requests
}

// sides starts a stack and compares it with the real servers that the environment names, request by
// request.
func (c choice) sides(ctx context.Context) error {
	if os.Getenv("POSTGREST_URL") != "" && os.Getenv("DATABASE_URL") == "" {
		return errors.New("POSTGREST_URL also needs DATABASE_URL, the superuser URL of the database that both servers use")
	}
	st, err := server.New(ctx, c.binary, "SUPABASE_API_MAX_ROWS=100000", server.PublicChannels)
	if err != nil {
		return err
	}
	defer st.Close()
	m, err := newModel(ctx, st)
	if err != nil {
		return err
	}
	m.client.Transport = &direct{idle: map[string][]*directConn{}}
	m.stacks = []namedStack{{"ours", st}}
	if c.old != "" {
		old, err := server.New(ctx, c.old, "SUPABASE_API_MAX_ROWS=100000", server.PublicChannels)
		if err != nil {
			return fmt.Errorf("-old: %w", err)
		}
		defer old.Close()
		m.stacks = append(m.stacks, namedStack{"old", old})
	}
	var rows []row
	for _, part := range []struct {
		name string
		make func(context.Context) ([]row, error)
	}{{"REST", m.restRows}, {"auth", m.authRows}, {"storage", c.storageRows(m)}, {"Realtime", m.realtimeRows},
		{"meta", func(context.Context) ([]row, error) { return metaRows(m), nil }}} {
		if strings.Contains(c.rows, ": ") && !strings.HasPrefix(c.rows, part.name) {
			continue // "storage: list" needs no accounts
		}
		more, err := part.make(ctx)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if err := m.warm(ctx); err != nil {
		return err
	}
	worse, err := c.compareAll(ctx, m, rows)
	if err != nil || c.old == "" {
		return err
	}
	fmt.Printf("\nworse than %s by more than %.0f %% (the median of %d rounds, and the spread):\n", c.old,
		100*(tolerated-1), sideRounds)
	for _, line := range worse {
		fmt.Println(" ", line)
	}
	if len(worse) == 0 {
		fmt.Println("  nothing")
	}
	return nil
}

// compareAll measures the rows that -rows names. It returns what is worse than the older program's.
func (c choice) compareAll(ctx context.Context, m *model, rows []row) (worse []string, err error) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, sidesHeader)
	for _, r := range rows {
		if !strings.Contains(r.name, c.rows) {
			continue
		}
		for _, clients := range c.clients {
			found, err := m.compare(ctx, table, r, clients, c.sideTurns())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			if c.old != "" { // the second of each row
				worse = append(worse, found[0].worseThan(found[1], fmt.Sprintf("%s, %d clients", r.name, clients))...)
			}
		}
	}
	return worse, table.Flush()
}

// sideTurns returns the number of turns of each server in a round.
func (c choice) sideTurns() int { return max(1, int(c.length/20/sideTurn)) }

// compare measures one row with a number of clients, and prints a line for each server. Each
// server has a number of turns in a round.
func (m *model) compare(ctx context.Context, table *tabwriter.Writer, r row, clients, many int) ([]turns, error) {
	for i := range r.sides { // plans and caches
		if _, _, err := r.requests(ctx, i, clients, sideTurn); err != nil {
			return nil, fmt.Errorf("%s: %w", r.sides[i].name, err)
		}
	}
	found := make([]turns, len(r.sides))
	var used usage
	for range sideRounds {
		done, length := make([]int, len(r.sides)), make([]time.Duration, len(r.sides))
		took := make([][]time.Duration, len(r.sides))
		for turn := range many {
			for i := range r.sides {
				if turn%2 == 1 { // the first server of a turn has an advantage
					i = len(r.sides) - 1 - i
				}
				serverBefore, postgresBefore := m.processorTime()
				begun := time.Now()
				n, times, err := r.requests(ctx, i, clients, sideTurn)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.sides[i].name, err)
				}
				spent := time.Since(begun)
				done[i], length[i] = done[i]+n, length[i]+spent
				took[i] = append(took[i], times...)
				if i == 0 {
					serverAfter, postgresAfter := m.processorTime()
					used.add(n, serverAfter-serverBefore, postgresAfter-postgresBefore, spent)
				}
			}
		}
		for i := range r.sides {
			found[i].rates = append(found[i].rates, float64(done[i])/length[i].Seconds())
			slices.Sort(took[i])
			found[i].took = append(found[i].took, took[i])
		}
	}
	printSides(table, r, clients, found, used)
	return found, ctx.Err()
}

// usage is the processor time that the stack under test used.
type usage struct {
	requests               int
	server, postgres, wall time.Duration
}

func (u *usage) add(requests int, server, postgres, wall time.Duration) {
	u.requests += requests
	u.server, u.postgres, u.wall = u.server+server, u.postgres+postgres, u.wall+wall
}

// ratios are the ratios of one figure of two servers by round.
type ratios struct{ median, least, most float64 }

func newRatios(ours, theirs []float64) ratios {
	list := make([]float64, len(ours))
	for k := range list {
		list[k] = ours[k] / theirs[k]
	}
	slices.Sort(list)
	return ratios{list[len(list)/2], list[0], list[len(list)-1]}
}

func (r ratios) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", r.median, r.least, r.most) }

// percentile returns the time that a share of the counted requests of all rounds did not exceed.
func (t turns) percentile(share float64) time.Duration {
	return percentile(slices.Sorted(slices.Values(slices.Concat(t.took...))), share)
}

// percentiles returns the percentile of each round.
func (t turns) percentiles(share float64) []float64 {
	list := make([]float64, len(t.took))
	for k, took := range t.took {
		list[k] = float64(percentile(took, share))
	}
	return list
}

// tolerated is the factor up to which a figure counts as equal.
const tolerated = 1.05

// worseThan returns a line for each figure that is worse than the older program's. A figure whose
// spread includes 1 was not worse in each round.
func (t turns) worseThan(old turns, name string) (lines []string) {
	if r := newRatios(t.rates, old.rates); r.median < 1/tolerated {
		lines = append(lines, fmt.Sprintf("%s: rate %s", name, r))
	}
	for _, share := range []float64{0.5, 0.999} {
		if r := newRatios(t.percentiles(share), old.percentiles(share)); r.median > tolerated {
			lines = append(lines, fmt.Sprintf("%s: p%g %s, before %s: %s", name, 100*share,
				round(t.percentile(share)), round(old.percentile(share)), r))
		}
	}
	return lines
}

// printSides prints a line for each server. The ratios are the stack's rates as multiples of the
// line's server.
func printSides(table *tabwriter.Writer, r row, clients int, found []turns, used usage) {
	for i, s := range r.sides {
		f := found[i]
		ratio, cpu := "\t", "\t\t"
		if i == 0 {
			n := time.Duration(used.requests)
			cpu = fmt.Sprintf("%s\t%s\t%s", round(used.server/n), round(used.postgres/n),
				boundBy(used.server, used.postgres, used.wall))
		} else {
			of := newRatios(found[0].rates, f.rates)
			ratio = fmt.Sprintf("%.2f\t%.2f–%.2f", of.median, of.least, of.most)
		}
		rates := slices.Sorted(slices.Values(f.rates))
		fmt.Fprintf(table, "%s\t%d\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.name, clients, s.name,
			rates[len(rates)/2], ratio, round(f.percentile(0.5)), round(f.percentile(0.99)),
			round(f.percentile(0.999)), round(f.percentile(1)), cpu)
	}
}

// boundBy says what limits the rate. The client runs on the same cores, so the cores count as busy
// when the two servers take a third of them.
func boundBy(server, postgres, wall time.Duration) string {
	switch {
	case server+postgres == 0:
		return "unknown"
	case server+postgres < wall*time.Duration(runtime.NumCPU())/3:
		return "waiting (disk, locks, client)"
	case postgres > server:
		return "Postgres"
	}
	return "server"
}

// requests has clients send requests to a server for a time. It returns their number, and how long
// each counted one took, as the client saw it.
func (r row) requests(ctx context.Context, server, clients int, length time.Duration) (n int, took []time.Duration,
	err error) {
	var wait sync.WaitGroup
	var sent atomic.Int64
	times, errs := make([][]time.Duration, clients), make([]error, clients)
	end := time.Now().Add(length)
	for client := range clients {
		wait.Go(func() {
			for i := 0; i == 0 || time.Now().Before(end) && ctx.Err() == nil; i++ {
				begun := time.Now()
				if errs[client] = r.sides[server].do(ctx, client, i); errs[client] != nil {
					return
				}
				sent.Add(1)
				if r.load == nil || !r.load(client, i) {
					times[client] = append(times[client], time.Since(begun))
				}
			}
		})
	}
	wait.Wait()
	return int(sent.Load()), slices.Concat(times...), errors.Join(append(errs, ctx.Err())...)
}
