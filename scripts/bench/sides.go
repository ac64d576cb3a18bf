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
	"text/tabwriter"
	"time"

	"daawo/scripts/server"
)

// Turns of the comparison. Within a round the servers take short turns, so that other work on the
// machine affects both alike.
const (
	sideRounds = 3
	sideTurns  = 4 // of each server in a round
)

// side is a server that answers the requests of a row: the stack under test, or the real one.
type side struct {
	name string
	do   func(ctx context.Context, client, i int) error // one request
}

// row is a kind of request. theirs is nil if the URL of the real server is not given.
type row struct {
	name   string
	ours   side
	theirs *side
}

// turns are the measurements of one server.
type turns struct {
	rates []float64 // requests per second, by round
	took  []time.Duration
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
	var rows []row
	for _, part := range []struct {
		name string
		make func(context.Context) ([]row, error)
	}{{"REST", m.restRows}, {"auth", m.authRows}, {"storage", c.storageRows(m)}, {"Realtime", m.realtimeRows},
		{"meta", m.metaRows}} {
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
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "request\tclients\tserver\trate/s\tratio (median)\tspread\tp50\tp99\tp99.9\tlongest\tserver CPU\tPostgres CPU\tbound by\t")
	for _, r := range rows {
		if !strings.Contains(r.name, c.rows) {
			continue
		}
		for _, clients := range []int{1, 8, 32} {
			if err := m.compare(ctx, table, r, clients, c.length/20); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return table.Flush()
}

// compare measures one row with a number of clients and prints a line for each server.
func (m *model) compare(ctx context.Context, table *tabwriter.Writer, r row, clients int, turn time.Duration) error {
	list := []side{r.ours}
	if r.theirs != nil {
		list = append(list, *r.theirs)
	}
	for _, s := range list { // plans and caches
		if _, err := requests(ctx, s, clients, turn/4); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	found := make([]turns, len(list))
	var server, postgres, wall time.Duration
	for range sideRounds {
		done, length := make([]int, len(list)), make([]time.Duration, len(list))
		for range sideTurns {
			for i, s := range list {
				serverBefore, postgresBefore := m.processorTime()
				begun := time.Now()
				took, err := requests(ctx, s, clients, turn/sideTurns)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				spent := time.Since(begun)
				done[i], length[i] = done[i]+len(took), length[i]+spent
				found[i].took = append(found[i].took, took...)
				if i == 0 {
					serverAfter, postgresAfter := m.processorTime()
					server, postgres, wall = server+serverAfter-serverBefore, postgres+postgresAfter-postgresBefore,
						wall+spent
				}
			}
		}
		for i := range list {
			found[i].rates = append(found[i].rates, float64(done[i])/length[i].Seconds())
		}
	}
	printSides(table, r, clients, list, found, server, postgres, wall)
	return ctx.Err()
}

func printSides(table *tabwriter.Writer, r row, clients int, list []side, found []turns, server, postgres,
	wall time.Duration) {
	for i, s := range list {
		f := found[i]
		slices.Sort(f.took)
		at := func(share float64) time.Duration { return round(f.took[int(share*float64(len(f.took)-1))]) }
		ratio, spread, cpu := "", "", "\t\t"
		if i == 0 {
			n := time.Duration(len(f.took))
			cpu = fmt.Sprintf("%s\t%s\t%s", round(server/n), round(postgres/n), boundBy(server, postgres, wall))
			if len(list) > 1 {
				ratios := make([]float64, len(f.rates))
				for k := range ratios {
					ratios[k] = f.rates[k] / found[1].rates[k]
				}
				slices.Sort(ratios)
				ratio = fmt.Sprintf("%.2f", ratios[len(ratios)/2])
				spread = fmt.Sprintf("%.2f–%.2f", ratios[0], ratios[len(ratios)-1])
			}
		}
		slices.Sort(f.rates)
		fmt.Fprintf(table, "%s\t%d\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.name, clients, s.name,
			f.rates[len(f.rates)/2], ratio, spread, at(0.5), at(0.99), at(0.999), round(f.took[len(f.took)-1]), cpu)
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

// requests has clients send requests for a time and returns how long each took, as the client saw
// it.
func requests(ctx context.Context, s side, clients int, length time.Duration) ([]time.Duration, error) {
	var wait sync.WaitGroup
	took, errs := make([][]time.Duration, clients), make([]error, clients)
	end := time.Now().Add(length)
	for client := range clients {
		wait.Go(func() {
			for i := 0; i == 0 || time.Now().Before(end) && ctx.Err() == nil; i++ {
				begun := time.Now()
				if errs[client] = s.do(ctx, client, i); errs[client] != nil {
					return
				}
				took[client] = append(took[client], time.Since(begun))
			}
		})
	}
	wait.Wait()
	return slices.Concat(took...), errors.Join(append(errs, ctx.Err())...)
}
