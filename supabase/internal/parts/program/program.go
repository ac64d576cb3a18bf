// Package program runs a program of another publisher: from the first request for it until it is
// idle. The program serves HTTP on a free port of loopback.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// Options configure a Program.
type Options struct {
	Name string // in messages, such as Studio
	// Command returns the program with its environment. It is called at each start.
	Command func(ctx context.Context, port int) (*exec.Cmd, error)
	// Handler returns what answers the requests of a started program at HOST:PORT.
	Handler func(address string) http.Handler
	// Output receives what the program prints, and is closed after its end.
	Output func() (io.WriteCloser, error)
	Hint   string // where its output is, for the error of a failed start
	Ready  string // path that gets the status 200 when it is ready

	Idle        time.Duration // how long it runs without a request
	Memory      int64         // bytes of all its processes; 0 means no limit
	MemoryLimit string        // name of the setting with that limit
	Log         *slog.Logger
}

// Limits of a start.
const (
	startTimeout = 2 * time.Minute
	// how long a failed start is shown before the next request tries again
	failureShown = 3 * time.Second
)

// ErrClosed means that this program is stopping.
var ErrClosed = errors.New("the server is stopping")

// Program is a program that runs while there are requests for it.
type Program struct {
	o Options

	mu      sync.Mutex
	run     *Run          // that of the next request; nil while there is none
	runs    map[*Run]bool // those that have not ended
	failure error
	failed  time.Time
	closed  bool
	ended   sync.WaitGroup
}

// Run is one process of a program, from its start to its end.
type Run struct {
	Started chan struct{} // closed when it is ready or has failed
	Handler http.Handler  // read it after Started is closed; nil if it failed
	Failure error         // why it failed
	end     context.CancelFunc
	exited  chan struct{} // closed when its process has ended
	drained chan struct{} // closed when it is retired and has no requests

	// guarded by Program.mu
	process *process // nil before it exists
	active  int      // requests that are being answered
	used    time.Time
	retired bool // gets no further requests
}

// New returns a program that is not started.
func New(o Options) *Program { return &Program{o: o, runs: map[*Run]bool{}} }

// Acquire returns the running program, or starts it. Release must follow unless there is an error.
func (p *Program) Acquire() (*Run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if p.run == nil {
		if p.failure != nil && time.Since(p.failed) < failureShown {
			return nil, p.failure
		}
		p.begin()
	}
	p.run.active++
	p.run.used = time.Now()
	return p.run, nil
}

// Release ends a request.
func (p *Program) Release(r *Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.active--
	r.used = time.Now()
	if r.retired && r.active == 0 {
		close(r.drained)
	}
}

// Ended reports whether the process of a run has ended. It waits a moment: a request can learn of
// it first.
func (r *Run) Ended() bool {
	select {
	case <-r.exited:
		return true
	case <-time.After(time.Second):
		return false
	}
}

// Restart lets the next request run in a new process. Requests in flight end in the old one.
func (p *Program) Restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		p.retire(p.run)
	}
	p.failure = nil
}

// retire gives a process no further requests. The caller holds the lock.
func (p *Program) retire(r *Run) {
	r.retired = true
	if p.run == r {
		p.run = nil
	}
	if r.active == 0 {
		close(r.drained)
	}
}

// Running returns whether a process runs or starts.
func (p *Program) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run != nil
}

// Memory returns the resident bytes of its processes, 0 if they are unknown.
func (p *Program) Memory() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil || p.run.process == nil {
		return 0
	}
	return p.run.process.memory()
}

// begin starts the program in the background. The caller holds the lock.
func (p *Program) begin() {
	ctx, end := context.WithCancel(context.Background())
	current := &Run{
		Started: make(chan struct{}), end: end, exited: make(chan struct{}), drained: make(chan struct{}),
	}
	p.run, p.runs[current], p.failure = current, true, nil
	p.ended.Go(func() {
		defer end()
		began := time.Now()
		err := p.supervise(ctx, current)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.runs, current)
		if p.run == current {
			p.run = nil
		}
		if current.Handler == nil {
			if !current.retired {
				p.failure, p.failed = err, time.Now()
			}
			current.Failure = err
			close(current.Started)
		}
		close(current.exited)
		if err != nil {
			p.o.Log.Warn(p.o.Name+" ended", "error", err, "after", time.Since(began).Round(time.Second))
		}
	})
}

// supervise runs the program until ctx ends, it is idle, it needs too much memory or it ends by
// itself. It returns nil if it was ended on purpose.
func (p *Program) supervise(ctx context.Context, current *Run) error {
	proc, err := p.start(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ErrClosed
		}
		return err
	}
	defer proc.stop()
	p.mu.Lock()
	current.process = proc
	p.mu.Unlock()
	err = proc.awaitReady(ctx, p.o.Ready, p.o.Hint)
	switch {
	case ctx.Err() != nil:
		return ErrClosed
	case err != nil:
		return err
	}
	p.o.Log.Info(p.o.Name+" started", "duration", time.Since(proc.began).Round(10*time.Millisecond))
	current.Handler = p.o.Handler(proc.address)
	close(current.Started)
	tick := time.NewTicker(min(p.o.Idle/4, 5*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-current.drained:
			return nil
		case <-proc.exited:
			return fmt.Errorf("the program ended by itself: %w", proc.result())
		case <-tick.C:
		}
		p.retireIdle(current)
		if p.o.Memory <= 0 {
			continue
		}
		if used := proc.memory(); used > p.o.Memory {
			return fmt.Errorf("it used %d MB of memory, more than %s", used>>20, p.o.MemoryLimit)
		}
	}
}

// retireIdle retires a process that had no request for a while.
func (p *Program) retireIdle(current *Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !current.retired && current.active == 0 && time.Since(current.used) >= p.o.Idle {
		p.o.Log.Info(p.o.Name+" is idle", "duration", p.o.Idle)
		p.retire(current)
	}
}

// Close ends the program. Later requests are refused.
func (p *Program) Close() {
	p.mu.Lock()
	p.closed = true
	for r := range p.runs {
		r.end()
	}
	p.mu.Unlock()
	p.ended.Wait()
}
