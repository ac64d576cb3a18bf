// Command bench measures a built Daawo: its parts compared with their foundations, its pages in a
// browser, and the cost of each kind of visit.
//
// The ratios come from the packages' benchmarks, each of which compares within one run. The visits
// are an open load model: requests arrive at a fixed rate, even if earlier ones have no reply. A
// rate that is too high for the server thus shows as growing latency and not as a slower test.
// Besides latencies, it prints the CPU time of the server and of its Postgres and the bytes of the
// replies. docs/scale.md computes the capacity of a machine from them.
//
//	go run ./scripts/bench                              everything (half an hour)
//	go run ./scripts/bench -only rest,functions         the ratios of two parts
//	go run ./scripts/bench -only load -rate 200         the visits, at 200 arrivals per second
//	go run ./scripts/bench -only report,photo           two kinds of visits
//	go run ./scripts/bench -only visitors               a thousand visitors at the same time, for a minute
//	go run ./scripts/bench -only auth                   auth against SQL alone, against GOTRUE_URL if given, many logins
//	go run ./scripts/bench -only lighthouse             the pages
//	go run ./scripts/bench -only arrival                from a report to its row in the desk
//	go run ./scripts/bench -only sides                  each kind of API request, beside the real servers that are given
//	go run ./scripts/bench -only scale                  10 million rows and 100,000 users beside 10,000 and 100
//	go run ./scripts/bench -only starts                 first and warm starts
//	go run ./scripts/bench -only memory                 a minute of load on rest, auth and storage alone, their memory
//	go run ./scripts/bench -only sides,starts -old FILE the same in turns with an older program, and what has become worse
//
// The real servers are POSTGREST_URL (with DATABASE_URL, which the stack then uses, too),
// GOTRUE_URL, STORAGE_API_URL (with STORAGE_API_SERVICE_KEY, and STORAGE_API_DATABASE_URL for more
// than 20,000 objects), REALTIME_UPSTREAM_URL (with REALTIME_UPSTREAM_KEY) and META_UPSTREAM_URL
// (with DATABASE_URL). Without them the rows have no ratios. Each row says which processor bounds
// it: the server's, Postgres', or neither.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/scripts/server"
)

// choice holds the command line's options.
type choice struct {
	binary   string
	old      string // an older program, to compare with
	rate     float64
	length   time.Duration
	visitors int      // present at the same time
	objects  int      // in the bucket of the comparison
	rows     string   // part of the names of the rows of the comparison
	clients  []int    // of the rows of the comparison
	only     []string // empty means everything
}

func (c choice) wants(names ...string) bool {
	return len(c.only) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(c.only, n) })
}

