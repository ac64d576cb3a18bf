package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A version under trial must calm down within so many observations of this length.
const (
	observation  = time.Second
	observations = 5
	calm         = observation / 2 // longest busy time of an idle process within an observation
)

// try starts a version beside the current one and checks that it can take over: it replies, it has
// the same protocol, its functions are healthy, it knows the jobs that wait, and without calls it
// is idle. The error says why not.
func (d *Deployer) try(ctx context.Context, v Version, force bool) (*deployed, error) {
	b := d.prepare(v)
	if err := b.start(ctx); err != nil {
		return nil, fmt.Errorf("the bundle does not start: %w", err)
	}
	if err := d.check(ctx, b, force); err != nil {
		b.discard()
		return nil, err
	}
	return b, nil
}

// discard ends a version that was never the current one.
func (b *deployed) discard() {
	b.stop()
	if p := b.running(); p != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // it has no calls
		p.retire(ctx)
	}
}

func (d *Deployer) check(ctx context.Context, b *deployed, force bool) error {
	p := b.running()
	asking, cancel := context.WithTimeout(ctx, healthTimeout+observation)
	defer cancel()
	if len(p.Functions) == 0 {
		return errors.New("the bundle has no functions")
	}
	b.Functions = p.Functions
	if err := p.ask(asking, "/_internal/check", &struct{}{}); err != nil {
		return fmt.Errorf("the bundle fails its health check: %w", err)
	}
	if err := d.knowsWaiting(ctx, b.Functions, force); err != nil {
		return err
	}
	return b.settle(ctx, p)
}

// knowsWaiting returns an error if jobs wait that no function would run.
func (d *Deployer) knowsWaiting(ctx context.Context, functions []FunctionInfo, force bool) error {
	if d.Waiting == nil || force {
		return nil
	}
	waiting, err := d.Waiting(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the jobs that wait: %w", err)
	}
	for _, f := range functions {
		for _, job := range f.Jobs {
			delete(waiting, f.Name+"/"+job)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		lost = append(lost, fmt.Sprintf("%s (%d)", name, waiting[name]))
	}
	return fmt.Errorf("the version lacks jobs that wait: %s; wait for them, cancel them, or use --force",
		strings.Join(lost, ", "))
}

var errEnded = errors.New("the bundle ended by itself")

// settle returns when the process has been idle for one observation. A process that computes or
// whose memory grows all the time is refused.
func (b *deployed) settle(ctx context.Context, p *process) error {
	var busy string
	for range observations {
		before, known := usageOf(p.cmd.Process.Pid)
		select {
		case <-p.exited:
			return errEnded
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(observation):
		}
		after, running := usageOf(p.cmd.Process.Pid)
		switch grown := after.memory - before.memory; {
		case !known && !running: // the usage is not known here
			return nil
		case !running:
			return errEnded // exited is closed later
		case grown > b.memory/32:
			busy = fmt.Sprintf("its memory grows without calls, to %d bytes", after.memory)
		case after.busy-before.busy > calm:
			busy = "it computes without calls"
		default:
			return nil
		}
	}
	return fmt.Errorf("the bundle is not idle: %s", busy)
}
