package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/host"
)

// The memory of a version under trial must stop growing within so many observations of this length.
const (
	observation  = time.Second
	observations = 5
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
		p.Retire(ctx)
	}
}

func (d *Deployer) check(ctx context.Context, b *deployed, force bool) error {
	p := b.running()
	asking, cancel := context.WithTimeout(ctx, host.HealthTimeout+observation)
	defer cancel()
	if len(p.Functions) == 0 {
		return errors.New("the bundle has no functions")
	}
	b.Functions = p.Functions
	if err := p.CheckHealth(asking); err != nil {
		return fmt.Errorf("the bundle fails its health check: %w", err)
	}
	if err := d.knowsWaiting(ctx, b.Functions, force); err != nil {
		return err
	}
	return b.settle(ctx, p)
}

// knowsWaiting returns an error if jobs wait that no function would run.
func (d *Deployer) knowsWaiting(ctx context.Context, functions []host.FunctionInfo, force bool) error {
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

// settle returns when the memory of the process has not grown for one observation. A process whose
// memory grows all the time, without calls, is refused.
func (b *deployed) settle(ctx context.Context, p *child.Process) error {
	var after int64
	for range observations {
		before, known := p.MemoryUse()
		select {
		case <-p.Exited():
			return errEnded
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(observation):
		}
		var running bool
		after, running = p.MemoryUse()
		switch {
		case !known && !running: // the use is not known here
			return nil
		case !running:
			return errEnded // Exited is closed later
		case after-before <= b.memory/32:
			return nil
		}
	}
	return fmt.Errorf("the memory of the bundle grows without calls, to %d bytes", after)
}
