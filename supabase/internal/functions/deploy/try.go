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
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/host"
)

// The memory of a version under trial must stop growing within so many observations of this length.
const (
	observation  = time.Second
	observations = 5
)

// try starts a version beside the current one and checks that it can take over: its functions in
// TypeScript start, its program replies, it has the same protocol, its functions are healthy, it
// knows the jobs that wait, and without calls it is idle. The error says why not.
func (d *Deployer) try(ctx context.Context, v Version, force bool) (next current, err error) {
	next = current{v, base{d.Base}, nil}
	if next.scripts, err = openScripts(d.TypeScript, d.store.file(v.ID), v); err != nil {
		return current{}, err
	}
	functions := d.Built()
	hasProgram := d.store.hasProgram(v.ID)
	if !hasProgram && next.scripts == nil {
		return current{}, errors.New("the bundle has no functions")
	}
	if hasProgram {
		b := d.prepare(v)
		if err := b.start(ctx); err != nil {
			return current{}, fmt.Errorf("the bundle does not start: %w", err)
		}
		next.server = b
		if err := d.check(ctx, b, force); err != nil {
			next.discard(d.TypeScript)
			return current{}, err
		}
		functions, next.Functions = b.inGo(), b.Functions
	} else if err := d.knowsWaiting(ctx, functions, force); err != nil {
		return current{}, err
	} else {
		next.Functions = nil
	}
	if next.scripts == nil {
		return next, nil
	}
	if err = onceEach(functions, next.scripts.List()); err == nil {
		err = d.TypeScript.Try(ctx, next.scripts)
	}
	if err != nil {
		next.discard(d.TypeScript)
		return current{}, err
	}
	next.Functions = slices.Concat(next.Functions, next.scripts.List())
	return next, nil
}

// onceEach returns an error if a function exists in both languages.
func onceEach(inGo, inTypeScript []host.FunctionInfo) error {
	for _, f := range inTypeScript {
		if slices.ContainsFunc(inGo, func(other host.FunctionInfo) bool { return other.Name == f.Name }) {
			return fmt.Errorf("function %q exists in Go and in TypeScript", f.Name)
		}
	}
	return nil
}

// inGo returns the functions in Go of a list.
func inGo(functions []host.FunctionInfo) []host.FunctionInfo {
	return slices.DeleteFunc(slices.Clone(functions), func(f host.FunctionInfo) bool { return f.Language != "" })
}

// openScripts returns the functions in TypeScript of a bundle, nil if it has none.
func openScripts(service *deno.Service, bundle string, v Version) (*deno.Version, error) {
	if service == nil {
		return nil, nil
	}
	return service.Open(bundle, v.ID, v.folder())
}

// folder returns the name of the folder for the version's functions in TypeScript. A restored data
// folder may have another bundle with the same id.
func (v Version) folder() string { return v.ID + "-" + v.SHA256[:12] }

// sweep removes the unpacked functions of versions that are no longer kept.
func sweep(service *deno.Service, kept []Version) error {
	if service == nil {
		return nil
	}
	var names []string
	for _, v := range kept {
		names = append(names, v.folder())
	}
	return service.Keep(names)
}

// discard ends a version that was never the current one.
func (v current) discard(service *deno.Service) {
	if b, ok := v.server.(*deployed); ok {
		b.discard()
	}
	if v.scripts != nil {
		service.Discard(v.scripts)
	}
}

// discard ends the process.
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
