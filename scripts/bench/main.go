// Command bench plays the visitors of the site against a built Daawo and says what each kind of request costs.
//
// Requests arrive at a fixed rate whether or not earlier ones were answered, as visitors do; a rate that the server cannot
// keep shows as growing latency, not as a slower test. Beside the latencies it prints the processor time that the server
// and its Postgres spent per request, from which docs/scale.md computes what a machine can carry.
//
//	go run ./scripts/bench                  the site's mixture at 50 arrivals a second for 20 s
//	go run ./scripts/bench -rate 200 -only report
//	go run ./scripts/bench -only auth       auth against SQL alone, against GOTRUE_URL if given, and a storm of logins
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	"daawo/scripts/stack"
)

func main() {
	binary := flag.String("binary", "bin/daawo", "the built `FILE`")
	rate := flag.Float64("rate", 50, "arrivals per `SECOND` of all kinds together")
	length := flag.Duration("for", 20*time.Second, "how long each measurement lasts")
	only := flag.String("only", "", "measure one `KIND` only: page, list, download, report, photo, login, or auth")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *binary, *rate, *length, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary string, rate float64, length time.Duration, only string) error {
	st, err := stack.New(ctx, binary)
	if err != nil {
		return err
	}
	defer st.Close()
	if only == "" || only == "lighthouse" {
		if err := lighthouse(ctx, st.Get("API_URL")); err != nil || only != "" {
			return err
		}
	}
	m, err := newModel(ctx, st)
	if err != nil {
		return err
	}

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\trate/s\tanswered\tfailed\tp50\tp99\tCPU per request\tper core and second\t")
	kinds := m.kinds()
	for _, k := range kinds {
		if only != "" && only != k.name {
			continue
		}
		// Each kind alone, to learn its own cost …
		print(table, m.measure(ctx, k.name, []kind{k}, rate*k.alone, length))
	}
	if only == "" {
		// … then the mixture that the site sees.
		print(table, m.measure(ctx, "mixture", kinds, rate, length))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if only != "" && only != "auth" {
		return nil
	}
	fmt.Println()
	return m.auth(ctx, length/4)
}

func print(table *tabwriter.Writer, r result) {
	perSecond := "–"
	if r.cpu > 0 {
		perSecond = fmt.Sprintf("%.0f", float64(time.Second)/float64(r.cpu))
	}
	fmt.Fprintf(table, "%s\t%.0f\t%d\t%d\t%s\t%s\t%s\t%s\t\n", r.name, r.rate, r.answered, r.failed,
		round(r.p50), round(r.p99), round(r.cpu), perSecond)
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
