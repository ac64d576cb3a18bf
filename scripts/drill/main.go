// Command drill breaks a running Daawo on purpose and checks that its promises hold: an acknowledged report is never
// lost, never doubled and never without its notification, and the server comes back by itself.
//
// It is a client like any other: it starts the built binary, talks to it over HTTP and reads the database as its
// administrator. Every drill keeps a history of what each request was told and compares it with the tables.
//
//	go run ./scripts/drill             all drills
//	go run ./scripts/drill -short kill one drill, its short form
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// drill is one experiment. run reports its figures in one line, and an error where a promise was broken.
type drill struct {
	name string
	what string
	run  func(ctx context.Context, s settings) (figures string, err error)

	special bool // needs root and packages: runs only when it is named
}

// settings are what the command line asks for.
type settings struct {
	binary string        // path of the built daawo
	short  bool          // a few rounds instead of all
	soak   time.Duration // how long the mixed load lasts
	fuzz   time.Duration // for each fuzz target
	kills  int           // rounds of the kill drill
	seed   int64         // of every random choice, printed so that a failure can be repeated
}

// rounds is n, or the short form of it.
func (s settings) rounds(n, short int) int {
	if s.short {
		return short
	}
	return n
}

func drills() []drill {
	return []drill{
		{name: "kill", what: "kill -9 of server, postgres or both under load", run: killDrill},
		{name: "retry", what: "the same key many times, also across a crash", run: retryDrill},
		{name: "outage", what: "the database stopped under load", run: outageDrill},
		{name: "pool", what: "every connection to the database held by somebody", run: poolDrill},
		{name: "backup", what: "everything destroyed, restored to a moment and to the newest state", run: backupDrill},
		{name: "disk", what: "a disk that fills up under load, and has room again", run: diskDrill},
		{name: "slow", what: "thousands of clients that send or read slowly", run: slowDrill},
		{name: "reload", what: "a function written, edited and broken under load with start --dev", run: reloadDrill},
		{name: "unruly", what: "functions that panic, loop, are flooded or left by their clients", run: unrulyDrill},
		{name: "access", what: "every table and view as every kind of caller, against the written list", run: accessDrill},
		{name: "attacks", what: "the table of attacks on the public port", run: attacksDrill},
		{name: "clock", what: "the clock jumps an hour and a year, both ways", run: clockDrill},
		{name: "upgrade", what: "migrations cut everywhere; data of an older release", run: upgradeDrill},
		{name: "logs", what: "the log searched for what people wrote, for keys and for tokens", run: logsDrill},
		{name: "fuzz", what: "every parser that faces the network, a minute each", run: fuzzDrill},
		{name: "soak", what: "mixed load for minutes: memory and errors", run: soakDrill},
		{name: "cluster", what: "the primary of a Patroni cluster killed and cut off (root, Debian's packages)", run: failoverDrill, special: true},
	}
}

func main() {
	s := settings{}
	flag.StringVar(&s.binary, "binary", "bin/daawo", "the built `FILE`")
	flag.BoolVar(&s.short, "short", false, "a few rounds only")
	flag.DurationVar(&s.soak, "soak", 10*time.Minute, "how long the mixed load lasts")
	flag.DurationVar(&s.fuzz, "fuzz", time.Minute, "for each fuzz target")
	flag.IntVar(&s.kills, "kills", 100, "rounds of the kill drill")
	flag.Int64Var(&s.seed, "seed", time.Now().UnixNano(), "seed of every random choice")
	flag.Usage = usage
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "drill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	fmt.Printf("seed %d\n", s.seed)
	var broken []error
	for _, d := range chosen {
		begun := time.Now()
		figures, err := d.run(ctx, s)
		verdict := "kept"
		if errors.Is(err, errNotRun) {
			verdict = err.Error()
		} else if err != nil {
			verdict = "BROKEN: " + err.Error()
			broken = append(broken, fmt.Errorf("%s: %w", d.name, err))
		}
		fmt.Printf("%-8s %s  (%s)  %s\n", d.name, figures, time.Since(begun).Round(time.Second), verdict)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(broken...)
}

// errNotRun is the verdict of a drill that this machine cannot run.
var errNotRun = errors.New("not run")

func choose(names []string) ([]drill, error) {
	var chosen []drill
	if len(names) == 0 {
		for _, d := range drills() {
			if !d.special {
				chosen = append(chosen, d)
			}
		}
		return chosen, nil
	}
next:
	for _, name := range names {
		for _, d := range drills() {
			if d.name == name {
				chosen = append(chosen, d)
				continue next
			}
		}
		return nil, fmt.Errorf("no drill is called %q", name)
	}
	return chosen, nil
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: drill [-short] [-seed N] [-binary FILE] [NAME …]")
	for _, d := range drills() {
		fmt.Fprintf(os.Stderr, "  %-8s %s\n", d.name, d.what)
	}
	flag.PrintDefaults()
}
