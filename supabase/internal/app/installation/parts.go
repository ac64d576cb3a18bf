package installation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// DrainTimeout is how long a part may take to finish the work in flight when it closes.
const DrainTimeout = 10 * time.Second

// Installation is what a part of a stack needs: the choices, and the list of parts to which it adds
// itself.
type Installation struct {
	*Options
	*Parts
}

// New returns an installation without parts.
func New(o Options) Installation {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return Installation{&o, &Parts{log: o.Log, failed: make(chan error, 1)}}
}

// Parts are the running parts of a stack, the oldest first. One goroutine starts and closes them.
type Parts struct {
	log        *slog.Logger
	closers    []closer
	standDowns []func()
	failed     chan error // the first failure
}

// closer stops one part.
type closer struct {
	name string
	run  func(context.Context) error
}

// OnClose adds a function that stops a part.
func (p *Parts) OnClose(name string, run func(context.Context) error) {
	p.closers = append(p.closers, closer{name, run})
}

// Background runs a part until the parts are closed: run returns when its context ends.
func (p *Parts) Background(name string, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	p.OnClose(name, func(context.Context) error { cancel(); <-done; return nil })
}

// OnStandDown adds a function that is called when another process serves.
func (p *Parts) OnStandDown(f func()) { p.standDowns = append(p.standDowns, f) }

// StandDown lets the next process accept all connections.
func (p *Parts) StandDown() {
	for _, f := range p.standDowns {
		f()
	}
	p.standDowns = nil
}

// Fail reports that a part that should run until Close has stopped.
func (p *Parts) Fail(err error) {
	select {
	case p.failed <- err:
	default: // the first failure ends the stack
	}
}

// Failed receives the first failure of a part.
func (p *Parts) Failed() <-chan error { return p.failed }

// Running returns the number of parts to close.
func (p *Parts) Running() int { return len(p.closers) }

// CloseAll stops all parts, the newest first. It returns the errors of all parts.
func (p *Parts) CloseAll(ctx context.Context) error { return p.CloseTo(ctx, 0) }

// CloseTo stops all parts except the n oldest.
func (p *Parts) CloseTo(ctx context.Context, n int) error {
	var errs []error
	for len(p.closers) > n {
		last := p.closers[len(p.closers)-1]
		p.closers[len(p.closers)-1] = closer{} // so that its memory becomes free
		p.closers = p.closers[:len(p.closers)-1]
		began := time.Now()
		err := last.run(ctx)
		p.log.Debug("part stopped", "part", last.name, "duration", time.Since(began))
		if err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", last.name, err))
		}
	}
	return errors.Join(errs...)
}
