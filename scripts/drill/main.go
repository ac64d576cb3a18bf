// Command drill breaks a running Daawo on purpose and checks its guarantees: an acknowledged report
// is never lost, never doubled and always has its notification job, and the server recovers by
// itself.
//
// It starts the built binary, talks to it over HTTP like any client, and reads the database as its
// administrator. Every drill records the reply to each request and compares the record with the
// tables.
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

// drill is one experiment. run returns its figures in one line, and an error if a guarantee was
// broken.
type drill struct {
	name string
	what string
	run  func(ctx context.Context, s settings) (figures string, err error)

	special bool // needs root and packages: runs only if it is named
}

// settings are the command line's options.
type settings struct {
	binary string        // path of the built daawo
	short  bool          // fewer rounds
	soak   time.Duration // how long the mixed load lasts
	kills  int           // rounds of the kill drill
	seed   int64         // for all random choices; printed to reproduce failures
}

// rounds returns n, or short for the short form.
func (s settings) rounds(n, short int) int {
	if s.short {
		return short
	}
	return n
}

func drills() []drill {
	return []drill{
		{name: "kill", what: "kill -9 of server, postgres or both under load", run: killDrill},
		{name: "powercut", what: "the power of the disk cut under load: what was not synced is gone", run: powercutDrill},
		{name: "retry", what: "the same key many times, also across a crash", run: retryDrill},
		{name: "outage", what: "the database stopped under load", run: outageDrill},
		{name: "pool", what: "all database connections in use", run: poolDrill},
		{name: "realtime", what: "kill -9 of server, postgres or both while subscribers listen", run: realtimeDrill},
		{name: "replicas", what: "one of two Realtime servers, their NATS and their replication killed or cut off",
			run: replicasDrill},
		{name: "backup", what: "everything destroyed, then restored to a moment and to the newest state",
			run: backupDrill},
		{name: "restore-any-moment", what: "photos replaced and deleted, then restores to random moments",
			run: restoreAnyMomentDrill},
		{name: "stranger", what: "what the public key and one home line can learn or deny", run: strangerDrill},
		{name: "mailbomb", what: "sign-in links to one address, once a second from many networks", run: mailbombDrill},
		{name: "disk", what: "a disk that fills up under load and is freed again", run: diskDrill},
		{name: "slow", what: "thousands of clients that send or read slowly", run: slowDrill},
		{name: "reload", what: "a function written, edited and broken under load with start --dev", run: reloadDrill},
		{name: "deploy", what: "functions deployed and rolled back under load, with streams and jobs in flight",
			run: deployDrill},
		{name: "jail", what: "a deployed function that tries what only the server may", run: jailDrill},
		{name: "unruly", what: "functions that panic, loop, are flooded or whose clients disconnect", run: unrulyDrill},
		{name: "typescript", what: "functions in TypeScript whose processes are killed during calls",
			run: typeScriptDrill},
		{name: "upgrade", what: "the program replaced 20 times under load, by good and by broken ones",
			run: upgradeDrill},
		{name: "privacy", what: "photos of many generators searched for planted positions: bucket, log, backup",
			run: privacyDrill},
		{name: "town", what: "500 clients behind one address for five minutes, half of them hostile", run: townDrill},
		{name: "memory", what: "40 forms with photos at once in a container of 300 MB", run: memoryDrill},
		{name: "logs", what: "the log searched for user data, keys and tokens", run: logsDrill},
		{name: "soak", what: "mixed load for minutes; memory and errors", run: soakDrill},
		{name: "cluster", what: "the primary of a Patroni cluster killed and disconnected (needs root and Debian's packages)",
			run: failoverDrill, special: true},
	}
}

func main() {
	s := settings{}
	flag.StringVar(&s.binary, "binary", "bin/daawo", "the built `FILE`")
	flag.BoolVar(&s.short, "short", false, "fewer rounds")
	flag.DurationVar(&s.soak, "soak", 10*time.Minute, "how long the mixed load lasts")
	flag.IntVar(&s.kills, "kills", 100, "rounds of the kill drill")
	flag.Int64Var(&s.seed, "seed", time.Now().UnixNano(), "seed of all random choices")
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

// errNotRun is the result of a drill that this machine cannot run.
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
		return nil, fmt.Errorf("unknown drill %q: run with -h for the list", name)
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