func main() {
	c := choice{}
	flag.StringVar(&c.binary, "binary", "bin/daawo", "the built `FILE`")
	flag.StringVar(&c.old, "old", "", "the `FILE` of an older program, which -only sides and -only starts compare with")
	flag.Float64Var(&c.rate, "rate", 50, "arrivals per `SECOND`, all kinds together")
	flag.DurationVar(&c.length, "for", 20*time.Second, "how long each kind of visit is measured")
	flag.IntVar(&c.visitors, "visitors", 1000,
		"`NUMBER` of visitors that -only visitors has at the same time, three times as long as -for")
	flag.IntVar(&c.objects, "objects", 10_000, "`NUMBER` of objects in the bucket whose lists -only sides measures")
	flag.StringVar(&c.rows, "rows", "", "`TEXT` in the names of the rows that -only sides measures, and of the services of -only memory")
	clients := flag.String("clients", "1,8,32", "`NUMBERS` of clients with which -only sides measures a row")
	only := flag.String("only", "", "`NAMES`, separated by commas: "+strings.Join(names(), ", "))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.Join(c.choose(*only), c.count(*clients))
	if err == nil {
		err = c.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// names returns the valid values of -only.
func names() []string {
	all := []string{"lighthouse", "arrival", "sides", "starts", "scale", "memory", "auth", "load", "mixture", "visitors"}
	for _, s := range goSuites {
		all = append(all, s.name)
	}
	for _, k := range (&model{}).kinds() {
		all = append(all, k.name)
	}
	return all
}

func (c *choice) choose(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		if !slices.Contains(names(), name) {
			return fmt.Errorf("-only: unknown name %q (known: %s)", name, strings.Join(names(), ", "))
		}
		c.only = append(c.only, name)
	}
	return nil
}

func (c *choice) count(clients string) error {
	for text := range strings.SplitSeq(clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostClients {
			return fmt.Errorf("-clients: %q is no number from 1 to %d", text, mostClients)
		}
		c.clients = append(c.clients, n)
	}
	return nil
}

func (c choice) run(ctx context.Context) error {
	var figures []figure
	var failed []error
	for _, s := range goSuites {
		if !c.wants(s.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", s.name)
		found, err := s.run(ctx)
		figures, failed = append(figures, found...), append(failed, err)
	}
	err := c.stack(ctx)
	if c.wants("sides") {
		fmt.Println()
		failed = append(failed, c.sides(ctx))
	}
	if c.wants("starts") {
		fmt.Println()
		failed = append(failed, c.starts(ctx))
	}
	if c.wants("scale") {
		fmt.Println()
		failed = append(failed, c.scale(ctx))
	}
	if c.wants("memory") {
		fmt.Println()
		failed = append(failed, c.memory(ctx))
	}
	if len(figures) > 0 {
		fmt.Println()
		if missed := printFigures(figures); missed > 0 {
			failed = append(failed, fmt.Errorf("%d goals missed", missed))
		}
	}
	return errors.Join(append(failed, err)...)
}

// stack runs the measurements that need a running server.
func (c choice) stack(ctx context.Context) error {
	kinds := (&model{}).kinds()
	visits := []string{"load", "mixture"}
	for _, k := range kinds {
		visits = append(visits, k.name)
	}
	if !c.wants(append(visits, "visitors", "auth", "lighthouse", "arrival")...) {
		return nil
	}
	st, err := server.New(ctx, c.binary)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.wants("lighthouse") {
		if err := lighthouse(ctx, st.Get("API_URL")); err != nil {
			return err
		}
	}
	if c.wants("arrival") {
		if err := arrival(ctx, st); err != nil {
			return err
		}
	}
	if !c.wants(append(visits, "visitors", "auth")...) {
		return nil
	}
	m, err := newModel(ctx, st)
	if err != nil {
		return err
	}
	if c.wants(visits...) {
		if err := c.visits(ctx, m); err != nil {
			return err
		}
	}
	var crowd error
	if c.wants("visitors") {
		fmt.Println()
		crowd = c.crowd(ctx, m)
	}
	if c.wants("auth") {
		fmt.Println()
		return errors.Join(crowd, m.auth(ctx, c.length/4))
	}
	return crowd
}

// visits measures each kind alone and then the mixture of the site.
func (c choice) visits(ctx context.Context, m *model) error {
	// The server compresses the pages once after the start, which must not count as a visit's cost.
	if err := m.warm(ctx); err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\trate/s\tanswered\tfailed\tp50\tp99\tp99.9\tlongest\tserver CPU\tPostgres CPU\tbytes\tper core and second\t")
	for _, k := range m.kinds() {
		if c.wants("load", k.name) {
			print(table, m.measure(ctx, k.name, []kind{k}, c.rate*k.alone, c.length, nil))
		}
	}
	if c.wants("load", "mixture") {
		print(table, m.measure(ctx, "mixture", m.kinds(), c.rate, c.length, nil))
	}
	return table.Flush()
}

func print(table *tabwriter.Writer, r result) {
	perSecond := "–"
	if cpu := r.server + r.postgres; cpu > 0 {
		perSecond = fmt.Sprintf("%.0f", float64(time.Second)/float64(cpu))
	}
	fmt.Fprintf(table, "%s\t%.0f\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", r.name, r.rate, r.answered, r.failed,
		round(r.p50), round(r.p99), round(r.p999), round(r.longest), round(r.server), round(r.postgres), r.bytes,
		perSecond)
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
