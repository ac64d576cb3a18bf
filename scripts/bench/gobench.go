package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// goSuite is a package whose benchmarks compare the product with its foundation in one run.
type goSuite struct {
	name, pkg string
	bench     string // pattern
	time      string // -benchtime
	goals     map[string]goal
}

// goal is the target of a figure. The ratio to an upstream exists only if its URL is given.
type goal struct {
	value   float64
	atMost  bool
	only    string // part of the names of its benchmarks; "" for all
	because string
}

var goSuites = []goSuite{
	{"rest", "./supabase/internal/engine/rest", "ListUnderRLS|RowByKey|MixedRoles|InsertMinimal|RPC|EmbedTwoLevels",
		"2s", map[string]goal{
			"of-bound":    {value: 0.75, only: "ListUnderRLS", because: "1/(1/SQL + 1/hello-world HTTP)"},
			"of-one-role": {value: 0.9, because: "one role alone"},
		}},
	{"auth-go", "./supabase/internal/engine/auth", "GetUser|Refresh|Login|SQL", "1s", nil},
	{"functions", "./supabase/internal/functions/...", "Overhead|Bundle|WarmCall|FirstCall", "2s", map[string]goal{
		"ms-proxy-overhead": {value: 1, atMost: true, because: "plain Deno, p50"},
		"µs-overhead":       {value: 10, atMost: true, because: "the bare handler"},
		"µs-child-overhead": {value: 100, atMost: true, because: "the same function in the host, p50"},
	}},
	{"product", "./supabase/acceptance", "SubmitReport|TrackDownload|FirstCall", "2s", map[string]goal{
		"ratio-rows": {value: 0.7, because: "the same durable insert alone: report, key and job"},
	}},
	{"desk", "./supabase/acceptance", "Desk", "20x", map[string]goal{
		"median-ms": {value: 200, atMost: true, because: "20,000 reports"},
	}},
	{"storage", "./supabase/internal/engine/storage", "Upload$|Download$", "2s", map[string]goal{
		"x-storage-api": {value: 2, only: "100KB", because: "storage-api, where its URL is given"},
	}},
	{"realtime", "./supabase/internal/engine/realtime", "IdleConnection|Broadcast$", "500x", map[string]goal{
		"B/conn": {value: 25_000, atMost: true, because: "10,000 idle connections with one channel each"},
		"p99-ms": {value: 50, atMost: true, because: "1,000 receivers, 50 messages a second"},
	}},
	{"changes", "./supabase/internal/engine/realtime/changes", "Changes", "1000x", map[string]goal{
		"p50-ms": {value: 10, atMost: true, because: "200 changes a second, 500 subscribers"},
		"p99-ms": {value: 50, atMost: true, because: "200 changes a second, 500 subscribers"},
	}},
}

// figure is one value of one benchmark.
type figure struct {
	suite, benchmark, unit string
	value                  float64
	goal                   *goal
}

func (f figure) met() string {
	switch {
	case f.goal == nil:
		return ""
	case f.value == f.goal.value, f.goal.atMost == (f.value < f.goal.value):
		return "met"
	}
	return "MISSED"
}

// run runs the benchmarks of a package and returns their figures. Failures are copied to standard
// error.
func (s goSuite) run(ctx context.Context) ([]figure, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", s.bench, "-benchtime", s.time, "-timeout",
		"10m", s.pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var figures []figure
	for lines := bufio.NewScanner(out); lines.Scan(); {
		found := s.parse(lines.Text())
		if found == nil && strings.HasPrefix(lines.Text(), "---") {
			fmt.Fprintln(os.Stderr, lines.Text())
		}
		figures = append(figures, found...)
	}
	if err := cmd.Wait(); err != nil {
		return figures, fmt.Errorf("%s: %w", s.name, err)
	}
	return figures, nil
}

var processors = regexp.MustCompile(`-[0-9]+$`)

// parse reads a line such as "BenchmarkX/clients=4-2  10  123 ns/op  0.91 of-bound" (package
// testing).
func (s goSuite) parse(line string) (figures []figure) {
	words := strings.Fields(line)
	if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
		return nil
	}
	name := processors.ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
	for i := 2; i+1 < len(words); i += 2 {
		value, err := strconv.ParseFloat(words[i], 64)
		if err != nil {
			return nil
		}
		f := figure{suite: s.name, benchmark: name, unit: words[i+1], value: value}
		if g, ok := s.goals[f.unit]; ok && strings.Contains(name, g.only) {
			f.goal = &g
		}
		figures = append(figures, f)
	}
	// Custom figures replace the framework's.
	own := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool {
		return slices.Contains([]string{"ns/op", "B/op", "allocs/op"}, f.unit)
	})
	if len(own) > 0 {
		return own
	}
	return figures
}

// printFigures prints one table of all figures and returns the number of missed goals.
func printFigures(figures []figure) (missed int) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "suite\tbenchmark\tfigure\t\tgoal\t\t")
	for _, f := range figures {
		text := ""
		if f.goal != nil {
			sign := "≥"
			if f.goal.atMost {
				sign = "≤"
			}
			text = fmt.Sprintf("%s %g (%s)", sign, f.goal.value, f.goal.because)
		}
		if f.met() == "MISSED" {
			missed++
		}
		fmt.Fprintf(table, "%s\t%s\t%.4g\t%s\t%s\t%s\t\n", f.suite, f.benchmark, f.value, f.unit, text, f.met())
	}
	_ = table.Flush() // to the terminal
	return missed
}
